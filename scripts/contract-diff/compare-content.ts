// Compares the content of bodies: media types, schemas and examples.

import type { Json } from '../../src/contract/document.ts';
import { compareSchema } from './compare-schema.ts';
import { type Comparison, compareFields, type FieldRules, type Pair, resolvePair } from './comparison.ts';
import { hasOwn, namesOf, objectOf } from './json.ts';
import { atPart } from './place.ts';

const WORDS = 'words changed';
const MEDIA_TYPE: FieldRules = { schema: null, examples: null, example: WORDS, encoding: 'serialization changed' };
const EXAMPLE: FieldRules = { summary: WORDS, description: WORDS, value: WORDS, externalValue: WORDS };

/** Compares the `content` of a body by media type. Places do not name application/json, the only one of this API. */
export function compareContent(comparison: Comparison, holder: Pair<Json>): void {
  const { spot, direction } = holder;
  const [before, after] = [objectOf(holder.before['content']), objectOf(holder.after['content'])];
  for (const name of namesOf(before, after)) {
    if (!hasOwn(before, name)) comparison.report('media type added', spot, direction, { name });
    else if (!hasOwn(after, name)) comparison.report('media type removed', spot, direction, { name });
    else {
      const inner = name === 'application/json' ? spot : atPart(spot, name);
      compareMediaType(comparison, {
        direction,
        spot: inner,
        before: objectOf(before[name]),
        after: objectOf(after[name]),
      });
    }
  }
}

/** Compares the `schema` members; a missing one allows everything. */
export function compareHeldSchema(comparison: Comparison, { before, after, ...rest }: Pair<Json>): void {
  compareSchema(comparison, { ...rest, before: before['schema'] ?? true, after: after['schema'] ?? true });
}

function compareMediaType(comparison: Comparison, pair: Pair<Json>): void {
  compareFields(comparison, pair, MEDIA_TYPE);
  compareExamples(comparison, {
    ...pair,
    before: objectOf(pair.before['examples']),
    after: objectOf(pair.after['examples']),
  });
  compareHeldSchema(comparison, pair);
}

function compareExamples(comparison: Comparison, { spot, direction, before, after }: Pair<Json>): void {
  for (const name of namesOf(before, after)) {
    if (!hasOwn(before, name)) comparison.report('example added', spot, direction, { name });
    else if (!hasOwn(after, name)) comparison.report('example removed', spot, direction, { name });
    else {
      const pair = { direction, spot: atPart(spot, `example ${name}`), before: before[name], after: after[name] };
      compareFields(comparison, resolvePair(comparison, pair), EXAMPLE);
    }
  }
}
