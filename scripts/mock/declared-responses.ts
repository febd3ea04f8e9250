// The responses that the contract declares for an operation.
import { type Example, isObject, type Operation, type Schema } from '../../src/contract/document.ts';

/** `undefined` if the response has no body. */
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

/**
 * The `message` of the first example that names what the path is about, or else of the first example. Resources share responses,
 * which have an example for each. Undefined if the operation does not have the status.
 */
export function exampleMessageOf(operation: Operation, status: number): string | undefined {
  const messages = examplesOf(operation, status).map(([, { value }]) =>
    isObject(value) ? String(value['message']) : '',
  );
  const noun = nounOf(operation);
  return messages.find((message) => message.includes(` ${noun} `)) ?? messages[0];
}

/** "parent program" for "/api/parent_programs/{id}". */
function nounOf({ path }: Operation): string {
  const [list = ''] = path.split('/{');
  return list
    .slice(list.lastIndexOf('/') + 1)
    .replace(/s$/, '')
    .replaceAll('_', ' ');
}

/** The first example of each header. */
export function headersOf({ responses }: Operation, status: number): Record<string, string> {
  const headers = Object.entries(responses[status]?.headers ?? {}).flatMap(([name, { examples }]) => {
    const [first] = Object.values(examples);
    return first === undefined ? [] : [[name, String(first.value)] as const];
  });
  return Object.fromEntries(headers);
}
