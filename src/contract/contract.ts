import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Document } from 'openapi-backend';

const DOCUMENT = new URL('../../generated/openapi.json', import.meta.url);

export type { Document };
/** Reads the published contract. */
export async function readDocument(): Promise<Document> {
  return JSON.parse(await readFile(DOCUMENT, 'utf8'));
}

/**
 * Creates an Ajv for JSON Schema 2020-12 with formats, as OpenAPI 3.1 requires. openapi-backend's own Ajv supports draft-07
 * without formats. Types are not coerced, because coercion would accept 0x10 and 1e1 as integers, which the query string parser
 * does not.
 */
export function createAjv(): Ajv2020 {
  // Validating the schemas against the JSON Schema meta-schema would take a fifth of the startup time. The linter and a test do
  // it.
  const validateSchema = false;
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: false, useDefaults: true, validateSchema });
  formats.default(ajv);
  return ajv;
}
