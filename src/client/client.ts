import type { Call, LooseOptions } from './calling.ts';
import type {
  Arguments,
  ItemOf,
  Method,
  Options,
  PagedPath,
  PageOf,
  PathOf,
  Result,
  UnconditionalOptions,
  UnconditionalResult,
} from './contract.ts';
import { itemsOf, pagesOf } from './paging.ts';

/** Calls Charter's operations by method and path. A call resolves to a result, whatever the status of the response. */
export type CharterClient = {
  /** Without `If-None-Match`, the result cannot be a 304. */
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
   * Every item of a list, through all pages from the first, or from `cursor` on. Throws a `ResponseError` if a page is not a
   * success.
   */
  items<Path extends PagedPath>(
    path: Path,
    ...rest: Arguments<UnconditionalOptions<Path>>
  ): AsyncGenerator<ItemOf<Path>, void, void>;
  /** Every page of a list, likewise. The last page of a feed has a `next_cursor` from which to continue later. */
  pages<Path extends PagedPath>(
    path: Path,
    ...rest: Arguments<UnconditionalOptions<Path>>
  ): AsyncGenerator<PageOf<Path>, void, void>;
};

type Caller<M extends Method> = <Path extends PathOf<M>>(
  path: Path,
  ...rest: Arguments<Options<Path, M>>
) => Promise<Result<Path, M>>;

/** Adds the contract's types to an untyped call. */
export function clientOver(call: Call): CharterClient {
  const client: { [Member in keyof CharterClient]: (path: string, options?: LooseOptions) => unknown } = {
    GET: (path, options) => call('get', path, options),
    POST: (path, options) => call('post', path, options),
    PUT: (path, options) => call('put', path, options),
    PATCH: (path, options) => call('patch', path, options),
    DELETE: (path, options) => call('delete', path, options),
    items: (path, options) => itemsOf(call, path, options),
    pages: (path, options) => pagesOf(call, path, options),
  };
  // The types are the contract's; the client does not check that a server keeps to it.
  return client as CharterClient;
}
