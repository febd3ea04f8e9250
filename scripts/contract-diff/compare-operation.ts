// Compares two operations: security, parameters, bodies and responses.
import { isObject, type Json } from '../../src/contract/document.ts';
import { compareSchema } from './compare-schema.ts';
import {
  atPart,
  type Comparison,
  compareDeprecation,
  compareFields,
  compareRequirement,
  type FieldRules,
  inside,
  type Pair,
  type Resolve,
  resolvePair,
  spotOf,
} from './comparison.ts';
import { canonical, hasOwn, isSame, listOf, namesOf, objectOf } from './json.ts';
import type { Direction, RuleName } from './rules.ts';

/**
 * An operation with what it inherits: `parameters` begins with those of the path, and `security` is by default that of the
 * document.
 */
type Operation = { readonly node: Json; readonly parameters: readonly unknown[]; readonly security: unknown };

/** The directions of the request and the response. For a webhook they are reversed, because the client sends the response. */
export type Travel = { readonly sent: Direction; readonly returned: Direction };

const OPERATION: FieldRules = {
  'words changed': 'summary description externalDocs tags',
  elsewhere: 'operationId deprecated parameters requestBody responses security',
};
const BODY: FieldRules = { 'words changed': 'description', elsewhere: 'required content' };

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
  compareResponses(comparison, { ...inside(pair, 'responses'), direction: travel.returned });
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

/** One way to be authorized: the security schemes that are required together, and the permissions that they need. */
type Way = { readonly schemes: string; readonly permissions: string };

function compareSecurity({ report }: Comparison, { spot, direction, before, after }: Pair<unknown>): void {
  const [olds, news] = [waysOf(before), waysOf(after)];
  const [wasOpen, isOpen] = [isOpenTo(olds), isOpenTo(news)];
  if (wasOpen !== isOpen) {
    report(isOpen ? 'security removed' : 'security added', spot, direction);
    return;
  }

  const removed = olds.filter((way) => !has(news, way));
  const added = news.filter((way) => !has(olds, way));
  const changed = removed.flatMap((way) => {
    const successor = added.find(({ schemes }) => schemes === way.schemes);
    return successor === undefined ? [] : [{ way, successor }];
  });
  for (const { way, successor } of changed)
    report('permission changed', spot, direction, { before: way.permissions, after: successor.permissions });
  for (const way of removed.filter((one) => changed.every((pair) => pair.way !== one)))
    report('security way removed', spot, direction, { name: way.schemes });
  for (const way of added.filter((one) => changed.every((pair) => pair.successor !== one)))
    report('security way added', spot, direction, { name: way.schemes });
}

/** Returns the alternatives in a list of security requirements (OpenAPI 3.1, section 4.8.30). An empty list requires nothing. */
function waysOf(security: unknown): readonly Way[] {
  const requirements = listOf(security).map(objectOf);
  return (requirements.length === 0 ? [{}] : requirements).map((requirement) => {
    const schemes = namesOf(requirement);
    const permissions = schemes.flatMap((scheme) => listOf(requirement[scheme]).map(String).sort());
    return { schemes: schemes.join(' and '), permissions: permissions.join(' and ') || 'no permission' };
  });
}

function isOpenTo(ways: readonly Way[]): boolean {
  return ways.some(({ schemes }) => schemes === '');
}

function has(ways: readonly Way[], way: Way): boolean {
  return ways.some((other) => canonical(other) === canonical(way));
}

const PARAMETER: FieldRules = {
  'words changed': 'description example examples',
  'serialization changed': 'style explode allowReserved allowEmptyValue',
  elsewhere: 'name in required deprecated schema content',
};

type Parameter = { readonly written: unknown; readonly node: Json };
type Parameters = ReadonlyMap<string, Parameter>;

/** Compares parameters with the same location and name. If a parameter with the same name has another location, it has moved. */
function compareParameters(comparison: Comparison, pair: Pair<readonly unknown[]>): void {
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

/** Compares a parameter or a header of a response. */
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

/**
 * Returns the parameters by location and name. If a location and name occur twice, the later parameter counts: an operation's
 * parameters override those of the path (OpenAPI 3.1, section 4.8.10).
 */
function parametersOf(list: readonly unknown[], resolve: Resolve): Parameters {
  return new Map(
    list.map((written) => {
      const { node } = resolve(written);
      return [`${node['in']} ${node['name']}`, { written, node }];
    }),
  );
}

/**
 * Returns the candidate that has the same name but another location, and whose key is not in `others`; `null` if there is none.
 */
function namesake({ node }: Parameter, candidates: Parameters, others: Parameters): Parameter | null {
  const found = [...candidates].find(([key, candidate]) => candidate.node['name'] === node['name'] && !others.has(key));
  return found?.[1] ?? null;
}

/** Adds OpenAPI's default values, so that writing out a default is not a change. */
function withDefaults(parameter: Json, place: unknown): Json {
  const style = place === 'query' || place === 'cookie' ? 'form' : 'simple';
  const filled = { style, allowReserved: false, allowEmptyValue: false, ...parameter };
  return { explode: filled.style === 'form', ...filled };
}

const RESPONSE: FieldRules = { 'words changed': 'summary description', elsewhere: 'headers content' };

function compareResponses(comparison: Comparison, { spot, direction, before, after }: Pair<Json>): void {
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
  compareHeaders(comparison, inside(pair, 'headers'));
  compareContent(comparison, pair);
}

/** Returns the rule for a new status. Clients must handle unknown errors. A client that sends If-None-Match expects a 304. */
function newStatusRule(status: string): RuleName {
  return /^([45]|304$)/.test(status) ? 'status added' : 'success added';
}

function compareHeaders(comparison: Comparison, { spot, direction, before, after }: Pair<Json>): void {
  for (const name of namesOf(before, after)) {
    const within = atPart(spot, `header ${name}`);
    if (!hasOwn(before, name)) comparison.report('header added', within, direction);
    else if (hasOwn(after, name)) {
      const compare = COMPARISONS[name] ?? compareParameter;
      compare(comparison, { direction, spot: within, before: before[name], after: after[name] });
    } else {
      const wasDeprecated = comparison.before(before[name]).node['deprecated'] === true;
      comparison.report('header removed', within, direction, { wasDeprecated });
    }
  }
}

/** The functions that compare a header whose value lists what clients may send. */
const COMPARISONS: Readonly<Record<string, typeof compareParameter>> = {
  'Accept-Patch': compareAcceptedTypes,
  Allow: compareAllowedMethods,
};

/** Compares a header that lists the methods of a path. A missing method is reported as a removed operation. */
function compareAllowedMethods(comparison: Comparison, written: Pair<unknown>): void {
  const pair = resolvePair(comparison, written);
  const { spot, direction, before, after } = pair;
  compareParameter(comparison, { ...pair, after: { ...after, schema: before['schema'] } });
  if (!isSame(before['schema'], after['schema'])) comparison.report('methods changed', spot, direction);
}

/**
 * Compares a header that lists the accepted media types. A longer list is additive, as the contract announces. A shorter list is
 * breaking, because the server then refuses requests that it accepted before.
 */
function compareAcceptedTypes(comparison: Comparison, written: Pair<unknown>): void {
  const pair = resolvePair(comparison, written);
  const { before, after } = pair;
  compareParameter(comparison, { ...pair, after: { ...after, schema: before['schema'] } });
  compareHeldSchema(comparison, {
    ...pair,
    direction: 'request',
    before: withListedValues(before),
    after: withListedValues(after),
  });
}

function withListedValues({ schema }: Json): Json {
  const { const: list, ...others } = objectOf(schema);
  return { schema: typeof list === 'string' ? { ...others, enum: list.split(', ') } : schema };
}

const MEDIA_TYPE: FieldRules = {
  'words changed': 'example',
  'serialization changed': 'encoding',
  elsewhere: 'schema examples',
};
const EXAMPLE: FieldRules = { 'words changed': 'summary description value externalValue' };

/**
 * Compares the `content` of a body by media type. The reported places omit application/json, because almost all bodies have this
 * media type.
 */
function compareContent(comparison: Comparison, holder: Pair<Json>): void {
  const content = inside(holder, 'content');
  const { spot, direction, before, after } = content;
  for (const name of namesOf(before, after)) {
    const inner = name === 'application/json' ? spot : atPart(spot, name);
    if (!hasOwn(before, name)) comparison.report('media type added', spot, direction, { name });
    else if (!hasOwn(after, name)) comparison.report('media type removed', spot, direction, { name });
    else compareMediaType(comparison, { ...inside(content, name), spot: inner });
  }
}

/** Compares the `schema` members. A missing schema allows everything. */
function compareHeldSchema(comparison: Comparison, { before, after, ...rest }: Pair<Json>): void {
  compareSchema(comparison, { ...rest, before: before['schema'] ?? true, after: after['schema'] ?? true });
}

function compareMediaType(comparison: Comparison, pair: Pair<Json>): void {
  compareFields(comparison, pair, MEDIA_TYPE);
  compareExamples(comparison, inside(pair, 'examples'));
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
