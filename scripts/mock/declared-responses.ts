import { type Example, isObject, type Operation, type Schema } from '../../src/contract/document.ts';

/** Returns the schema of the response's body; `undefined` if the response has no body. */
export function schemaOf({ responses }: Operation, status: number): Schema | undefined {
  return responses[status]?.content?.['application/json']?.schema;
}

/** Returns the examples of the response with their names, in the contract's order. */
export function examplesOf({ responses }: Operation, status: number): [string, Example][] {
  return Object.entries(responses[status]?.content?.['application/json']?.examples ?? {});
}

export function statusesOf({ responses }: Operation): number[] {
  return Object.keys(responses)
    .filter((status) => /^\d{3}$/.test(status))
    .map(Number);
}

/** Returns the lowest 2xx status of the operation. */
export function successOf(operation: Operation): number {
  const success = statusesOf(operation).find((status) => status >= 200 && status < 300);
  if (success === undefined) throw new Error(`The contract declares no success of ${operation.operationId}.`);
  return success;
}

/**
 * Returns the `message` of the first example that names the resource in the path, or of the first example if no example names the
 * resource. A response that several resources share has an example for each resource. Returns `undefined` if the operation does
 * not have the status.
 */
export function exampleMessageOf(operation: Operation, status: number): string | undefined {
  const messages = examplesOf(operation, status).map(([, { value }]) =>
    isObject(value) ? String(value['message']) : '',
  );
  const noun = nounOf(operation);
  return messages.find((message) => message.includes(` ${noun} `)) ?? messages[0];
}

/** Returns the name of the resource, such as "parent program" for "/api/parent_programs/{id}". */
function nounOf({ path }: Operation): string {
  const [list = ''] = path.split('/{');
  return list
    .slice(list.lastIndexOf('/') + 1)
    .replace(/s$/, '')
    .replaceAll('_', ' ');
}

/** Returns the first example of each header. */
export function headersOf({ responses }: Operation, status: number): Record<string, string> {
  const headers = Object.entries(responses[status]?.headers ?? {}).flatMap(([name, { examples }]) => {
    const [first] = Object.values(examples);
    return first === undefined ? [] : [[name, String(first.value)] as const];
  });
  return Object.fromEntries(headers);
}
