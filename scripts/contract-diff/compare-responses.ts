// Compares the responses of an operation.

import type { Json } from '../../src/contract/document.ts';
import { compareContent, compareHeldSchema } from './compare-content.ts';
import { compareParameter } from './compare-parameters.ts';
import { type Comparison, compareFields, type FieldRules, type Pair, resolvePair } from './comparison.ts';
import { hasOwn, namesOf, objectOf } from './json.ts';
import { atPart } from './place.ts';
import type { RuleName } from './rules.ts';

const RESPONSE: FieldRules = { summary: 'words changed', description: 'words changed', headers: null, content: null };

export function compareResponses(comparison: Comparison, { spot, direction, before, after }: Pair<Json>): void {
  for (const status of namesOf(before, after)) {
    const within = atPart(spot, `response ${status}`);
    if (!hasOwn(after, status)) comparison.report('status removed', within, direction);
    else if (!hasOwn(before, status)) comparison.report(newStatusRule(status), within, direction);
    else compareResponse(comparison, { direction, spot: within, before: before[status], after: after[status] });
  }
}

export function compareResponse(comparison: Comparison, written: Pair<unknown>): void {
  const pair = resolvePair(comparison, written);
  compareFields(comparison, pair, RESPONSE);
  compareHeaders(comparison, {
    ...pair,
    before: objectOf(pair.before['headers']),
    after: objectOf(pair.after['headers']),
  });
  compareContent(comparison, pair);
}

/** Clients that send If-None-Match expect a 304, and every client must handle unknown errors. */
function newStatusRule(status: string): RuleName {
  return /^([45]|304$)/.test(status) ? 'status added' : 'success added';
}

function compareHeaders(comparison: Comparison, { spot, direction, before, after }: Pair<Json>): void {
  for (const name of namesOf(before, after)) {
    const within = atPart(spot, `header ${name}`);
    if (!hasOwn(before, name)) comparison.report('header added', within, direction);
    else if (hasOwn(after, name)) {
      const compare = name === 'Accept-Patch' ? compareAcceptedTypes : compareParameter;
      compare(comparison, { direction, spot: within, before: before[name], after: after[name] });
    } else {
      const wasDeprecated = comparison.before(before[name]).node['deprecated'] === true;
      comparison.report('header removed', within, direction, { wasDeprecated });
    }
  }
}

/**
 * A header that lists the media types of requests: a longer list accepts more, which the contract announces, and a shorter
 * one refuses what was accepted.
 */
function compareAcceptedTypes(comparison: Comparison, written: Pair<unknown>): void {
  const pair = resolvePair(comparison, written);
  const { before, after } = pair;
  compareParameter(comparison, { ...pair, after: { ...after, schema: before['schema'] } });
  compareHeldSchema(comparison, { ...pair, direction: 'request', before: listed(before), after: listed(after) });
}

function listed({ schema }: Json): Json {
  const { const: list, ...others } = objectOf(schema);
  return { schema: typeof list === 'string' ? { ...others, enum: list.split(', ') } : schema };
}
