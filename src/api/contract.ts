import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type Document, OpenAPIBackend } from 'openapi-backend';

const DOCUMENT = new URL('../../generated/openapi.json', import.meta.url);

export type { Document };
export type Contract = OpenAPIBackend<Document>;

/** The document as it is published. */
export async function readDocument(): Promise<Document> {
  return JSON.parse(await readFile(DOCUMENT, 'utf8'));
}

/** The contract, owned by openapi-backend, which resolves it, finds its operations and builds their validators. */
export async function loadContract(definition?: Document): Promise<Contract> {
  const contract = new OpenAPIBackend({
    definition: definition ?? (await readDocument()),
    // It would check a 3.1 document against 3.0's schema; `npm run generate` has linted it.
    quick: true,
    customizeAjv: createAjv,
  });
  return contract.init();
}

/** OpenAPI 3.1's JSON Schema. Nothing is coerced: the query reader knows an integer from what only looks like one. */
export function createAjv(): Ajv2020 {
  // To hold the schemas themselves against JSON Schema's takes a fifth of the start; lint and a test have done so.
  const validateSchema = false;
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: false, useDefaults: true, validateSchema });
  formats.default(ajv);
  return ajv;
}
