import type { HandlerInput, OperationHandler } from '../../src/api/operation.ts';
import { entityTagOf, matchesIfNoneMatch } from '../../src/api/response.ts';
import { isObject, type Json, type Operation } from '../../src/contract/document.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { stringifyJson } from '../../src/domain/resources/json.ts';
import type { Collection } from './data-set.ts';
import { exampleMessageOf, examplesOf, schemaOf, successOf } from './declared-responses.ts';
import { isTagFor, requireCurrent, statelessTagOf } from './operation-handler.ts';
import { readPreferences } from './prefer.ts';
import type { Store } from './store.ts';
import { emptyValueOf, schemaOfMember, uuidOf } from './written-body.ts';

type OwnIdDeps = {
  readonly operations: readonly Operation[];
  readonly collections: readonly Collection[];
  /** Returns the handler of another operation. */
  readonly handlerOf: (operation: Operation) => OperationHandler;
  readonly store: Store | undefined;
};

/**
 * Returns the path of the list and the name of the own id for a path such as "/books/by_external_id/{external_id}"; `undefined`
 * if the path contains no own id.
 */
function ownIdIn({ path }: Pick<Operation, 'path'>): { list: string; name: string } | undefined {
  const [, list, name] = /^(.*)\/by_\w+\/\{([^}]+)\}$/.exec(path) ?? [];
  return list === undefined || name === undefined ? undefined : { list, name };
}

/** Returns whether the path of the operation identifies an item by the client's own id. */
export function isByOwnId(operation: Pick<Operation, 'path'>): boolean {
  return ownIdIn(operation) !== undefined;
}

/**
 * Creates the handler of an operation whose path identifies an item by the client's own id. It calls the handlers that create an
 * item, or that identify an item by its id. Without a store, it responds as if every item existed.
 */
export function createOwnIdHandler(operation: Operation, deps: OwnIdDeps): OperationHandler {
  const { operations, collections, handlerOf, store } = deps;
  const { list = '', name = '' } = ownIdIn(operation) ?? {};
  const handlerFor = (method: string, path: string) => {
    const found = operations.find((each) => each.method === method && each.path === path);
    if (found === undefined)
      throw new Error(`The mock cannot serve ${operation.operationId} without ${method} ${path}.`);
    return handlerOf(found);
  };
  const examples = collections.find(({ path }) => path === list);
  const find = (ownId: string) => {
    const items = store?.itemsOf(list) ?? [...(examples?.items ?? []), ...(examples?.examples.values() ?? [])];
    const found = items.find((item) => item[name] === ownId);
    return { found, id: String(found?.['id'] ?? uuidOf(`${list} ${ownId}`)) };
  };

  if (operation.method !== 'put') {
    const respond = handlerFor(operation.method, `${list}/{id}`);
    return async (input) => {
      const ownId = input.path[name] ?? '';
      const { found, id } = find(ownId);
      if (found === undefined && store !== undefined)
        throw new DomainError('not_found', exampleMessageOf(operation, 404) ?? '');
      const response = await respond({ ...input, path: { id }, headers: withoutExample(input.headers) });
      if (store !== undefined || !isObject(response.body)) return response;
      const item = { ...response.body, [name]: ownId };
      return { ...response, body: item, entityTag: statelessTagOf(item) };
    };
  }

  const [create, update] = [handlerFor('post', list), handlerFor('patch', `${list}/{id}`)];
  return async (input) => {
    const ownId = input.path[name] ?? '';
    const sent = isObject(input.body) ? input.body : {};
    const body = { ...sent, [name]: ownId };
    // Removes the Prefer header. The header names a response of this operation, and the operations that are called next may not
    // have that response.
    const { prefer: _prefer, ...headers } = input.headers;
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
    const { found, id } = find(ownId);
    if (found === undefined && store !== undefined) {
      if (ifMatch !== undefined) throw unmetError(operation, 'without If-Match');
      return create({ ...input, headers, path: {}, body });
    }
    const made = found === undefined ? await create({ ...input, headers, path: {}, body }) : undefined;
    const isCurrent = (tag: string) =>
      store === undefined ? isTagFor(id, tag) : tag === entityTagOf(stringifyJson(found));
    if (matchesIfNoneMatch(ifNoneMatch, isCurrent)) throw unmetError(operation, 'without If-None-Match');
    if (made !== undefined) {
      requireCurrent(operation, ifMatch, isCurrent);
      const item = { ...Object(made.body), id };
      return { status: successOf(operation), headers: {}, body: item, entityTag: statelessTagOf(item) };
    }
    return update({ ...input, headers, path: { id }, body: patchTo(body, { operation, current: found ?? {} }) });
  };
}

/** Returns the headers without the name of an example, because the operation that is called may not have that example. */
function withoutExample({ prefer, ...headers }: HandlerInput['headers']): HandlerInput['headers'] {
  const { dynamic } = readPreferences(prefer);
  return dynamic === undefined ? headers : { ...headers, prefer: `dynamic=${dynamic}` };
}

/** Returns the merge patch that gives the current item exactly this content. */
function patchTo(content: Json, { operation, current }: { operation: Operation; current: Json }): Json {
  const schema = schemaOf(operation, successOf(operation)) ?? {};
  const writable = operation.requestBody?.content['application/json']?.schema.properties ?? {};
  const fields = Object.keys(writable).map((field): [string, unknown] => {
    const value = content[field] ?? emptyValueOf(schemaOfMember(schema, field) ?? {});
    const before = current[field];
    if (!isObject(value) || !isObject(before)) return [field, value];
    const removed = Object.keys(before).map((entry) => [entry, null] as const);
    return [field, { ...Object.fromEntries(removed), ...value }];
  });
  return { ...content, ...Object.fromEntries(fields) };
}

/** Returns the contract's 412 whose message contains these words. */
function unmetError(operation: Operation, words: string): DomainError {
  const messages = examplesOf(operation, 412).map(([, { value }]) => String(Object(value).message));
  return new DomainError('precondition_failed', messages.find((message) => message.includes(words)) ?? words);
}
