import type { Call, LooseOptions } from './calling.ts';
import type {
  Answer,
  Arguments,
  ItemOf,
  Method,
  Options,
  PagedPath,
  PageOf,
  PathOf,
  UnconditionalAnswer,
  UnconditionalOptions,
} from './contract.ts';
import { itemsOf, pagesOf } from './paging.ts';

/** Calls Charter's operations by method and path, and resolves to the answer, whatever its status. */
export type CharterClient = {
  /** Without `If-None-Match`, no 304 is among the answers. */
  readonly GET: {
    <Path extends PathOf<'get'>>(
      path: Path,
      ...rest: Arguments<UnconditionalOptions<Path>>
    ): Promise<UnconditionalAnswer<Path>>;
    <Path extends PathOf<'get'>>(path: Path, ...rest: Arguments<Options<Path, 'get'>>): Promise<Answer<Path, 'get'>>;
  };
  readonly POST: Caller<'post'>;
  readonly PATCH: Caller<'patch'>;
  readonly DELETE: Caller<'delete'>;
  /** Every item of a list, over all its pages from the first, or from `cursor` on. Throws an `AnswerError`. */
  items<Path extends PagedPath>(
    path: Path,
    ...rest: Arguments<UnconditionalOptions<Path>>
  ): AsyncGenerator<ItemOf<Path>, void, void>;
  /** The same, page by page. */
  pages<Path extends PagedPath>(
    path: Path,
    ...rest: Arguments<UnconditionalOptions<Path>>
  ): AsyncGenerator<PageOf<Path>, void, void>;
};

type Caller<M extends Method> = <Path extends PathOf<M>>(
  path: Path,
  ...rest: Arguments<Options<Path, M>>
) => Promise<Answer<Path, M>>;

/** Gives the contract's types to a call that has none. */
export function clientOver(call: Call): CharterClient {
  const client: { [Member in keyof CharterClient]: (path: string, options?: LooseOptions) => unknown } = {
    GET: (path, options) => call('get', path, options),
    POST: (path, options) => call('post', path, options),
    PATCH: (path, options) => call('patch', path, options),
    DELETE: (path, options) => call('delete', path, options),
    items: (path, options) => itemsOf(call, path, options),
    pages: (path, options) => pagesOf(call, path, options),
  };
  // The contract's word for what a server sends; nothing here could prove it.
  return client as CharterClient;
}
