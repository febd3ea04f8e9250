// Derives invalid values from a schema, so that tests also cover a new parameter or field.
import type { Json } from '../../../src/contract/document.ts';

type WrongValue = { readonly what: string; readonly value: unknown };

const ODD_TEXTS = ['\u0000', ' ', '"', 'a b', 'é', '?', 'yesterday', '\ud800'];

/** Returns invalid values of a parameter, as text. */
export function wrongTexts(schema: Json): WrongValue[] {
  const types = typesOf(schema);
  if (types.includes('integer')) return wrongIntegers(schema).map((value) => ({ what: `"${value}"`, value }));
  if (types.includes('boolean'))
    return ['', '1', '0', 'True', 'FALSE', 'yes', 'null', ' true'].map((value) => ({ what: `"${value}"`, value }));
  return ofText(schema);
}

/** Returns invalid values of a body's field, as JSON. */
export function wrongJson(schema: Json): WrongValue[] {
  const types = typesOf(schema);
  const ofOtherTypes = [1, true, 'x', [], {}, null].filter((value) => !types.includes(typeOf(value)));
  return [
    ...ofOtherTypes.map((value) => ({ what: JSON.stringify(value), value })),
    ...(types.includes('string') ? ofText(schema) : []),
    ...(types.includes('object') ? ofEntries(schema) : []),
  ];
}

function wrongIntegers({ minimum, maximum }: Json): string[] {
  return [String(Number(minimum) - 1), String(Number(maximum) + 1), '', 'x', '1.5', '0x10', '1e1', '+5', '05', ' 5'];
}

function ofText({ minLength = 0, maxLength, enum: allowed, pattern, format }: Json): WrongValue[] {
  const isText = (text: string) => !text.includes('\0') && text.isWellFormed();
  const matches = (text: string) => isText(text) && new RegExp(String(pattern ?? ''), 'u').test(text);
  return [
    ...(Number(minLength) > 0 ? [{ what: 'an empty text', value: '' }] : []),
    ...(Number(minLength) > 1 ? [{ what: 'a text too short', value: 'x'.repeat(Number(minLength) - 1) }] : []),
    ...(maxLength === undefined ? [] : [{ what: 'a text too long', value: 'x'.repeat(Number(maxLength) + 1) }]),
    ...(allowed === undefined ? [] : [{ what: 'none of the list', value: 'none of the list' }]),
    ...(format === undefined ? [] : [{ what: 'another format', value: 'x'.repeat(Number(maxLength ?? 5)) }]),
    ...ODD_TEXTS.filter((text) => !matches(text)).map((value) => ({ what: JSON.stringify(value), value })),
  ];
}

function ofEntries({ maxProperties, propertyNames, additionalProperties }: Json): WrongValue[] {
  if (maxProperties === undefined) return [];
  const many = Object.fromEntries(Array.from({ length: Number(maxProperties) + 1 }, (_, i) => [`entry ${i}`, 'x']));
  const names = wrongTexts(asSchema(propertyNames));
  return [
    { what: 'too many entries', value: many },
    ...names.map(({ what, value }) => ({ what: `an entry named ${what}`, value: { [String(value)]: 'x' } })),
    ...wrongJson(asSchema(additionalProperties)).map(({ what, value }) => ({
      what: `an entry of ${what}`,
      value: { entry: value },
    })),
  ];
}

function typesOf({ type }: Json): unknown[] {
  return [type].flat();
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' ? 'integer' : typeof value;
}

function asSchema(value: unknown): Json {
  return Object(value);
}
