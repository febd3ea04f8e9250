import type { ValidateFunction } from 'ajv';
import type { Json } from '../../src/api/document.ts';

/** What Prism's generator makes of most schemas is valid at once; of an unlucky one, soon. */
const MOST_TRIES = 20;
const FEW_ITEMS = 10;
const FEW_ENTRIES = 4;

/** The first of some generated values that the schema allows; undefined: there was none. */
export async function firstValid<T extends { body: unknown }>(
  validate: ValidateFunction,
  generate: (attempt: number) => Promise<T>,
): Promise<T | undefined> {
  for (let attempt = 0; attempt < MOST_TRIES; attempt += 1) {
    const made = await generate(attempt);
    if (validate(made.body)) return made;
  }
  return undefined;
}

/**
 * The document with narrower schemas, for Prism's generator: it writes instants that are none of ours (of the year
 * 5435, with one digit of a second), and fills what may have a hundred items with about as many.
 */
export function narrowed(document: Json): Json {
  // An object goes in, so one comes out.
  return narrow(document) as Json;
}

function narrow(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(narrow);
  if (value === null || typeof value !== 'object') return value;
  const node = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, narrow(member)]));
  const types = [node['type']].flat();
  if (types.includes('string') && node['format'] === 'date-time') {
    return { type: node['type'], enum: types.includes('null') ? [...INSTANTS, null] : INSTANTS };
  }
  return {
    ...node,
    ...(isAbove(node['maxItems'], FEW_ITEMS) && { maxItems: FEW_ITEMS }),
    ...(isAbove(node['maxProperties'], FEW_ENTRIES) && { maxProperties: FEW_ENTRIES }),
  };
}

function isAbove(bound: unknown, few: number): boolean {
  return typeof bound === 'number' && bound > few;
}

/** Some hours apart over three years, in the contract's form. */
const INSTANTS = Array.from({ length: 97 }, (_, i) => new Date(Date.UTC(2024, 0, 1) + i * 973_421_777).toISOString());
