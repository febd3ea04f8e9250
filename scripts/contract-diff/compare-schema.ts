// Compares the values that two schemas allow, by their shapes.
import type { Json } from '../../src/contract/document.ts';
import {
  atField,
  atItems,
  atNames,
  type Comparison,
  compareFields,
  type Pair,
  type Report,
  type Resolve,
  resolvePair,
  spotOfBoth,
} from './comparison.ts';
import { canonical, hasOwn, isSame, listOf, member, namesOf, objectOf } from './json.ts';
import type { RuleName } from './rules.ts';
import { fieldOf, isRemark, KEYWORDS, REMARKS, type Shape, shapesOf, TYPES } from './schema-shapes.ts';

type Schemas = Pair<unknown>;
type Shapes = Pair<Shape>;

/**
 * Compares two schemas. `within` lists the pairs that outer calls are comparing, so that the recursion ends for a schema that
 * contains itself.
 */
export function compareSchema(comparison: Comparison, schemas: Schemas, within: readonly string[] = []): void {
  const itself = `${schemas.direction} ${canonical(schemas.before)} ${canonical(schemas.after)}`;
  if (within.includes(itself) || comparison.same.has(itself)) return;
  let hasChanged = false;
  const report: Report = (...found) => {
    hasChanged = true;
    comparison.report(...found);
  };
  compareResolved({ ...comparison, report }, schemas, [...within, itself]);
  if (!hasChanged) comparison.same.add(itself);
}

function compareResolved(comparison: Comparison, schemas: Schemas, within: readonly string[]): void {
  const { report } = comparison;
  const resolved = resolvePair(comparison, schemas);
  compareRemarks(comparison, resolved);

  const { spot, direction } = resolved;
  const before = shapesOf(schemas.before, comparison.before);
  const after = shapesOf(schemas.after, comparison.after);
  const [lost, gained] = [typesBeyond(before, after), typesBeyond(after, before)];
  if (lost.length + gained.length > 0) {
    const rule =
      gained.length === 0 ? 'constraint narrowed' : lost.length === 0 ? 'constraint widened' : 'type changed';
    report(rule, spot, direction, { name: 'type', before: typeWords(before), after: typeWords(after) });
  }
  for (const type of TYPES) {
    const [left, right] = [before, after].map((shapes) => shapes.filter((shape) => shape.type === type));
    if (left === undefined || right === undefined || left.length === 0 || right.length === 0) continue;
    const { pairs, removed, added } = matchShapes(left, right);
    for (const { component } of removed) report('alternative removed', spot, direction, { name: component ?? type });
    for (const { component } of added) report('alternative added', spot, direction, { name: component ?? type });
    for (const [one, other] of pairs)
      compareShapes(
        comparison,
        { direction, spot: spotOfBoth(comparison, spot, one, other), before: one, after: other },
        within,
      );
  }
}

function compareRemarks(comparison: Comparison, pair: Pair<Json>): void {
  const remarks = (node: Json) => Object.fromEntries(Object.entries(node).filter(([name]) => isRemark(name)));
  const rules = { 'words changed': REMARKS.join(' ') };
  compareFields(comparison, { ...pair, before: remarks(pair.before), after: remarks(pair.after) }, rules);
}

function typesBeyond(shapes: readonly Shape[], others: readonly Shape[]): readonly string[] {
  return shapes.map(({ type }) => type).filter((type) => others.every((other) => other.type !== type));
}

function typeWords(shapes: readonly Shape[]): string {
  const types: readonly string[] = TYPES.filter((type) => shapes.some((shape) => shape.type === type));
  if (types.length === TYPES.length) return 'any';
  const isNumber = types.includes('fraction');
  const names = types
    .filter((type) => !(type === 'integer' && isNumber))
    .map((type) => (type === 'fraction' ? 'number' : type));
  return names.length === 0 ? 'nothing' : names.join(' or ');
}

/**
 * Matches the old alternatives of one type with the new ones: first those that are equal, then those with the same component. The
 * rest is matched in order if both lists have the same length.
 */
function matchShapes(before: readonly Shape[], after: readonly Shape[]) {
  const pairs: [Shape, Shape][] = [];
  let [removed, added] = [before, after];
  const isNamesake = (one: Shape, other: Shape) => one.component !== null && one.component === other.component;
  const isRest = () => removed.length === added.length;
  for (const isMatch of [isSame, isNamesake, isRest]) {
    for (const one of removed) {
      const other = added.find((candidate) => isMatch(one, candidate));
      if (other === undefined) continue;
      pairs.push([one, other]);
      removed = removed.filter((shape) => shape !== one);
      added = added.filter((shape) => shape !== other);
    }
  }
  return { pairs, removed, added };
}

function compareShapes(comparison: Comparison, shapes: Shapes, within: readonly string[]): void {
  const { spot, direction, before, after } = shapes;
  compareValues(comparison, shapes);
  if (before.type === 'object') compareObjects(comparison, shapes, within);
  for (const name of namesOf(before.keywords, after.keywords)) {
    const [one, other] = [member(before.keywords, name), member(after.keywords, name)];
    if (name === 'items' && before.keywords[COUNTED] === true && after.keywords[COUNTED] === true) {
      compareCounted(comparison, { direction, spot: atItems(spot), before: one, after: other }, within);
    } else if (KEYWORDS[name]?.kind === 'schema') {
      const inner = name === 'items' ? atItems(spot) : atNames(spot);
      compareSchema(comparison, { direction, spot: inner, before: one ?? true, after: other ?? true }, within);
    } else if (name === 'pattern' && one !== other && isRespelled(one, other)) {
      comparison.report('pattern respelled', spot, direction, { name, before: one, after: other });
    } else {
      const rule = keywordRule(name, one, other, hasExtensibleItems(comparison, shapes));
      if (rule !== null) comparison.report(rule, spot, direction, { name, before: one, after: other });
    }
  }
}

/** The extension that marks the items of a batch. Each item counts as a request. */
const COUNTED = 'x-counts-as-requests';

/**
 * Compares the schemas for the items of a batch. Only differences in structure count; other differences only change the
 * description. The server validates each item as a request to the item's own operation, and that operation is compared anyway.
 */
function compareCounted(comparison: Comparison, pair: Schemas, within: readonly string[]): void {
  const [before, after] = [structureOf(pair.before, comparison.before), structureOf(pair.after, comparison.after)];
  compareSchema(comparison, { ...pair, before, after }, within);
  let hasChanged = false;
  const report: Report = () => {
    hasChanged = true;
  };
  compareSchema({ ...comparison, report, same: new Set() }, pair, within);
  if (hasChanged) comparison.report('changes described', pair.spot, pair.direction);
}

/** Returns an object schema with the members of all alternatives. Each member has only its type and its enumerated values. */
function structureOf(schema: unknown, resolve: Resolve): Json {
  const { node } = resolve(schema);
  const alternatives = hasOwn(node, 'oneOf') ? listOf(node['oneOf']).map((each) => resolve(each).node) : [node];
  const members = alternatives.flatMap(({ properties }) => Object.entries(objectOf(properties)));
  const properties = Object.entries(Object.groupBy(members, ([name]) => name)).map(([name, found = []]) => {
    const nodes = found.map(([, member]) => resolve(member).node);
    const values = nodes.flatMap((each) => (hasOwn(each, 'const') ? [each['const']] : listOf(each['enum'])));
    return [name, { type: nodes[0]?.['type'], ...(values.length > 0 && { enum: values }) }] as const;
  });
  const [first, ...others] = alternatives.map(({ required }) => listOf(required));
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: first?.filter((name) => others.every((required) => required.includes(name))),
    additionalProperties: alternatives.some((each) => each['additionalProperties'] !== false),
  };
}

function compareValues({ report }: Comparison, { spot, direction, ...shapes }: Shapes): void {
  const [before, after] = [shapes.before.values, shapes.after.values];
  if (before === null || after === null) {
    const rule = after === null ? 'constraint widened' : 'constraint narrowed';
    if (before !== after) report(rule, spot, direction, { name: 'values', before: list(before), after: list(after) });
    return;
  }
  const lost = before.filter((value) => !after.some((other) => isSame(value, other)));
  const gained = after.filter((value) => !before.some((other) => isSame(value, other)));
  if (lost.length > 0) report('value removed', spot, direction, { before: list(lost) });
  const rule = isExtensible(shapes.before.keywords) ? 'extensible value added' : 'value added';
  if (gained.length > 0) report(rule, spot, direction, { after: list(gained) });
}

/** Returns whether the schema announces that clients may get further values (`x-extensible`). */
function isExtensible(schema: Json): boolean {
  return schema['x-extensible'] === true;
}

/**
 * Returns whether the items have an extensible enumeration. If so, the maximum length of the array may grow with the enumeration.
 */
function hasExtensibleItems({ before }: Comparison, { before: { keywords } }: Shapes): boolean {
  return isExtensible(before(keywords['items']).node);
}

function list(values: readonly unknown[] | null): string {
  return values?.map((value) => JSON.stringify(value)).join(', ') ?? 'any';
}

function keywordRule(name: string, before: unknown, after: unknown, hasExtensibleItems: boolean): RuleName | null {
  if (isSame(before, after)) return null;
  const kind = KEYWORDS[name]?.kind ?? 'unknown';
  switch (kind) {
    case 'at most': {
      const rule = boundRule(-asNumber(before, Infinity), -asNumber(after, Infinity));
      return rule === 'constraint widened' && name === 'maxItems' && hasExtensibleItems
        ? 'extensible items added'
        : rule;
    }
    case 'at least': {
      // If the keyword is missing, a length or a count is at least 0; a number has no bound.
      const least = name.includes('imum') ? -Infinity : 0;
      return boundRule(asNumber(before, least), asNumber(after, least));
    }
    case 'flag':
      return boundRule(Number(before === true), Number(after === true));
    case 'form':
      return before === undefined
        ? 'constraint narrowed'
        : after === undefined
          ? 'constraint widened'
          : 'constraint changed';
    case 'default':
      return before === undefined ? 'default added' : 'default changed';
    case 'deprecation':
      if ((before === true) === (after === true)) return null;
      return after === true ? 'deprecation added' : 'deprecation removed';
    case 'access':
      return (before === true) === (after === true) ? null : 'access changed';
    case 'extension':
      if ((before === true) === (after === true)) return null;
      return after === true ? 'enumeration opened' : 'enumeration closed';
    case 'counting':
      return 'words changed';
    case 'unknown':
      return 'unknown changed';
    default:
      return null; // compareShapes and compareObjects compare these keywords.
  }
}

function boundRule(before: number, after: number): RuleName | null {
  return before === after ? null : after > before ? 'constraint narrowed' : 'constraint widened';
}

function asNumber(value: unknown, absent: number): number {
  return typeof value === 'number' ? value : absent;
}

function compareObjects(comparison: Comparison, shapes: Shapes, within: readonly string[]): void {
  const { spot, direction } = shapes;
  const [before, after] = [shapes.before.keywords, shapes.after.keywords];
  const namesOf = (keywords: Json) => [
    ...Object.keys(objectOf(keywords['properties'])),
    ...listOf(keywords['required']).map(String),
  ];
  const hasNewKind = gainsKinds(comparison, before, after);
  for (const name of [...new Set([...namesOf(before), ...namesOf(after)])].sort()) {
    const place = atField(spot, name);
    const report: Report = (rule, at, ...rest) => {
      const isOfNewKind = hasNewKind && rule === 'alternative added' && isSame(at.at, place.at);
      comparison.report(isOfNewKind ? 'alternative of new values added' : rule, at, ...rest);
    };
    compareField({ ...comparison, report }, { ...shapes, spot: place, before, after }, name, within);
  }

  const [was, is] = [before['additionalProperties'] ?? true, after['additionalProperties'] ?? true];
  if (isSame(was, is) && typeof was === 'boolean') return;
  if (was === false || is === false)
    comparison.report(is === false ? 'object closed' : 'object opened', spot, direction);
  else compareSchema(comparison, { direction, spot: atField(spot, '*'), before: was, after: is }, within);
}

/**
 * Returns whether an extensible enumeration in a member has new values, such as event types. Clients ignore an object with an
 * unknown value.
 */
function gainsKinds(comparison: Comparison, before: Json, after: Json): boolean {
  return Object.keys(objectOf(before['properties'])).some((name) => {
    const present = shapesOf(fieldOf(after, name), comparison.after).flatMap(({ values }) => values ?? []);
    return shapesOf(fieldOf(before, name), comparison.before).some(
      ({ keywords, values }) =>
        isExtensible(keywords) && present.some((value) => !values?.some((known) => isSame(known, value))),
    );
  });
}

function compareField(comparison: Comparison, pair: Pair<Json>, name: string, within: readonly string[]): void {
  const { report } = comparison;
  const { spot, direction } = pair;
  const [before, after] = [fieldOf(pair.before, name), fieldOf(pair.after, name)];
  const [wasNamed, isNamed] = [pair.before, pair.after].map((node) =>
    Object.hasOwn(objectOf(node['properties']), name),
  );
  const [wasRequired, isRequired] = [pair.before, pair.after].map((node) => listOf(node['required']).includes(name));

  if (wasNamed && !isNamed) {
    const wasDeprecated = shapesOf(before, comparison.before).some(({ keywords }) => keywords['deprecated'] === true);
    report('field removed', spot, direction, { wasDeprecated });
  } else if (isNamed && !wasNamed) {
    const isClaimed = before !== false;
    const rule = isRequired && !wasRequired ? 'required field added' : isClaimed ? 'free field claimed' : 'field added';
    report(rule, spot, direction);
    // In the old document, this field was an additional property. If the old document has a schema for such properties, the
    // field is compared with that schema.
    if (isClaimed && before !== true) compareSchema(comparison, { direction, spot, before, after }, within);
  } else {
    if (wasRequired !== isRequired)
      report(isRequired ? 'requirement narrowed' : 'requirement widened', spot, direction);
    if (isNamed) compareSchema(comparison, { direction, spot, before, after }, within);
  }
}

/** Returns whether the second pattern is the first one without the escapes `\d` and `\xNN`, which some languages do not have. */
function isRespelled(before: unknown, after: unknown): boolean {
  return typeof before === 'string' && spellOut(before) === after;
}

/** Replaces the escapes `\d` and `\xNN` with what they mean in ECMA-262, such as `[0-9]` and "!". */
function spellOut(pattern: string): string {
  return pattern
    .replaceAll(String.raw`\d`, '[0-9]')
    .replaceAll(/\\x([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
