import { hash } from 'node:crypto';
import type { ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { HandlerInput, OperationHandler } from '../../src/api/operation.ts';
import { type HandlerResult, requireIfMatch } from '../../src/api/response.ts';
import { isObject, type Json, type Operation, type Schema } from '../../src/contract/document.ts';
import { type ContractResponse, collectionOf, type DataSet, findItem } from './data-set.ts';
import { exampleMessageOf, schemaOf, successOf } from './declared-responses.ts';
import { linkTo, pageOf } from './list-page.ts';
import type { OwnBodies } from './overrides.ts';
import { preferenceOf } from './prefer.ts';
import { bodyOfCreation, bodyOfUpdate, requireValid, schemaOfMember } from './written-body.ts';

type HandlerDeps = { readonly ajv: Ajv2020; readonly data: DataSet; readonly ownBodies: OwnBodies };

/** Creates a handler that responds to a valid request with the operation's success, and stores nothing. */
export function createHandler(operation: Operation, { ajv, data, ownBodies }: HandlerDeps): OperationHandler {
  const { source, collections } = data;
  const status = successOf(operation);
  const schema = schemaOf(operation, status);
  const compiled = compileLater(ajv, schema ?? true);
  const collection = collectionOf(operation, collections);
  const isList = operation.method === 'get' && collection?.path === operation.path;
  const respond = (path: string, response: { headers: Readonly<Record<string, string>>; body: unknown }) => {
    const tag = response.body === null ? {} : { entityTag: statelessTagOf(response.body) };
    return { ...resultOf(path, status, response), ...tag };
  };

  return async (input) => {
    const id = idIn(input);
    requireCurrent(operation, input.headers['if-match'], (tag) => isTagFor(id, tag));
    const example = preferenceOf(input.headers['prefer'], operation)?.example;
    const seedText = `${operation.operationId} ${JSON.stringify(input.path)}`;
    const own = ownBodies.find(input.headers);
    const found = source({ operation, status, example, seedText });
    const { headers, body } = { ...found, ...own };
    const isChosen = example !== undefined || own !== undefined;
    const path = pathOf(operation, input);
    if (schema === undefined) return respond(path, { headers, body: null });
    if (collection !== undefined && isList) {
      const called = { path, query: input.query };
      const page = isChosen
        ? { body, headers: linkTo(called, nextCursorOf(body)) }
        : pageOf(collection.items, called, collection);
      const { Link: _exampleLink, ...otherHeaders } = headers;
      return respond(path, { headers: { ...otherHeaders, ...page.headers }, body: page.body });
    }
    // An example that the request names, or a body that was given to the mock, is sent unchanged.
    if (isChosen || !isObject(body)) return respond(path, { headers, body });
    const item = (collection && findItem(collection, id)) ?? withPathParameters(body, input, schema);
    const changed = isObject(input.body) ? bodyOfChange(item, { operation, sent: input.body, schema }) : item;
    requireValid(changed, compiled());
    return respond(path, { headers, body: changed });
  };
}

/** Returns the next cursor in the body of a page; `null` if the page is the last one. */
function nextCursorOf(body: unknown): unknown {
  const page = isObject(body) && isObject(body['page']) ? body['page'] : {};
  return page['has_more'] === false ? null : page['next_cursor'];
}

/** Returns the example with the values of the path parameters, such as the id. */
function withPathParameters(example: Json, { path }: HandlerInput, schema: Schema): Json {
  const members = Object.entries(path).filter(([name]) => schemaOfMember(schema, name) !== undefined);
  return { ...example, ...Object.fromEntries(members.map(([name, value]) => [name, canonicalId(value)])) };
}

function bodyOfChange(current: Json, write: { operation: Operation; sent: Json; schema: Schema }): Json {
  return write.operation.method === 'post' ? bodyOfCreation(current, write) : bodyOfUpdate(current, write);
}

/** Headers that the server's own code adds to every response. */
const ADDED_HEADERS = new Set([
  'x-request-id',
  'cache-control',
  'etag',
  'content-type',
  'ratelimit-policy',
  'ratelimit',
]);

/**
 * Returns the result of a handler. `path` is the operation's path with its parameters filled in. `body` is `null` if the response
 * has no body.
 */
export function resultOf(path: string, status: number, { headers: given, body }: ContractResponse): HandlerResult {
  const headers = Object.fromEntries(Object.entries(given).filter(([name]) => !ADDED_HEADERS.has(name.toLowerCase())));
  if ('Location' in headers && isObject(body)) headers['Location'] = `${path}/${body['id']}`;
  return { status, headers, body };
}

export function pathOf({ path }: Operation, input: HandlerInput): string {
  return path.replace(/\{([^}]+)\}/g, (_, name) => encodeURIComponent(input.path[name] ?? ''));
}

/** Returns the last parameter of the path; an empty string if the path has no parameters. */
export function idIn({ path }: HandlerInput): string {
  return canonicalId(Object.values(path).at(-1) ?? '');
}

/** Returns a UUID in lower case, as in responses. Requests may contain UUIDs in upper case. */
function canonicalId(value: string): string {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value) ? value.toLowerCase() : value;
}

// Without --stateful, the mock stores nothing, but a client must be able to use the ETag of one change in the next change. The
// ETag therefore proves that the mock made the ETag for this id: its first half is a hash of the content, its second half a hash
// of the first half and the id. All other ETags are treated as stale.

const HALF_CHARACTERS = 11;

/** Returns the ETag of a body that the mock does not store. */
export function statelessTagOf(body: unknown): string {
  const content = hash('sha256', JSON.stringify(body), 'base64url').slice(0, HALF_CHARACTERS);
  const id = isObject(body) && 'id' in body ? String(body['id']) : '';
  return `"${content}${proofOf(content, id)}"`;
}

/** Throws the contract's 412 unless an ETag in If-Match is current. Does nothing if the operation has no 412. */
export function requireCurrent(
  operation: Operation,
  ifMatch: string | undefined,
  isCurrent: (entityTag: string) => boolean,
): void {
  const message = exampleMessageOf(operation, 412);
  if (message !== undefined) requireIfMatch(ifMatch, isCurrent, message);
}

export function isTagFor(id: string, tag: string): boolean {
  const text = tag.slice(1, -1);
  return text.slice(HALF_CHARACTERS) === proofOf(text.slice(0, HALF_CHARACTERS), id);
}

function proofOf(content: string, id: string): string {
  return hash('sha256', `${content} ${id}`, 'base64url').slice(0, HALF_CHARACTERS);
}

/**
 * Returns a function that compiles the schema at its first call. Compiling all schemas at once would take most of the startup
 * time.
 */
export function compileLater(ajv: Ajv2020, schema: Schema | true): () => ValidateFunction {
  let validate: ValidateFunction | undefined;
  return () => {
    validate ??= ajv.compile(schema);
    return validate;
  };
}
