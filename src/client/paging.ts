import type { Call, LooseAnswer, LooseOptions } from './calling.ts';
import type { ErrorAnswer } from './contract.ts';
import { AnswerError, UnexpectedAnswerError } from './errors.ts';

export type LoosePage = { readonly data: readonly unknown[]; readonly page: { readonly next_cursor: string | null } };

/** Asks for a page only when the one before has been used up, so that whoever stops early has asked for no more. */
export async function* pagesOf(
  call: Call,
  path: string,
  options: LooseOptions = {},
): AsyncGenerator<LoosePage, void, void> {
  let next = options.params?.query?.['cursor'];
  for (;;) {
    const query = { ...options.params?.query, cursor: next };
    const answer = await call('get', path, { ...options, params: { ...options.params, query } });
    const page = pageIn(answer, path);
    yield page;
    const { next_cursor: cursor } = page.page;
    if (cursor === null) return;
    // Lists go forward only; otherwise a stand-in that always shows the same page would be read for ever.
    if (cursor === next) throw unexpected(path, answer, 'its next page is the same page again');
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

function pageIn(answer: LooseAnswer, path: string): LoosePage {
  // The contract's word for what a server sends; nothing here could prove it.
  if ('error' in answer) throw new AnswerError(`GET ${path}`, answer as ErrorAnswer);
  if (isPage(answer.data)) return answer.data;
  throw unexpected(path, answer, 'it is no page of a list');
}

function isPage(data: unknown): data is LoosePage {
  const { data: items, page } = Object(data);
  const cursor = Object(page).next_cursor;
  return Array.isArray(items) && (cursor === null || typeof cursor === 'string');
}

function unexpected(path: string, { status }: LooseAnswer, reason: string): UnexpectedAnswerError {
  return new UnexpectedAnswerError(`GET ${path}`, { status, reason });
}
