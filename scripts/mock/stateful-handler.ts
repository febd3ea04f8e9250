import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import { v7 as newId } from 'uuid';
import type { HandlerInput, OperationHandler } from '../../src/api/operation.ts';
import { entityTagOf, type HandlerResult } from '../../src/api/response.ts';
import { isObject, type Json, type Operation } from '../../src/contract/document.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { canonicalJson, stringifyJson } from '../../src/domain/resources/json.ts';
import { actionOn, type Collection, type ContractResponse, collectionOf, type DataSet } from './data-set.ts';
import { exampleMessageOf, schemaOf, successOf } from './declared-responses.ts';
import { pageOf } from './list-page.ts';
import { compileLater, idIn, pathOf, requireCurrent, resultOf } from './operation-handler.ts';
import { type Change, recordEvent, removeWithReferring, requireReferences, type Store, UniqueField } from './store.ts';
import { bodyOfCreation, bodyOfUpdate, requireValid } from './written-body.ts';

type StatefulDeps = {
  readonly ajv: Ajv2020;
  readonly data: DataSet;
  readonly store: Store;
  readonly now: () => Date;
  /** The handler of an operation that neither reads nor changes the store. */
  readonly stateless: OperationHandler;
};

/** An operation on a collection in the store. */
type Kept = Pick<StatefulDeps, 'store' | 'now' | 'stateless'> & {
  readonly operation: Operation;
  readonly collections: readonly Collection[];
  readonly collection: Collection;
  /** The path of the collection's list. */
  readonly list: string;
  readonly compiled: () => ValidateFunction;
  /** Returns the first example of the operation's success, with its headers. */
  readonly example: () => ContractResponse;
};

type Action = (input: HandlerInput, kept: Kept) => Promise<HandlerResult>;

/**
 * Creates the handler of an operation that reads or changes a collection in the store. Returns `stateless` for any other
 * operation.
 */
export function createStatefulHandler(operation: Operation, deps: StatefulDeps): OperationHandler {
  const { ajv, data, store, now, stateless } = deps;
  const { collections } = data;
  const collection = collectionOf(operation, collections);
  const action = collection === undefined ? undefined : handlerOf(operation, collection.path);
  if (collection === undefined || action === undefined) return stateless;
  const status = successOf(operation);
  const compiled = compileLater(ajv, schemaOf(operation, status) ?? true);
  let found: ContractResponse | undefined;
  const example = () => {
    found ??= data.source({ operation, status, seedText: '' });
    return found;
  };
  const kept = { operation, collections, collection, list: collection.path, store, now, stateless, compiled, example };
  return (input) => action(input, kept);
}

function handlerOf(operation: Operation, list: string): Action | undefined {
  const { method, path } = operation;
  if (actionOn(operation) !== undefined) return applyAction;
  if (path === list) return { get: listItems, post: createItem }[method];
  return { get: getItem, patch: updateItem, delete: deleteItem }[method];
}

const listItems: Action = async (input, kept) => {
  const { operation, store, list, collection } = kept;
  const page = pageOf(store.itemsOf(list), { path: pathOf(operation, input), query: input.query }, collection);
  return resultOf('', successOf(operation), page);
};

const getItem: Action = async (input, kept) => respond(input, kept, getCurrent(input, kept));

const createItem: Action = async (input, kept) => {
  const { operation, store, list, now, compiled } = kept;
  const { body: example } = kept.example();
  const schema = schemaOf(operation, successOf(operation)) ?? {};
  const sent = isObject(input.body) ? input.body : {};
  const content = bodyOfCreation(isObject(example) ? example : {}, { operation, sent, schema });
  const request = `${operation.operationId} ${canonicalJson({ ...content, id: null })}`;
  const idempotencyKey = idempotencyKeyOf(input, operation);
  const before = store.findCreation(idempotencyKey, request);
  if (before !== undefined) return respond(input, kept, before);

  requireReferences(content, operation, kept);
  requireUnique(content, kept);
  const at = now();
  const time = at.toISOString();
  const item = replaceMembers(content, { id: newId(), created_at: time, updated_at: time });
  requireValid(item, compiled());
  store.put(list, item);
  recordEvent(kept, list, { kind: 'created', item, at });
  store.recordCreation(idempotencyKey, { request, item });
  return respond(input, kept, item);
};

const updateItem: Action = async (input, kept) => {
  const { operation } = kept;
  const current = getCurrent(input, kept);
  requireUnchanged(input, kept, current);
  const schema = schemaOf(operation, successOf(operation)) ?? {};
  const changed = bodyOfUpdate(current, { operation, sent: isObject(input.body) ? input.body : {}, schema });
  return respond(
    input,
    kept,
    replaceItem({ current, changed, kind: 'updated', at: timeOfChange(current, kept.now) }, kept),
  );
};

/**
 * Applies an action to an item. Sets the fields of the request body. Also sets the fields in which the action's example differs
 * from the collection's example with the same id. If such a field is a timestamp, it becomes the time of the action, unless the
 * item already has a timestamp there. Does nothing if the action's example is not an item of the collection.
 */
const applyAction: Action = async (input, kept) => {
  const { operation, collection, now, example } = kept;
  const current = getCurrent(input, kept);
  requireUnchanged(input, kept, current);
  const { body: shown } = example();
  const before = isObject(shown) ? collection.examples.get(shown['id']) : undefined;
  if (!isObject(shown) || before === undefined) return kept.stateless(input);
  const at = timeOfChange(current, now);
  const sent = isObject(input.body) ? input.body : {};
  const schema = schemaOf(operation, successOf(operation)) ?? {};
  const fields = Object.entries(shown).filter(
    ([name, value]) =>
      !OF_EVERY_CHANGE.has(name) && !(name in sent) && canonicalJson(value) !== canonicalJson(before[name] ?? null),
  );
  const changes = fields.map(([name, value]) => {
    const isInstant = schema.properties?.[name]?.format === 'date-time' && value !== null;
    return [name, isInstant ? (current[name] ?? at.toISOString()) : value];
  });
  const changed = { ...bodyOfUpdate(current, { operation, sent, schema }), ...Object.fromEntries(changes) };
  return respond(
    input,
    kept,
    replaceItem({ current, changed, kind: { verb: actionOn(operation)?.verb ?? '' }, at }, kept),
  );
};

const OF_EVERY_CHANGE: ReadonlySet<string> = new Set(['id', 'created_at', 'updated_at']);

type Replacement = { readonly current: Json; readonly changed: Json } & Pick<Change, 'kind' | 'at'>;

/** Stores the changed item and its event. Does nothing if nothing has changed. */
function replaceItem({ current, changed, kind, at }: Replacement, kept: Kept): Json {
  const { operation, store, list, compiled } = kept;
  requireValid(changed, compiled());
  if (canonicalJson(changed) === canonicalJson(current)) return current;
  requireReferences(changed, operation, kept);
  requireUnique(changed, kept);
  const item = replaceMembers(changed, { updated_at: at.toISOString() });
  store.put(list, item);
  recordEvent(kept, list, { kind, item, at });
  return item;
}

const deleteItem: Action = async (input, kept) => {
  const current = getCurrent(input, kept);
  requireUnchanged(input, kept, current);
  removeWithReferring(kept, { list: kept.list, item: current, at: kept.now() });
  return respond(input, kept, null);
};

/** Returns the current time, or one millisecond after the last change if that is later. */
function timeOfChange(current: Json, now: () => Date): Date {
  return new Date(Math.max(now().getTime(), Date.parse(String(current['updated_at'])) + 1));
}

/** Returns the item of the request. Throws the contract's 404 if the item does not exist. */
function getCurrent(input: HandlerInput, { operation, store, list }: Kept): Json {
  const item = store.find(list, idIn(input));
  if (item === undefined) throw new DomainError('not_found', exampleMessageOf(operation, 404) ?? '');
  return item;
}

/** Returns the operation's success, with the headers in the contract. */
function respond(input: HandlerInput, { operation, example }: Kept, body: Json | null): HandlerResult {
  const { headers } = example();
  return resultOf(pathOf(operation, input), successOf(operation), { headers, body });
}

function requireUnchanged({ headers }: HandlerInput, { operation }: Kept, current: Json): void {
  requireCurrent(operation, headers['if-match'], (tag) => tag === entityTagOf(stringifyJson(current)));
}

function requireUnique(item: Json, { operation, store, list }: Kept): void {
  for (const field of UniqueField.listOf(operation)) field.requireUnique(item, store.itemsOf(list));
}

function idempotencyKeyOf({ headers }: HandlerInput, { parameters = [] }: Operation): string | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string' && parameters.some(({ name }) => name === 'Idempotency-Key') ? key : undefined;
}

/** Returns the item with new values for members that it already has. Adds no members. */
function replaceMembers(item: Json, values: Json): Json {
  return { ...item, ...Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(item, name))) };
}
