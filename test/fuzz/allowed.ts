import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Json } from '../../src/contract/document.ts';

const ajv = new Ajv2020({ strict: false });
formats.default(ajv);
const compiled = new Map<string, ValidateFunction>();

/** Returns whether the API allows the value in a place where the contract has the schema. */
export function isAllowed(schema: Json, value: unknown): boolean {
  return isOfTexts(value) && matches(schema, value);
}

/**
 * Returns whether all strings in the value are free of NUL and unpaired surrogates. The API's description forbids both; its
 * schemas do not.
 */
function isOfTexts(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed();
  return Object.entries(Object(value)).every(([name, member]) => isOfTexts(name) && isOfTexts(member));
}

function matches(schema: Json, value: unknown): boolean {
  const text = JSON.stringify(schema);
  const check = compiled.get(text) ?? ajv.compile(schema);
  compiled.set(text, check);
  // Limits of length apply to the normal form.
  const normalForm = schema['x-normal-form'];
  return (
    check(typeof value === 'string' && typeof normalForm === 'string' ? value.normalize(normalForm) : value) === true
  );
}

/** Returns whether the schema allows the text of a parameter. The text is a number or a boolean only if it is written as one. */
export function isTextAllowed(schema: Json, text: string): boolean {
  const isInteger = schema['type'] === 'integer' && /^-?(0|[1-9]\d*)$/.test(text);
  const isBoolean = schema['type'] === 'boolean' && /^(true|false)$/.test(text);
  return isAllowed(schema, isInteger || isBoolean ? JSON.parse(text) : text);
}
