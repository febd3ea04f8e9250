// Compares two operations: their security, their parameters, their bodies and their responses.

import { isObject, type Json } from '../../src/contract/document.ts';
import { compareContent } from './compare-content.ts';
import { compareParameters } from './compare-parameters.ts';
import { compareResponses } from './compare-responses.ts';
import { compareSecurity } from './compare-security.ts';
import {
  type Comparison,
  compareDeprecation,
  compareFields,
  compareRequirement,
  type FieldRules,
  type Pair,
  resolvePair,
} from './comparison.ts';
import { listOf, objectOf } from './json.ts';
import { atPart, spotOf } from './place.ts';
import type { Direction } from './rules.ts';

/** An operation, with the parameters of its path and the document's default security. */
export type Operation = { readonly node: Json; readonly parameters: readonly unknown[]; readonly security: unknown };

/** The directions of its request and its response. For a webhook they are reversed: the client responds. */
export type Travel = { readonly sent: Direction; readonly returned: Direction };

const WORDS = 'words changed';
const OPERATION: FieldRules = {
  summary: WORDS,
  description: WORDS,
  externalDocs: WORDS,
  tags: WORDS,
  operationId: null,
  deprecated: null,
  parameters: null,
  requestBody: null,
  responses: null,
  security: null,
};
const BODY: FieldRules = { description: WORDS, required: null, content: null };

export function operationOf(document: Json, item: Json, method: string): Operation | null {
  const node = item[method];
  if (!isObject(node)) return null;
  const parameters = [...listOf(item['parameters']), ...listOf(node['parameters'])];
  return { node, parameters, security: node['security'] ?? document['security'] };
}

export function compareOperation(
  comparison: Comparison,
  { name, before, after, travel }: { name: string; before: Operation; after: Operation; travel: Travel },
): void {
  const pair = { spot: spotOf(name), direction: travel.sent, before: before.node, after: after.node };
  compareFields(comparison, pair, OPERATION);
  compareDeprecation(comparison, pair);
  compareOperationId(comparison, pair);
  compareSecurity(comparison, { ...pair, before: before.security, after: after.security });
  compareParameters(comparison, { ...pair, before: before.parameters, after: after.parameters });
  compareRequestBody(comparison, {
    ...pair,
    spot: atPart(pair.spot, 'body'),
    before: before.node['requestBody'],
    after: after.node['requestBody'],
  });
  compareResponses(comparison, {
    ...pair,
    direction: travel.returned,
    before: objectOf(before.node['responses']),
    after: objectOf(after.node['responses']),
  });
}

export function compareRequestBody(comparison: Comparison, written: Pair<unknown>): void {
  const { report } = comparison;
  const { spot, direction } = written;
  if (written.before === undefined && written.after === undefined) return;
  const pair = resolvePair(comparison, written);
  if (written.after === undefined) report('body removed', spot, direction);
  else if (written.before === undefined)
    report(pair.after['required'] === true ? 'required body added' : 'body added', spot, direction);
  else {
    compareFields(comparison, pair, BODY);
    compareRequirement(comparison, pair);
    compareContent(comparison, pair);
  }
}

function compareOperationId({ report }: Comparison, { spot, direction, ...pair }: Pair<Json>): void {
  const [before, after] = [pair.before['operationId'], pair.after['operationId']];
  if (before === after) return;
  report(before === undefined ? 'operationId added' : 'operationId changed', spot, direction, { before, after });
}
