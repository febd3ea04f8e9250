// The responses that the contract declares for an operation.
import { type Example, isObject, type Operation, type Schema } from '../../src/contract/document.ts';

/** Undefined: the response has no body. */
export function schemaOf({ responses }: Operation, status: number): Schema | undefined {
  return responses[status]?.content?.['application/json']?.schema;
}

/** Names and examples, in the contract's order. */
export function examplesOf({ responses }: Operation, status: number): [string, Example][] {
  return Object.entries(responses[status]?.content?.['application/json']?.examples ?? {});
}

export function statusesOf({ responses }: Operation): number[] {
  return Object.keys(responses)
    .filter((status) => /^\d{3}$/.test(status))
    .map(Number);
}

/** The lowest 2xx status. */
export function successOf(operation: Operation): number {
  const success = statusesOf(operation).find((status) => status >= 200 && status < 300);
  if (success === undefined) throw new Error(`The contract declares no success of ${operation.operationId}.`);
  return success;
}

/** The `message` of the first example; undefined: the operation does not have the status. */
export function exampleMessageOf(operation: Operation, status: number): string | undefined {
  const [first] = examplesOf(operation, status);
  if (first === undefined) return undefined;
  const [, { value }] = first;
  return isObject(value) ? String(value['message']) : '';
}
