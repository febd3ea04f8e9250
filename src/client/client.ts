import { batchesOf } from './batching.ts';
import { createCall, type LooseOptions } from './calling.ts';
import type {
  Arguments,
  BatchOf,
  BatchOptions,
  BatchPath,
  ByExternalId,
  ChangeOf,
  ItemOf,
  Method,
  Options,
  PagedPath,
  PageOf,
  PathOf,
  Result,
  SentTo,
  UnconditionalOptions,
  UnconditionalResult,
  UpsertPath,
} from './contract.ts';
import { itemsOf, pagesOf } from './paging.ts';
import type { Clock } from './sending.ts';
import type { Settings } from './settings.ts';

/** Calls Charter's operations by method and path. A call resolves to a result for every status of the response. */
export type CharterClient = {
  /** Without `If-None-Match`, the result is never a 304. */
  readonly GET: {
    <Path extends PathOf<'get'>>(
      path: Path,
      ...rest: Arguments<UnconditionalOptions<Path>>
    ): Promise<UnconditionalResult<Path>>;
    <Path extends PathOf<'get'>>(path: Path, ...rest: Arguments<Options<Path, 'get'>>): Promise<Result<Path, 'get'>>;
  };
  readonly POST: Caller<'post'>;
  readonly PUT: Caller<'put'>;
  readonly PATCH: Caller<'patch'>;
  readonly DELETE: Caller<'delete'>;
  /**
   * Returns all items of a list, from the first page or from `cursor` on. Throws a `ResponseError` if the response to the request
   * for a page is an error.
   */
  items<Path extends PagedPath>(
    path: Path,
    ...rest: Arguments<UnconditionalOptions<Path>>
  ): AsyncGenerator<ItemOf<Path>, void, void>;
  /**
   * Returns all pages of a list, from the first page or from `cursor` on. The last page of a feed has a `next_cursor` with which
   * you can continue later.
   */
  pages<Path extends PagedPath>(
    path: Path,
    ...rest: Arguments<UnconditionalOptions<Path>>
  ): AsyncGenerator<PageOf<Path>, void, void>;
  /** Creates the item with your own ID, or replaces the item's content. For preconditions, use `PUT`. */
  upsert<Path extends UpsertPath>(
    path: Path,
    externalId: string,
    body: SentTo<ByExternalId<Path>, 'put'>,
  ): Promise<Result<ByExternalId<Path> & PathOf<'put'>, 'put'>>;
  /**
   * Makes any number of changes in their order. Returns each batch with its outcomes as soon as the server has processed the
   * batch. A refused change does not prevent the other changes. Throws a `ResponseError` if a whole batch is refused.
   */
  batch<Path extends BatchPath>(
    path: Path,
    changes: Iterable<ChangeOf<Path>> | AsyncIterable<ChangeOf<Path>>,
    options?: BatchOptions,
  ): AsyncGenerator<BatchOf<Path>, void, void>;
};

type Caller<M extends Method> = <Path extends PathOf<M>>(
  path: Path,
  ...rest: Arguments<Options<Path, M>>
) => Promise<Result<Path, M>>;

const BATCH_RETRIES = 10;
const BATCH_TIMEOUT_MS = 600_000;

/**
 * The maximum number of retries and the time limit for a batch. They are higher than those of other calls, because a batch is
 * usually one of many.
 */
export const PATIENT = { retries: BATCH_RETRIES, totalTimeoutMs: BATCH_TIMEOUT_MS };

/** Adds the contract's types to untyped calls. */
export function createTypedClient(settings: Settings, clock: Clock): CharterClient {
  const call = createCall(settings, clock);
  const patientCall = createCall(
    {
      ...settings,
      retries: Math.max(settings.retries, PATIENT.retries),
      totalTimeoutMs: Math.max(settings.totalTimeoutMs, PATIENT.totalTimeoutMs),
    },
    clock,
  );
  const client: { [Member in keyof CharterClient]: (path: string, ...rest: never[]) => unknown } = {
    GET: (path, options?: LooseOptions) => call('get', path, options),
    POST: (path, options?: LooseOptions) => call('post', path, options),
    PUT: (path, options?: LooseOptions) => call('put', path, options),
    PATCH: (path, options?: LooseOptions) => call('patch', path, options),
    DELETE: (path, options?: LooseOptions) => call('delete', path, options),
    items: (path, options?: LooseOptions) => itemsOf(call, path, options),
    pages: (path, options?: LooseOptions) => pagesOf(call, path, options),
    upsert: (path, externalId: string, body: unknown) =>
      call('put', `${path}/by_external_id/{external_id}`, { params: { path: { external_id: externalId } }, body }),
    batch: (path, changes: Iterable<object> | AsyncIterable<object>, options?: BatchOptions) =>
      batchesOf(patientCall, { path, changes, clock, ...options }),
  };
  // The assertion relies on the server: the client does not verify that a response matches the contract.
  return client as CharterClient;
}
