import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, Operation } from '../../src/contract/document.ts';
import { schemaOf } from './declared-responses.ts';
import { firstValid, narrowSchemas } from './generated-data.ts';
import { createPrismResponses, type PrismResponse } from './prism-responses.ts';

export type ResponseQuery = {
  readonly operation: Operation;
  readonly status: number;
  /** The name of one of the contract's examples. If it is omitted, the first one or, with a seed, generated data. */
  readonly example?: string | undefined;
  /** The same text gets the same generated data. */
  readonly seedText: string;
};

/** Finds the data of the mock's responses: the contract's examples or, with a seed, data that its schemas allow. */
export type ResponseSource = (query: ResponseQuery) => Promise<PrismResponse>;

export async function createResponseSource(
  document: Json,
  { ajv, seed }: { ajv: Ajv2020; seed: string | undefined },
): Promise<ResponseSource> {
  const find = await createPrismResponses(document);
  const findExample: ResponseSource = ({ operation: { operationId }, status, example }) =>
    find({ operationId, status, example });
  if (seed === undefined) return findExample;

  const generate = await createPrismResponses(narrowSchemas(document));
  return async (query) => {
    const { operation, status, example, seedText } = query;
    const schema = schemaOf(operation, status);
    if (example !== undefined || schema === undefined) return findExample(query);
    const { operationId } = operation;
    const generated = await firstValid(ajv.compile(schema), (attempt) =>
      generate({ operationId, status, seed: `${seed} ${status} ${seedText} ${attempt}` }),
    );
    return generated ?? findExample(query);
  };
}
