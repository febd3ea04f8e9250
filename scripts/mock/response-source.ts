import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Operation } from '../../src/contract/document.ts';
import { examplesOf, headersOf, schemaOf } from './declared-responses.ts';
import { generate } from './generated-data.ts';

/** The first example of each header, and a body; `undefined` if the response has none. */
export type ContractResponse = { readonly headers: Readonly<Record<string, string>>; readonly body: unknown };

export type ResponseQuery = {
  readonly operation: Operation;
  readonly status: number;
  /** The name of one of the contract's examples. If it is omitted, the first one or, with a seed, generated data. */
  readonly example?: string | undefined;
  /** The same text gets the same generated data. */
  readonly seedText: string;
};

/** Finds the data of the mock's responses: the contract's examples or, with a seed, data that its schemas allow. */
export type ResponseSource = (query: ResponseQuery) => ContractResponse;

export function createResponseSource({ ajv, seed }: { ajv: Ajv2020; seed: string | undefined }): ResponseSource {
  return ({ operation, status, example, seedText }) => {
    const headers = headersOf(operation, status);
    const schema = schemaOf(operation, status);
    const examples = examplesOf(operation, status);
    const isGenerated = seed !== undefined && example === undefined && schema !== undefined;
    const generated = isGenerated
      ? generate(schema, {
          seed: `${seed} ${operation.operationId} ${status} ${seedText}`,
          validate: ajv.compile(schema),
        })
      : undefined;
    const [, shown] = examples.find(([name]) => example === undefined || name === example) ?? [];
    return { headers, body: generated ?? shown?.value };
  };
}
