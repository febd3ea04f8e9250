import type { Call, LooseOptions, LooseResult } from './calling.ts';
import type { ErrorResult } from './contract.ts';
import { ResponseError, UnexpectedResponseError } from './errors.ts';

export type LoosePage = {
  readonly data: readonly unknown[];
  /** The position of the page. Only a page of a feed has `has_more`. */
  readonly page: { readonly next_cursor: string | null; readonly has_more?: unknown };
};

/**
 * Returns the pages of a list. Requests a page only after the caller has consumed the previous page, so that no request is wasted
 * if the caller stops early.
 */
export async function* pagesOf(
  call: Call,
  path: string,
  options: LooseOptions = {},
): AsyncGenerator<LoosePage, void, void> {
  let next = options.params?.query?.['cursor'];
  for (;;) {
    const query = { ...options.params?.query, cursor: next };
    const result = await call('get', path, { ...options, params: { ...options.params, query } });
    const page = pageIn(result, path);
    yield page;
    const { next_cursor: cursor, has_more: hasMore } = page.page;
    if (cursor === null || hasMore === false) return;
    // Without this check, the loop would never end if a server always returned the same page.
    if (cursor === next) throw unexpectedError(path, result, 'its next page is the same page again');
    next = cursor;
  }
}

export async function* itemsOf(
  call: Call,
  path: string,
  options: LooseOptions = {},
): AsyncGenerator<unknown, void, void> {
  for await (const { data } of pagesOf(call, path, options)) {
    for (const item of data) {
      options.signal?.throwIfAborted();
      yield item;
    }
  }
}

function pageIn(result: LooseResult, path: string): LoosePage {
  // The assertion relies on the server: the client does not verify that a response matches the contract.
  if ('error' in result) throw new ResponseError(`GET ${path}`, result as ErrorResult);
  if (isPage(result.data)) return result.data;
  throw unexpectedError(path, result, 'its body is not a list page');
}

function isPage(data: unknown): data is LoosePage {
  const { data: items, page } = Object(data);
  const cursor = Object(page).next_cursor;
  return Array.isArray(items) && (cursor === null || typeof cursor === 'string');
}

function unexpectedError(path: string, { status }: LooseResult, reason: string): UnexpectedResponseError {
  return new UnexpectedResponseError(`GET ${path}`, { status, reason });
}
