import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, Operation } from '../../src/api/document.ts';
import type { HandlerInput, HandlerResult, OperationHandler } from '../../src/api/operation.ts';
import type { Collection } from './collection.ts';
import { entityTagOf, refuseStale } from './entity-tags.ts';
import { isObject, schemaOfMember } from './json-schema.ts';
import { type Called, linkOf, pageOf } from './list-page.ts';
import { preferenceOf } from './prefer.ts';
import type { Shown } from './prism-responses.ts';
import { type Source, schemaOf, successOf } from './response-source.ts';
import { created, refuseInvalid, updated } from './written-body.ts';

/** The server's router gives these to every answer; Prism's are of another one. */
const OF_THE_ROUTER = new Set(['x-request-id', 'cache-control', 'etag', 'content-type']);

export type HandlerDeps = {
  readonly ajv: Ajv2020;
  readonly source: Source;
  readonly collections: readonly Collection[];
};

/** The success of the operation, for every request that the server's own code has let through. */
export function createHandler(operation: Operation, { ajv, source, collections }: HandlerDeps): OperationHandler {
  const status = successOf(operation);
  const schema = schemaOf(operation, status);
  const validate = ajv.compile(schema ?? true);
  const list = collections.find(({ path }) => operation.method === 'get' && path === operation.path);
  const collection = collections.find(({ path }) => operation.path.replace(/\/\{[^}]+\}$/, '') === path);

  return async (input) => {
    const id = canonical(Object.values(input.path).at(-1) ?? '');
    refuseStale(operation, input.headers['if-match'], id);
    const example = preferenceOf(input.headers['prefer'], operation)?.example;
    const address = `${operation.operationId} ${JSON.stringify(input.path)}`;
    const shown = await source({ operation, status, example, address });
    const path = pathOf(operation, input);
    if (schema === undefined) return resultOf(path, status, { ...shown, body: null });
    if (list !== undefined) {
      const called = { path, query: input.query };
      const page = example === undefined ? pageOf(list, called) : examplePage(called, shown.body);
      return resultOf(path, status, relinked(shown, page));
    }
    // An example that was asked for is shown as it stands.
    if (example !== undefined || !isObject(shown.body)) return resultOf(path, status, shown);
    const current = collection?.items.find((item) => item['id'] === id) ?? placed(shown.body, input, schema);
    const body = written(current, { operation, sent: input.body, schema });
    if (!validate(body)) refuseInvalid(validate.errors);
    return resultOf(path, status, { ...shown, body });
  };
}

function resultOf(path: string, status: number, { headers: given, body }: Shown): HandlerResult {
  const headers = Object.fromEntries(Object.entries(given).filter(([name]) => !OF_THE_ROUTER.has(name.toLowerCase())));
  if ('Location' in headers && isObject(body)) headers['Location'] = `${path}/${body['id']}`;
  return { status, headers, body, ...(body !== null && { entityTag: entityTagOf(body) }) };
}

/** The example's link leads from the example's page. */
function relinked({ headers: { Link: _, ...others } }: Shown, { headers, body }: Shown): Shown {
  return { headers: { ...others, ...headers }, body };
}

function examplePage(called: Called, body: unknown): Shown {
  const page = isObject(body) ? body['page'] : undefined;
  return { body, headers: linkOf(called, isObject(page) ? page['next_cursor'] : null) };
}

function pathOf({ path }: Operation, input: HandlerInput): string {
  return path.replace(/\{([^}]+)\}/g, (_, name) => encodeURIComponent(input.path[name] ?? ''));
}

/** The example at the address that was called. */
function placed(example: Json, { path }: HandlerInput, schema: Json): Json {
  const own = Object.entries(path).filter(([name]) => schemaOfMember(schema, name) !== undefined);
  return { ...example, ...Object.fromEntries(own.map(([name, value]) => [name, canonical(value)])) };
}

/** A UUID is the same in capitals; the answer has it in small letters. */
function canonical(value: string): string {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value) ? value.toLowerCase() : value;
}

function written(
  current: Json,
  { operation, sent, schema }: { operation: Operation; sent: unknown; schema: Json },
): Json {
  if (!isObject(sent)) return current;
  const write = { operation, sent, schema };
  return operation.method === 'post' ? created(current, write) : updated(current, write);
}
