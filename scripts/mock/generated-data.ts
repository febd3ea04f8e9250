import type { ValidateFunction } from 'ajv';
import { isObject, type Json } from '../../src/contract/document.ts';

/** Most generated data is valid; for a difficult schema, one of the first attempts is. */
const MAX_ATTEMPTS = 20;
const MAX_ITEMS = 10;
const MAX_PROPERTIES = 4;

/** The first generated response whose body the schema allows; undefined: there was none. */
export async function firstValid<T extends { body: unknown }>(
  validate: ValidateFunction,
  generate: (attempt: number) => Promise<T>,
): Promise<T | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const generated = await generate(attempt);
    if (validate(generated.body)) return generated;
  }
  return undefined;
}

/**
 * The document with narrower schemas, for Prism's generator. By itself it writes instants in another form than the
 * contract's (in the year 5435, with one fractional digit), and fills an array of up to a hundred items with as many.
 */
export function narrowSchemas(document: Json): Json {
  return narrowMembers(document);
}

function narrow(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(narrow);
  return isObject(value) ? narrowMembers(value) : value;
}

function narrowMembers(object: Json): Json {
  const node: Json = Object.fromEntries(Object.entries(object).map(([name, member]) => [name, narrow(member)]));
  const types = [node['type']].flat();
  if (types.includes('string') && node['format'] === 'date-time') {
    return { type: node['type'], enum: types.includes('null') ? [...INSTANTS, null] : INSTANTS };
  }
  return {
    ...node,
    // By itself it adds fields wherever a schema allows them, and the schemas of responses do.
    ...(isObject(node['properties']) && node['additionalProperties'] === undefined && { additionalProperties: false }),
    ...(exceeds(node['maxItems'], MAX_ITEMS) && { maxItems: MAX_ITEMS }),
    ...(exceeds(node['maxProperties'], MAX_PROPERTIES) && { maxProperties: MAX_PROPERTIES }),
  };
}

function exceeds(bound: unknown, most: number): boolean {
  return typeof bound === 'number' && bound > most;
}

/** Over three years, in the contract's form. */
const INSTANTS = Array.from({ length: 97 }, (_, i) => new Date(Date.UTC(2024, 0, 1) + i * 973_421_777).toISOString());
