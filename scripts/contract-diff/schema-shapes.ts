// The normal form of a schema: what the schema allows of each JSON type. `type: [string, 'null']`, an `anyOf` of these two types,
// and a reference to such a schema have the same normal form, so that another notation of a schema is not a change.
import { isObject, type Json } from '../../src/contract/document.ts';
import type { Resolve } from './comparison.ts';
import { canonical, hasOwn, isSame, listOf, member, namesOf, objectOf } from './json.ts';

/** The JSON types. Numbers are split into integers and fractions, because "number" allows all values of "integer", and more. */
export const TYPES = ['boolean', 'integer', 'fraction', 'string', 'array', 'object', 'null'] as const;
type Type = (typeof TYPES)[number];

/** What a schema allows of one type. Several shapes of one type are alternatives (`anyOf`, `oneOf`). */
export type Shape = {
  readonly type: Type;
  /** The name of the component if the shape is exactly that component, otherwise `null`. */
  readonly component: string | null;
  /** The allowed values; `null` if the schema has neither `enum` nor `const`. */
  readonly values: readonly unknown[] | null;
  readonly keywords: Json;
};

/** For each keyword: how a change is judged, and the types to which the keyword applies. Other keywords apply to all types. */
export const KEYWORDS: Readonly<Record<string, { readonly kind: Kind; readonly types: readonly Type[] }>> = {
  minLength: { kind: 'at least', types: ['string'] },
  maxLength: { kind: 'at most', types: ['string'] },
  pattern: { kind: 'form', types: ['string'] },
  format: { kind: 'form', types: ['string', 'integer', 'fraction'] },
  contentEncoding: { kind: 'form', types: ['string'] },
  contentMediaType: { kind: 'form', types: ['string'] },
  minimum: { kind: 'at least', types: ['integer', 'fraction'] },
  exclusiveMinimum: { kind: 'at least', types: ['integer', 'fraction'] },
  maximum: { kind: 'at most', types: ['integer', 'fraction'] },
  exclusiveMaximum: { kind: 'at most', types: ['integer', 'fraction'] },
  multipleOf: { kind: 'form', types: ['integer', 'fraction'] },
  minItems: { kind: 'at least', types: ['array'] },
  maxItems: { kind: 'at most', types: ['array'] },
  uniqueItems: { kind: 'flag', types: ['array'] },
  items: { kind: 'schema', types: ['array'] },
  minProperties: { kind: 'at least', types: ['object'] },
  maxProperties: { kind: 'at most', types: ['object'] },
  propertyNames: { kind: 'schema', types: ['object'] },
  properties: { kind: 'fields', types: ['object'] },
  required: { kind: 'fields', types: ['object'] },
  additionalProperties: { kind: 'fields', types: ['object'] },
  default: { kind: 'default', types: TYPES },
  deprecated: { kind: 'deprecation', types: TYPES },
  readOnly: { kind: 'access', types: TYPES },
  writeOnly: { kind: 'access', types: TYPES },
  'x-extensible': { kind: 'extension', types: TYPES },
  'x-counts-as-requests': { kind: 'counting', types: ['array'] },
};
type Kind =
  | ('at least' | 'at most' | 'form' | 'flag' | 'schema' | 'fields')
  | ('default' | 'deprecation' | 'access' | 'extension' | 'counting' | 'unknown');

/**
 * The keywords that do not constrain values. The same is true of keywords that begin with "x-", unless KEYWORDS contains them.
 */
export const REMARKS = 'title description examples example externalDocs discriminator $comment'.split(' ');

const COMPOSITION = ['type', 'enum', 'const', 'allOf', 'anyOf', 'oneOf', '$ref'];

/** Returns the shapes of a schema. A missing schema and `true` allow everything; `false` allows nothing. */
export function shapesOf(schema: unknown, resolve: Resolve, expanding: readonly string[] = []): readonly Shape[] {
  if (schema === false) return [];
  const node = objectOf(schema);
  const itself = canonical(node);
  if (expanding.includes(itself)) throw new Error(`This schema consists of itself: ${itself}`);
  const within = [...expanding, itself];
  const expand = (part: unknown) => shapesOf(part, resolve, within);
  if (hasOwn(node, '$ref')) return shapesOfReference(resolve({ $ref: node['$ref'] }), node, expand);

  const oneOf = listOf(node['oneOf']).map(expand);
  const parts = [
    ...listOf(node['allOf']).map(expand),
    ...(hasOwn(node, 'anyOf') ? [listOf(node['anyOf']).flatMap(expand)] : []),
    ...(hasOwn(node, 'oneOf') ? [oneOf.flat()] : []),
  ];
  // `oneOf` refuses values that two alternatives allow, so a wider alternative can mean fewer values. If alternatives overlap,
  // the whole `oneOf` is therefore compared as one keyword.
  const own = areDisjoint(oneOf) ? ownShapes(node) : ownShapes({ ...node, 'oneOf that overlap': node['oneOf'] });
  return parts.reduce((shapes, part) => shapes.flatMap((shape) => part.flatMap((other) => meet(shape, other))), own);
}

function both(one: unknown, other: unknown): unknown {
  if (one === false || other === false) return false;
  const parts = [one, other].flatMap((schema) => {
    const node = objectOf(schema);
    return isSame(Object.keys(node), ['allOf']) ? listOf(node['allOf']) : isSame(node, {}) ? [] : [node];
  });
  const unique = [...new Map(parts.map((part) => [canonical(part), part])).values()];
  return unique.length > 1 ? { allOf: unique } : (unique[0] ?? true);
}

function shapesOfReference(
  { node, component }: ReturnType<Resolve>,
  { $ref: _, ...beside }: Json,
  expand: (part: unknown) => readonly Shape[],
): readonly Shape[] {
  const constraints = Object.keys(beside).filter((name) => !isRemark(name));
  if (constraints.length > 0) return expand({ allOf: [node, beside] });
  return expand(node).map((shape) => ({ ...shape, component: shape.component ?? component }));
}

function ownShapes(node: Json): readonly Shape[] {
  const allowed = allowedValues(node);
  return typesOf(node).flatMap((type) => {
    const values = allowed?.filter((value) => typeOf(value) === type) ?? null;
    if (values !== null && values.length === 0) return [];
    const keywords = Object.entries(node).filter(
      ([name]) => !isRemark(name) && !COMPOSITION.includes(name) && (KEYWORDS[name]?.types ?? TYPES).includes(type),
    );
    return [{ type, component: null, values: type === 'null' ? null : values, keywords: Object.fromEntries(keywords) }];
  });
}

export function isRemark(name: string): boolean {
  return REMARKS.includes(name) || (name.startsWith('x-') && !hasOwn(KEYWORDS, name));
}

function typesOf(node: Json): readonly Type[] {
  if (!hasOwn(node, 'type')) return TYPES;
  const names = [node['type']].flat();
  return TYPES.filter(
    (type) => names.includes(type) || (names.includes('number') && (type === 'integer' || type === 'fraction')),
  );
}

function allowedValues(node: Json): readonly unknown[] | null {
  const constant = hasOwn(node, 'const') ? [node['const']] : null;
  const list = hasOwn(node, 'enum') ? listOf(node['enum']) : null;
  return common(constant, list);
}

function common(one: readonly unknown[] | null, other: readonly unknown[] | null): readonly unknown[] | null {
  if (one === null || other === null) return one ?? other;
  return one.filter((value) => other.some((allowed) => isSame(value, allowed)));
}

function typeOf(value: unknown): Type {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isObject(value)) return 'object';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'fraction';
  return typeof value === 'boolean' ? 'boolean' : 'string';
}

/** Returns the shape of the values that both shapes allow, as an array. The array is empty if there is no such value. */
function meet(one: Shape, other: Shape): readonly Shape[] {
  if (one.type !== other.type) return [];
  const values = common(one.values, other.values);
  if (values !== null && values.length === 0) return [];
  const plain = namesOf(one.keywords, other.keywords).filter((name) => KEYWORDS[name]?.kind !== 'fields');
  const keywords = {
    ...Object.fromEntries(plain.map((name) => [name, meetKeyword(name, one.keywords, other.keywords)])),
    ...meetFields(one.keywords, other.keywords),
  };
  const isOne = isSame(one.keywords, {}) && one.values === null;
  return [{ type: one.type, component: isOne ? other.component : null, values, keywords }];
}

function meetKeyword(name: string, one: Json, other: Json): unknown {
  if (!hasOwn(one, name) || !hasOwn(other, name)) return member(one, name) ?? member(other, name);
  const [left, right] = [one[name], other[name]];
  const kind = KEYWORDS[name]?.kind;
  if (kind === 'schema') return both(left, right);
  if (typeof left === 'number' && typeof right === 'number' && kind === 'at least') return Math.max(left, right);
  if (typeof left === 'number' && typeof right === 'number' && kind === 'at most') return Math.min(left, right);
  if (kind === 'flag') return left === true || right === true;
  return isSame(left, right) ? left : { both: [left, right] };
}

/**
 * Combines the schemas of fields. The `additionalProperties` of a shape applies to the fields that this shape does not name, even
 * if the other shape names them.
 */
function meetFields(one: Json, other: Json): Json {
  const named = namesOf(objectOf(one['properties']), objectOf(other['properties']));
  const fields = {
    properties: Object.fromEntries(named.map((name) => [name, both(fieldOf(one, name), fieldOf(other, name))])),
    required: [...new Set([one, other].flatMap((node) => listOf(node['required'])))],
    additionalProperties: both(one['additionalProperties'] ?? true, other['additionalProperties'] ?? true),
  };
  return Object.fromEntries(Object.entries(fields).filter(([name]) => hasOwn(one, name) || hasOwn(other, name)));
}

export function fieldOf(keywords: Json, name: string): unknown {
  const named = objectOf(keywords['properties']);
  return hasOwn(named, name) ? named[name] : (keywords['additionalProperties'] ?? true);
}

/**
 * Returns whether each value matches at most one alternative: any two alternatives differ in type, or in the values of a field
 * that both require.
 */
function areDisjoint(alternatives: readonly (readonly Shape[])[]): boolean {
  return alternatives.every((shapes, i) =>
    alternatives.slice(i + 1).every((others) => shapes.every((one) => others.every((other) => isDisjoint(one, other)))),
  );
}

function isDisjoint(one: Shape, other: Shape): boolean {
  if (one.type !== other.type || common(one.values, other.values)?.length === 0) return true;
  const required = listOf(one.keywords['required']).filter((name) => listOf(other.keywords['required']).includes(name));
  return required.some((name) => {
    const [left, right] = [one, other].map(({ keywords }) => allowedValues(objectOf(fieldOf(keywords, String(name)))));
    return left != null && right != null && common(left, right)?.length === 0;
  });
}
