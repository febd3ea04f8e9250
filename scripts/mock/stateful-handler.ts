import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import { v7 as newId } from 'uuid';
import type { HandlerInput, OperationHandler } from '../../src/api/operation.ts';
import { entityTagOf, type HandlerResult } from '../../src/api/response.ts';
import { isObject, type Json, type Operation } from '../../src/contract/document.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { canonicalJson, stringifyJson } from '../../src/domain/resources/json.ts';
import { type Collection, type ContractResponse, collectionOf, type DataSet } from './data-set.ts';
import { exampleMessageOf, schemaOf, successOf } from './declared-responses.ts';
import { pageOf } from './list-page.ts';
import { compileLater, idIn, pathOf, requireCurrent, resultOf } from './operation-handler.ts';
import { recordEvent, removeWithReferring, requireReferences, type Store, UniqueField } from './store.ts';
import { bodyOfCreation, bodyOfUpdate, requireValid } from './written-body.ts';

type StatefulDeps = {
  readonly ajv: Ajv2020;
  readonly data: DataSet;
  readonly store: Store;
  readonly now: () => Date;
  /** Responds where there is nothing to keep. */
  readonly stateless: OperationHandler;
};

/** An operation on a collection of the store. */
type Kept = Pick<StatefulDeps, 'store' | 'now'> & {
  readonly operation: Operation;
  readonly collections: readonly Collection[];
  readonly collection: Collection;
  /** The path of the collection's list. */
  readonly list: string;
  readonly compiled: () => ValidateFunction;
  /** The operation's first example of its success, with the headers that the contract shows. */
  readonly example: () => ContractResponse;
};

type Action = (input: HandlerInput, kept: Kept) => Promise<HandlerResult>;

/** Responds from the store, and changes it: the operations of a collection. All others are left to `stateless`. */
export function createStatefulHandler(operation: Operation, deps: StatefulDeps): OperationHandler {
  const { ajv, data, store, now, stateless } = deps;
  const { collections } = data;
  const collection = collectionOf(operation, collections);
  const action = collection === undefined ? undefined : actionOf(operation, collection.path);
  if (collection === undefined || action === undefined) return stateless;
  const status = successOf(operation);
  const compiled = compileLater(ajv, schemaOf(operation, status) ?? true);
  let found: ContractResponse | undefined;
  const example = () => {
    found ??= data.source({ operation, status, seedText: '' });
    return found;
  };
  const kept = { operation, collections, collection, list: collection.path, store, now, compiled, example };
  return (input) => action(input, kept);
}

function actionOf({ method, path }: Operation, list: string): Action | undefined {
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
  const { operation, store, list, now, compiled } = kept;
  const current = getCurrent(input, kept);
  requireUnchanged(input, kept, current);
  const schema = schemaOf(operation, successOf(operation)) ?? {};
  const changed = bodyOfUpdate(current, { operation, sent: isObject(input.body) ? input.body : {}, schema });
  requireValid(changed, compiled());
  if (canonicalJson(changed) === canonicalJson(current)) return respond(input, kept, current);
  requireReferences(changed, operation, kept);
  requireUnique(changed, kept);
  const earliest = Date.parse(String(current['updated_at'])) + 1;
  const at = new Date(Math.max(now().getTime(), earliest));
  const item = replaceMembers(changed, { updated_at: at.toISOString() });
  store.put(list, item);
  recordEvent(kept, list, { kind: 'updated', item, at });
  return respond(input, kept, item);
};

const deleteItem: Action = async (input, kept) => {
  const current = getCurrent(input, kept);
  requireUnchanged(input, kept, current);
  removeWithReferring(kept, { list: kept.list, item: current, at: kept.now() });
  return respond(input, kept, null);
};

/** Throws the contract's 404 where there is no such item. */
function getCurrent(input: HandlerInput, { operation, store, list }: Kept): Json {
  const item = store.find(list, idIn(input));
  if (item === undefined) throw new DomainError('not_found', exampleMessageOf(operation, 404) ?? '');
  return item;
}

/** Responds with the headers that the contract shows for the success. */
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

/** Replaces members that the item has, and adds none. */
function replaceMembers(item: Json, values: Json): Json {
  return { ...item, ...Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(item, name))) };
}
