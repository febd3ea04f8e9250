import type { Json, Operation } from '../../../src/contract/document.ts';
import type { Reply } from '../clients/client.ts';
import { ADDED_BY_THE_MOCK } from './contract.ts';

/** Headers that are not compared because they belong to the connection. */
const NOT_COMPARED = /^(date|connection|keep-alive|transfer-encoding)$/;
/** Headers whose value depends only on the contract or on the kind of refusal. */
const FIXED = ['content-type', 'cache-control', 'www-authenticate', 'allow', 'retry-after'];

type Sides = { readonly server: Reply; readonly mock: Reply };

/** Returns the parts of a response that must be the same for the server and the mock, whatever data they have. */
export function likeness(operation: Operation, { status, headers, body }: Reply): unknown {
  const schema = operation.responses[status]?.content?.['application/json']?.schema ?? {};
  return { status, headers: namesOf(headers), body: shapeOf(body, schema) };
}

/**
 * Like `likeness`, but for a server and a mock with the same data: the values of the FIXED headers and the text of a refusal must
 * be the same, too.
 */
export function exactLikeness(operation: Operation, reply: Reply): unknown {
  const fixed = Object.fromEntries(FIXED.map((name) => [name, reply.headers[name]]));
  const words = reply.status >= 400 ? { text: reply.text } : {};
  return { ...Object(likeness(operation, reply)), fixed, ...words };
}

/** Returns a line with the operation, the case and the two responses if the responses differ, and otherwise `null`. */
export function differenceOf(
  operation: Operation,
  what: string,
  { server, mock }: Sides,
  liken: typeof likeness,
): string | null {
  const [ofServer, ofMock] = [server, mock].map((reply) => JSON.stringify(liken(operation, reply)));
  return ofServer === ofMock
    ? null
    : `${operation.operationId}, ${what}:\n    server ${ofServer}\n    mock   ${ofMock}`;
}

function namesOf(headers: Reply['headers']): string[] {
  return Object.keys(headers)
    .filter((name) => !NOT_COMPARED.test(name) && !ADDED_BY_THE_MOCK.test(name))
    .sort();
}

/**
 * Returns the keys and types of a value. Leaves out the keys of a map, which are data. For a value that may be `null`, returns
 * the types in the schema.
 */
function shapeOf(value: unknown, schema: Json): unknown {
  const types = [schema['type']].flat();
  if (types.length > 1) return types;
  if (Array.isArray(value)) return value.slice(0, 1).map((item) => shapeOf(item, Object(schema['items'])));
  if (value === null || typeof value !== 'object') return typeof value;
  const properties = schema['properties'];
  if (properties === undefined) return 'map';
  const members = Object.entries(value).map(([name, member]) => [
    name,
    shapeOf(member, Object(properties)[name] ?? {}),
  ]);
  return Object.fromEntries(members);
}
