import type { Ajv2020 } from 'ajv/dist/2020.js';
import { isObject, type Json, type Operation, type Schema } from '../../src/api/document.ts';
import type { HandlerInput, HandlerResult, OperationHandler } from '../../src/api/operation.ts';
import type { Collection } from './collection.ts';
import { schemaOf, successOf } from './declared-responses.ts';
import { entityTagOf, refuseStale } from './entity-tags.ts';
import { linkTo, pageOf } from './list-page.ts';
import { schemaOfMember } from './merge-patch.ts';
import { preferenceOf } from './prefer.ts';
import type { PrismResponse } from './prism-responses.ts';
import type { ResponseSource } from './response-source.ts';
import { createdBody, throwInvalid, updatedBody } from './written-body.ts';

/** Rendering and sending add these to every response. */
const ADDED_HEADERS = new Set([
  'x-request-id',
  'cache-control',
  'etag',
  'content-type',
  'ratelimit-policy',
  'ratelimit',
]);

export type HandlerDeps = {
  readonly ajv: Ajv2020;
  readonly source: ResponseSource;
  readonly collections: readonly Collection[];
};

/** Responds to a valid request with the operation's success. */
export function createHandler(operation: Operation, { ajv, source, collections }: HandlerDeps): OperationHandler {
  const status = successOf(operation);
  const schema = schemaOf(operation, status);
  const validate = ajv.compile(schema ?? true);
  const collection = collections.find(({ path }) => path === operation.path.replace(/\/\{[^}]+\}$/, ''));
  const isList = operation.method === 'get' && collection?.path === operation.path;

  return async (input) => {
    const id = canonical(Object.values(input.path).at(-1) ?? '');
    refuseStale(operation, input.headers['if-match'], id);
    const example = preferenceOf(input.headers['prefer'], operation)?.example;
    const seedText = `${operation.operationId} ${JSON.stringify(input.path)}`;
    const { headers, body } = await source({ operation, status, example, seedText });
    const path = pathOf(operation, input);
    if (schema === undefined) return resultOf(path, status, { headers, body: null });
    if (collection !== undefined && isList) {
      const called = { path, query: input.query };
      const page =
        example === undefined ? pageOf(collection, called) : { body, headers: linkTo(called, nextCursorOf(body)) };
      const { Link: _exampleLink, ...otherHeaders } = headers;
      return resultOf(path, status, { headers: { ...otherHeaders, ...page.headers }, body: page.body });
    }
    // An example that the request names is sent as it is.
    if (example !== undefined || !isObject(body)) return resultOf(path, status, { headers, body });
    const item = collection?.items.find((each) => each['id'] === id) ?? withPathParameters(body, input, schema);
    const changed = isObject(input.body) ? changedBody(item, { operation, sent: input.body, schema }) : item;
    if (!validate(changed)) throwInvalid(validate.errors);
    return resultOf(path, status, { headers, body: changed });
  };
}

function resultOf(path: string, status: number, { headers: given, body }: PrismResponse): HandlerResult {
  const headers = Object.fromEntries(Object.entries(given).filter(([name]) => !ADDED_HEADERS.has(name.toLowerCase())));
  if ('Location' in headers && isObject(body)) headers['Location'] = `${path}/${body['id']}`;
  return { status, headers, body, ...(body !== null && { entityTag: entityTagOf(body) }) };
}

function nextCursorOf(body: unknown): unknown {
  return isObject(body) && isObject(body['page']) ? body['page']['next_cursor'] : null;
}

function pathOf({ path }: Operation, input: HandlerInput): string {
  return path.replace(/\{([^}]+)\}/g, (_, name) => encodeURIComponent(input.path[name] ?? ''));
}

/** The example with the id of the URL. */
function withPathParameters(example: Json, { path }: HandlerInput, schema: Schema): Json {
  const members = Object.entries(path).filter(([name]) => schemaOfMember(schema, name) !== undefined);
  return { ...example, ...Object.fromEntries(members.map(([name, value]) => [name, canonical(value)])) };
}

/** A UUID may be sent in capitals; responses have it in lower case. */
function canonical(value: string): string {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value) ? value.toLowerCase() : value;
}

function changedBody(current: Json, write: { operation: Operation; sent: Json; schema: Schema }): Json {
  return write.operation.method === 'post' ? createdBody(current, write) : updatedBody(current, write);
}
