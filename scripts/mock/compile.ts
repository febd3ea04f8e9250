import type { ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Schema } from '../../src/contract/document.ts';

/** Compiles the schema when it is first used: to compile all of them takes most of the start. */
export function compileLater(ajv: Ajv2020, schema: Schema | true): () => ValidateFunction {
  let validate: ValidateFunction | undefined;
  return () => {
    validate ??= ajv.compile(schema);
    return validate;
  };
}
