// Compares parameters, and headers, which have the same form.

import type { Json } from '../../src/contract/document.ts';
import { compareContent, compareHeldSchema } from './compare-content.ts';
import {
  type Comparison,
  compareDeprecation,
  compareFields,
  compareRequirement,
  type FieldRules,
  type Pair,
  resolvePair,
} from './comparison.ts';
import { atPart } from './place.ts';
import type { Resolve } from './resolve.ts';

const WORDS = 'words changed';
const PARAMETER: FieldRules = {
  name: null,
  in: null,
  description: WORDS,
  example: WORDS,
  examples: WORDS,
  required: null,
  deprecated: null,
  schema: null,
  content: null,
  style: 'serialization changed',
  explode: 'serialization changed',
  allowReserved: 'serialization changed',
  allowEmptyValue: 'serialization changed',
};

type Parameter = { readonly written: unknown; readonly node: Json };
type Parameters = ReadonlyMap<string, Parameter>;

/** Parameters match by location and name. If only the name matches, the parameter has moved. */
export function compareParameters(comparison: Comparison, pair: Pair<readonly unknown[]>): void {
  const { report } = comparison;
  const olds = parametersOf(pair.before, comparison.before);
  const news = parametersOf(pair.after, comparison.after);
  const spotOf = ({ node }: Parameter) => atPart(pair.spot, `parameter ${node['name']}`);

  for (const [key, old] of olds) {
    const same = news.get(key) ?? namesake(old, news, olds);
    if (same !== null)
      compareParameter(comparison, { ...pair, spot: spotOf(old), before: old.written, after: same.written });
    else report('parameter removed', spotOf(old), pair.direction, { wasDeprecated: old.node['deprecated'] === true });
  }
  for (const [key, added] of news) {
    if (olds.has(key) || namesake(added, olds, news) !== null) continue;
    const isRequired = added.node['required'] === true;
    report(isRequired ? 'required parameter added' : 'parameter added', spotOf(added), pair.direction);
  }
}

/** A parameter, or a header of a response. */
export function compareParameter(comparison: Comparison, written: Pair<unknown>): void {
  const pair = resolvePair(comparison, written);
  const { spot, direction } = pair;
  const [was, is] = [pair.before['in'], pair.after['in']];
  if (was !== is) comparison.report('parameter moved', spot, direction, { before: was, after: is });
  const [before, after] = [withDefaults(pair.before, was), withDefaults(pair.after, was)];
  compareFields(comparison, { ...pair, before, after }, PARAMETER);
  compareRequirement(comparison, pair);
  compareDeprecation(comparison, pair);
  compareContent(comparison, pair);
  compareHeldSchema(comparison, pair);
}

/** A later parameter overrides an earlier one: the operation's that of the path (OpenAPI 3.1 section 4.8.10). */
function parametersOf(list: readonly unknown[], resolve: Resolve): Parameters {
  return new Map(
    list.map((written) => {
      const { node } = resolve(written);
      return [`${node['in']} ${node['name']}`, { written, node }];
    }),
  );
}

/** The parameter of that name that only the other document has. */
function namesake({ node }: Parameter, candidates: Parameters, others: Parameters): Parameter | null {
  const found = [...candidates].find(([key, candidate]) => candidate.node['name'] === node['name'] && !others.has(key));
  return found?.[1] ?? null;
}

/** Fills in OpenAPI's defaults, so that writing a default down is no change. */
function withDefaults(parameter: Json, place: unknown): Json {
  const style = place === 'query' || place === 'cookie' ? 'form' : 'simple';
  const filled = { style, allowReserved: false, allowEmptyValue: false, ...parameter };
  return { explode: filled.style === 'form', ...filled };
}
