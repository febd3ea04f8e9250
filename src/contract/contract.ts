import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Document } from 'openapi-backend';

const DOCUMENT = new URL('../../generated/openapi.json', import.meta.url);

export type { Document };
/** The document as it is published. */
export async function readDocument(): Promise<Document> {
  return JSON.parse(await readFile(DOCUMENT, 'utf8'));
}

/**
 * JSON Schema 2020-12 with formats, as OpenAPI 3.1 has it; openapi-backend's own Ajv is draft-07 without formats. Nothing is
 * coerced: coercion would take 0x10 and 1e1 for integers, which the query reader does not.
 */
export function createAjv(): Ajv2020 {
  // Checking the schemas against JSON Schema's own takes a fifth of the start; lint and a test have done so.
  const validateSchema = false;
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: false, useDefaults: true, validateSchema });
  formats.default(ajv);
  return ajv;
}
