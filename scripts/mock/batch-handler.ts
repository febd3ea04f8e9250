import {
  type ChangeOperations,
  inputOf,
  refusalOfBatch,
  resultOfRefusal,
  resultOfSuccess,
  type SentBatch,
} from '../../src/api/changes.ts';
import type { OperationHandler } from '../../src/api/operation.ts';
import { entityTagOf } from '../../src/api/response.ts';
import type { Operation } from '../../src/contract/document.ts';
import { batchConflictOf, type DomainError, isOfOneChange, RefusedChangesError } from '../../src/domain/errors.ts';
import { stringifyJson } from '../../src/domain/resources/json.ts';
import { isByOwnId } from './own-id-handlers.ts';
import { type Store, TakenError } from './store.ts';

type BatchDeps = {
  readonly operations: readonly Operation[];
  /** Returns the handler of an operation on one item. */
  readonly handlerOf: (operation: Operation) => OperationHandler;
  readonly store: Store | undefined;
};

/** Returns whether the operation is a batch. In the contract, the array of a batch's changes has `x-counts-as-requests`. */
export function isBatch({ requestBody }: Operation): boolean {
  const { properties = {} } = requestBody?.content['application/json']?.schema ?? {};
  return Object.values(properties).some((property) => property['x-counts-as-requests'] === true);
}

/** Creates the handler of a batch. It passes each change to the handler of the change's own operation. */
export function createBatchHandler(batch: Operation, deps: BatchDeps): OperationHandler {
  const { operations, handlerOf, store } = deps;
  const changing = changesOf(batch, operations);
  const handlers = new Map(changing.operations.map((each) => [each.operationId, handlerOf(each)]));
  return async (input) => {
    // The assertion is safe, because the request has been validated.
    const { atomic = false, changes } = input.body as SentBatch;
    const key = input.headers['idempotency-key']?.toString();
    const request = `${batch.operationId} ${input.sentBody()}`;
    const before = store?.findCreation(key, request);
    if (before !== undefined) return { status: 200, headers: {}, body: before };

    const undo = store?.remember();
    const results: Result[] = [];
    const refusals = new Map<number, DomainError>();
    for (const [i, change] of changes.entries()) {
      try {
        const { operationId, ...own } = inputOf(change, changing, input.refusalOf);
        const made = await handlers.get(operationId)?.({ ...input, ...own, query: {} });
        if (made === undefined) throw new Error(`The mock has no handler of ${operationId}.`);
        const { status, body, entityTag } = made;
        const etag = body === null ? null : (entityTag ?? entityTagOf(stringifyJson(body)));
        results.push(resultOfSuccess({ status, etag, body }));
      } catch (error) {
        if (!isOfOneChange(error)) throw error;
        refusals.set(i, atomic ? withoutCreated(error, results) : error);
        results.push(resultOfRefusal(error));
      }
    }
    if (atomic && refusals.size > 0) {
      undo?.();
      throw refusalOfBatch(new RefusedChangesError(refusals));
    }
    store?.recordCreation(key, { request, item: { results } });
    return { status: 200, headers: {}, body: { results } };
  };
}

type Result = ReturnType<typeof resultOfSuccess> | ReturnType<typeof resultOfRefusal>;

/**
 * Returns the error for a change of an atomic batch. If the value is taken by an item that an earlier change of the batch
 * created, the message names that change, because the item itself is not kept.
 */
function withoutCreated(error: DomainError, results: readonly Result[]): DomainError {
  if (!(error instanceof TakenError)) return error;
  const { field, value, holderId } = error;
  const place = results.findIndex(({ status, body }) => status === 201 && Object(body).id === holderId);
  return place < 0 ? error : batchConflictOf(field, { value, place });
}

/**
 * Returns all operations on the batch's list, such as /api/parent_programs, and on the items of the list, except the batch
 * itself. Also returns the ids of the operations that a change may call.
 */
function changesOf(
  batch: Operation,
  all: readonly Operation[],
): ChangeOperations & { readonly operations: readonly Operation[] } {
  const list = batch.path.slice(0, batch.path.lastIndexOf('/'));
  const operations = all.filter(({ path, operationId }) => path.startsWith(list) && operationId !== batch.operationId);
  const item = `${list}/{id}`;
  const byOwnId = operations.find(isByOwnId)?.path ?? '';
  const idOf = (method: string, path: string) =>
    operations.find((each) => each.method === method && each.path === path)?.operationId ?? '';
  return {
    operations,
    ids: {
      create: idOf('post', list),
      upsert: idOf('put', byOwnId),
      update: idOf('patch', item),
      delete: idOf('delete', item),
      deleteByOwnId: idOf('delete', byOwnId),
    },
    ownId: /\{(.*)\}$/.exec(byOwnId)?.[1] ?? '',
  };
}
