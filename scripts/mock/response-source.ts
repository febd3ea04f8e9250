import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Example, Json, Operation } from '../../src/api/document.ts';
import { firstValid, narrowed } from './generated-data.ts';
import { createPrism, type Shown } from './prism-responses.ts';

export type Asked = {
  readonly operation: Operation;
  readonly status: number;
  /** The name of one of the contract's examples, which is then shown as it stands. */
  readonly example?: string | undefined;
  /** Generated data is the same for the same address. */
  readonly address: string;
};

/** Where the mock's answers come from, by way of Prism: the contract's examples or, with a seed, generated data. */
export type Source = (asked: Asked) => Promise<Shown>;

export async function createSource(
  document: Json,
  { ajv, seed }: { ajv: Ajv2020; seed: string | undefined },
): Promise<Source> {
  const show = await createPrism(document);
  const fromExamples: Source = ({ operation: { operationId }, status, example }) =>
    show({ operationId, status, example });
  if (seed === undefined) return fromExamples;

  const generate = await createPrism(narrowed(document));
  return async (asked) => {
    const { operation, status, example, address } = asked;
    const schema = schemaOf(operation, status);
    if (example !== undefined || schema === undefined) return fromExamples(asked);
    const { operationId } = operation;
    const made = await firstValid(ajv.compile(schema), (attempt) =>
      generate({ operationId, status, seed: `${seed} ${status} ${address} ${attempt}` }),
    );
    return made ?? fromExamples(asked);
  };
}

/** Undefined: the answer has no body. */
export function schemaOf({ responses }: Operation, status: number): Json | undefined {
  return responses[status]?.content?.['application/json']?.schema;
}

/** By name, in the contract's order. */
export function examplesOf({ responses }: Operation, status: number): [string, Example][] {
  return Object.entries(responses[status]?.content?.['application/json']?.examples ?? {});
}

export function statusesOf({ responses }: Operation): number[] {
  return Object.keys(responses)
    .filter((status) => /^\d{3}$/.test(status))
    .map(Number);
}

/** The lowest that the contract shows. */
export function successOf(operation: Operation): number {
  const success = statusesOf(operation).find((status) => status >= 200 && status < 300);
  if (success === undefined) throw new Error(`The contract shows no success of ${operation.operationId}.`);
  return success;
}
