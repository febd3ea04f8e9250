import { hash } from 'node:crypto';
import type { ValidateFunction } from 'ajv';
import { JSONSchemaFaker } from 'json-schema-faker';
import { isObject, type Schema } from '../../src/contract/document.ts';

/** Most generated data is valid; for a difficult schema, one of the first attempts is. */
const MAX_ATTEMPTS = 20;
const MAX_PROPERTIES = 4;

const FIRST_MS = Date.UTC(2024, 0, 1);
const RANGE_MS = 3 * 365 * 24 * 3_600_000;

/** The first generated value that the schema allows, the same for the same seed; `undefined` if there was none. */
export function generate(schema: Schema, { seed, validate }: { seed: string; validate: ValidateFunction }): unknown {
  const narrow = narrowed(schema);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    JSONSchemaFaker.option({ alwaysFakeOptionals: true, maxItems: 10, random: randomOf(`${seed} ${attempt}`) });
    JSONSchemaFaker.format('instant', () => {
      return new Date(FIRST_MS + JSONSchemaFaker.random.number(0, RANGE_MS)).toISOString();
    });
    const value = JSONSchemaFaker.generate(narrow);
    if (validate(value)) return value;
  }
  return undefined;
}

/**
 * The schema for the generator. By itself, the generator writes instants without milliseconds and in any year, adds members
 * wherever a schema allows them, as those of responses do, and more of them than a high `maxProperties` allows.
 */
function narrowed(schema: Schema): object {
  return JSON.parse(JSON.stringify(schema), (_, node) => {
    if (!isObject(node)) return node;
    if (node['format'] === 'date-time') return { type: node['type'], format: 'instant' };
    if (isObject(node['properties'])) node['additionalProperties'] ??= false;
    if (Number(node['maxProperties']) > MAX_PROPERTIES) node['maxProperties'] = MAX_PROPERTIES;
    return node;
  });
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32): the generator takes thousands for an item. */
function randomOf(seed: string): () => number {
  let state = Number.parseInt(hash('sha256', seed).slice(0, 8), 16);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
