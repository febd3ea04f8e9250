import type { Lie } from '../lie.ts';

const CONTRACT = 'src/client/contract.ts';
const RETRYING = 'src/client/retrying.ts';
const ATTEMPT = 'src/client/attempt.ts';

/** `charter-client` does not do, or does not say, what the contract and its README promise. */
export const CLIENT_LIES: readonly Lie[] = [
  {
    title: "the client's status is any number",
    edits: [
      {
        file: CONTRACT,
        find: '  readonly status: Status;',
        replace: '  readonly status: Status extends number ? number : never;',
      },
    ],
    caughtBy: 'types',
  },
  {
    title: "the client's data may be anything",
    edits: [{ file: CONTRACT, find: '  readonly data: Content;', replace: '  readonly data: Content | unknown;' }],
    caughtBy: 'types',
  },
  {
    title: 'the client promises a 304 that nobody asked for',
    edits: [{ file: CONTRACT, find: "Exclude<Result<Path, 'get'>, { status: 304 }>", replace: "Result<Path, 'get'>" }],
    caughtBy: 'types',
  },
  {
    title: 'the client does not send again',
    edits: [
      { file: 'src/client/sending.ts', find: 'settings.retries + 1 : 1', replace: 'settings.retries * 0 + 1 : 1' },
    ],
    caughtBy: 'test/client/retries.test.ts',
  },
  {
    title: 'the client repeats what may not be repeated',
    edits: [
      {
        file: RETRYING,
        find: "return (headers.get('If-Match') ?? '*').trim() !== '*';",
        replace: "return (headers.get('If-Match') ?? 'none').trim() !== '*';",
      },
    ],
    caughtBy: 'test/client/retries.test.ts',
  },
  {
    title: 'the client pays no heed to Retry-After',
    edits: [{ file: RETRYING, find: "headers.get('Retry-After')", replace: "headers.get('Retry-Later')" }],
    caughtBy: 'test/client/waits.test.ts',
  },
  {
    title: 'the client follows a redirect with the key',
    edits: [{ file: ATTEMPT, find: "redirect: 'manual'", replace: "redirect: 'follow'" }],
    caughtBy: 'test/client/secrecy.test.ts',
  },
  {
    title: "the client's errors hold the key",
    edits: [
      {
        file: ATTEMPT,
        find: "reasonOf(error).replaceAll(settings.apiKey, '[the API key]')",
        replace: 'reasonOf(error)',
      },
    ],
    caughtBy: 'test/client/secrecy.test.ts',
  },
  {
    title: "the client's lists end after a page",
    edits: [
      {
        file: 'src/client/paging.ts',
        find: 'if (cursor === null) return;',
        replace: 'if (cursor === null || next === undefined) return;',
      },
    ],
    caughtBy: 'test/client/paging.test.ts',
  },
];
