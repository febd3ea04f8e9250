// Generates JSON that a schema of the document allows, and JSON that the schema refuses for one known reason.
import fc from 'fast-check';
import type { Json } from '../../src/contract/document.ts';
import { wrongJson, wrongTexts } from '../support/contract/wrong-values.ts';
import { isAllowed, isTextAllowed } from './allowed.ts';
import { validText } from './texts.ts';

/** A value with one invalid place, to which `path` leads. If `path` is empty, the place is the whole value. */
export type Wrong = { readonly value: unknown; readonly path: readonly string[] };

const MOST_ITEMS = 20;

export function validValue(schema: Json): fc.Arbitrary<unknown> {
  const { const: only, enum: listed, anyOf, oneOf } = schema;
  if (only !== undefined) return fc.constant(only);
  if (Array.isArray(listed)) return fc.constantFrom(...listed);
  const choices = anyOf ?? oneOf;
  const values = Array.isArray(choices)
    ? choices.map((choice) => validValue(Object(choice)))
    : [schema['type']].flat().map((type) => valueOfType(String(type), schema));
  return fc.oneof(...values).filter((value) => isAllowed(schema, value));
}

function valueOfType(type: string, schema: Json): fc.Arbitrary<unknown> {
  const { minimum = -1_000_000, maximum = 1_000_000 } = schema;
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: Number(minimum), max: Number(maximum) });
    case 'number':
      return fc.double({ min: Number(minimum), max: Number(maximum), noNaN: true });
    case 'string':
      return validText(schema);
    case 'array':
      return validArray(schema);
    case 'object':
      return validObject(schema);
    default:
      throw new Error(`Nobody has said how to make a value of ${JSON.stringify(schema)}.`);
  }
}

function validArray({ items, minItems = 0, maxItems = MOST_ITEMS }: Json): fc.Arbitrary<unknown[]> {
  const [minLength, maxLength] = [Number(minItems), Number(maxItems)];
  return fc.array(validValue(Object(items)), { minLength, maxLength });
}

function validObject(schema: Json): fc.Arbitrary<object> {
  const { required } = schema;
  const members = propertiesOf(schema).map(([name, ofMember]) => [name, validValue(ofMember)] as const);
  const requiredKeys = Array.isArray(required) ? required.map(String) : [];
  const named = fc.record(Object.fromEntries(members), { requiredKeys, noNullPrototype: true });
  return fc.tuple(named, validEntries(schema)).map(([own, entries]) => ({ ...entries, ...own }));
}

/** Generates entries in addition to the named properties, sometimes as many as the schema allows. */
function validEntries(schema: Json): fc.Arbitrary<object> {
  const { maxProperties = MOST_ITEMS, propertyNames } = schema;
  const ofEntry = entrySchemaOf(schema);
  if (ofEntry === undefined) return fc.constant({});
  const [name, value, most] = [validText(Object(propertyNames)), validValue(ofEntry), Number(maxProperties)];
  const entries = (minKeys: number) => fc.dictionary(name, value, { minKeys, maxKeys: most, noNullPrototype: true });
  return fc.oneof({ weight: 9, arbitrary: entries(0) }, { weight: 1, arbitrary: entries(most) });
}

/** Generates values that the schema refuses, each with the invalid place. */
export function wrongValue(schema: Json): fc.Arbitrary<Wrong> {
  const [named, ofEntry] = [propertiesOf(schema), entrySchemaOf(schema)];
  const places: fc.Arbitrary<Wrong>[] = [wrongItself(schema)];
  if (schema['items'] !== undefined) places.push(wrongItem(schema));
  if (named.length === 0 && ofEntry === undefined) return fc.oneof(...places);
  const members = named.map(([name, ofMember]) => within(schema, fc.constant(name), wrongValue(ofMember)));
  if (members.length > 0) places.push(...members);
  if (ofEntry !== undefined)
    places.push(within(schema, validText(Object(schema['propertyNames'])), wrongValue(ofEntry)));
  if (schema['required'] !== undefined) places.push(lacking(schema));
  if (schema['additionalProperties'] === false) places.push(within(schema, unknownName(schema), anything));
  if (ofEntry !== undefined && schema['propertyNames'] !== undefined) {
    places.push(
      within(
        schema,
        wrongName(schema),
        validValue(ofEntry).map((value) => ({ value, path: [] })),
      ),
    );
  }
  return fc.oneof(...places);
}

/** Generates arrays with exactly one invalid item. */
function wrongItem({ items, maxItems = MOST_ITEMS }: Json): fc.Arbitrary<Wrong> {
  const others = validArray({ items, maxItems: Math.min(Number(maxItems) - 1, MOST_ITEMS) });
  return fc.tuple(others, wrongValue(Object(items)), fc.nat()).map(([array, { value, path }, at]) => {
    const place = at % (array.length + 1);
    return { value: array.toSpliced(place, 0, value), path: [String(place), ...path] };
  });
}

const anything: fc.Arbitrary<Wrong> = fc.jsonValue().map((value) => ({ value, path: [] }));

function wrongItself(schema: Json): fc.Arbitrary<Wrong> {
  const listed = wrongJson(schema).map(({ value }) => value);
  // The value itself must be invalid. An object where the schema allows objects, or a filled array where it allows arrays, may be
  // invalid only because of a member, so these are excluded.
  const any = fc.jsonValue().filter((value) => typeOf(schema, value) !== 'object' && !isFilledArray(schema, value));
  const isText = [schema['type']].flat().includes('string') && schema['enum'] === undefined;
  const broken = isText ? [brokenText(schema)] : [];
  return fc
    .oneof(any, ...broken, ...(listed.length === 0 ? [] : [fc.constantFrom(...listed)]))
    .filter((value) => !isAllowed(schema, value))
    .map((value) => ({ value, path: [] }));
}

function isFilledArray({ type }: Json, value: unknown): boolean {
  return [type].flat().includes('array') && Array.isArray(value) && value.length > 0;
}

function typeOf({ type }: Json, value: unknown): string {
  return [type].flat().includes('object') && value !== null && !Array.isArray(value) ? typeof value : '';
}

/** Generates a valid text with one more character, which often violates a limit or the pattern. */
function brokenText(schema: Json): fc.Arbitrary<string> {
  const extra = fc.oneof(fc.constantFrom('\u0000', '\ud800', '\udfff', ' ', '%'), fc.string({ maxLength: 1 }));
  return fc
    .tuple(validText(schema), extra, fc.nat())
    .map(([text, more, at]) => text.slice(0, at % (text.length + 1)) + more + text.slice(at % (text.length + 1)));
}

/** Generates objects with exactly one invalid member. */
function within(schema: Json, name: fc.Arbitrary<string>, member: fc.Arbitrary<Wrong>): fc.Arbitrary<Wrong> {
  const room = Math.min(Number(schema['maxProperties'] ?? MOST_ITEMS) - 1, MOST_ITEMS);
  return fc
    .tuple(validObject({ ...schema, maxProperties: room }), name, member)
    .map(([object, key, { value, path }]) => ({
      // An assignment would lose a member named "__proto__".
      value: Object.fromEntries([...Object.entries(object), [key, value]]),
      path: [key, ...path],
    }));
}

function lacking(schema: Json): fc.Arbitrary<Wrong> {
  const names = [schema['required']].flat().map(String);
  return fc.tuple(validObject(schema), fc.constantFrom(...names)).map(([object, name]) => ({
    value: Object.fromEntries(Object.entries(object).filter(([key]) => key !== name)),
    path: [name],
  }));
}

function unknownName(schema: Json): fc.Arbitrary<string> {
  const known = new Set(propertiesOf(schema).map(([name]) => name));
  const likely = [...known].flatMap((name) => [name.toUpperCase(), `${name}s`, `${name}.x`, `${name}[]`]);
  return fc
    .oneof(fc.constantFrom('__proto__', 'constructor', 'toString', 'id', ...likely), fc.string({ minLength: 1 }))
    .filter((name) => !known.has(name));
}

function wrongName({ propertyNames }: Json): fc.Arbitrary<string> {
  const schema: Json = Object(propertyNames);
  const listed = wrongTexts(schema).map(({ value }) => String(value));
  return fc.oneof(fc.constantFrom(...listed), brokenText(schema)).filter((name) => !isAllowed(schema, name));
}

export function wrongText(schema: Json): fc.Arbitrary<string> {
  const listed = wrongTexts(schema).map(({ value }) => String(value));
  const broken = schema['type'] === 'string' && schema['enum'] === undefined ? [brokenText(schema)] : [];
  return fc
    .oneof(fc.constantFrom(...listed), fc.string({ unit: 'binary' }), fc.integer().map(String), ...broken)
    .filter((text) => !isTextAllowed(schema, text));
}

function propertiesOf({ properties }: Json): [string, Json][] {
  return Object.entries<Json>(Object(properties));
}

/** Returns the schema of undeclared members, or `undefined` if the schema allows none. */
function entrySchemaOf({ additionalProperties, type }: Json): Json | undefined {
  const isSchema = typeof additionalProperties === 'object' && additionalProperties !== null;
  return isSchema && [type].flat().includes('object') ? Object(additionalProperties) : undefined;
}
