import type { Fault } from '../fault.ts';

const CONTRACT = 'src/client/contract.ts';
const RETRYING = 'src/client/retrying.ts';
const ATTEMPT = 'src/client/attempt.ts';
const WEBHOOKS = 'src/client/webhooks.ts';
const SIGNATURE = 'src/client/webhook-signature.ts';

/** Faults in `charter-client`: its behaviour or its types differ from the contract or from its README. */
export const CLIENT_FAULTS: readonly Fault[] = [
  {
    title: "the client's status has the type number",
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
    title: "the client's data has the type unknown",
    edits: [{ file: CONTRACT, find: '  readonly data: Content;', replace: '  readonly data: Content | unknown;' }],
    caughtBy: 'types',
  },
  {
    title: "the client's types include a 304 without If-None-Match",
    edits: [{ file: CONTRACT, find: "Exclude<Result<Path, 'get'>, { status: 304 }>", replace: "Result<Path, 'get'>" }],
    caughtBy: 'types',
  },
  {
    title: 'the client does not retry',
    edits: [
      { file: 'src/client/sending.ts', find: 'tries > settings.retries', replace: 'tries > 0 * settings.retries' },
    ],
    caughtBy: 'test/client/retries.test.ts',
  },
  {
    title: 'the client does not retry an unsafe request after a 429',
    edits: [{ file: RETRYING, find: 'NOT_EXECUTED.has(status)', replace: 'NOT_EXECUTED.has(status * 10)' }],
    caughtBy: 'test/client/retries.test.ts',
  },
  {
    title: 'the client retries an unconditional PATCH',
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
    title: 'the client ignores Retry-After',
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
    title: "the client's lists end after the first page",
    edits: [
      {
        file: 'src/client/paging.ts',
        find: 'if (cursor === null || hasMore === false) return;',
        replace: 'if (cursor === null || hasMore === false || next === undefined) return;',
      },
    ],
    caughtBy: 'test/client/paging.test.ts',
  },
  {
    title: 'parseEvent accepts any signature of the right length',
    edits: [
      {
        file: SIGNATURE,
        find: 'difference |= given.charCodeAt(i) ^ right',
        replace: 'difference |= right.charCodeAt(i) ^ right',
      },
    ],
    caughtBy: 'test/client/webhooks.test.ts',
  },
  {
    title: 'parseEvent does not verify the id of the message',
    edits: [{ file: SIGNATURE, find: '`${id}.${timestamp}.`', replace: '`${id.slice(0, 0)}.${timestamp}.`' }],
    caughtBy: 'test/client/webhooks.test.ts',
  },
  {
    title: 'parseEvent knows only the first of several secrets',
    edits: [{ file: SIGNATURE, find: 'expected.some((right)', replace: 'expected.slice(0, 1).some((right)' }],
    caughtBy: 'test/client/webhooks.test.ts',
  },
  {
    title: 'parseEvent knows only the first of several signatures',
    edits: [{ file: SIGNATURE, find: "signatures.split(' ')", replace: "signatures.split(' ', 1)" }],
    caughtBy: 'test/client/webhooks.test.ts',
  },
  {
    title: 'parseEvent accepts a message that was recorded long ago',
    edits: [
      {
        file: WEBHOOKS,
        find: 'if (Math.abs(ageSeconds) <= TOLERANCE_SECONDS) return;',
        replace: 'if (-ageSeconds <= TOLERANCE_SECONDS) return;',
      },
    ],
    caughtBy: 'test/client/webhooks.test.ts',
  },
  {
    title: "an event's type does not determine its data",
    edits: [
      {
        file: WEBHOOKS,
        find: "webhooks[Name]['post']['requestBody']['content']['application/json'];\n",
        replace:
          "Omit<webhooks[Name]['post']['requestBody']['content']['application/json'], 'type'> & { type: keyof webhooks };\n",
      },
    ],
    caughtBy: 'types',
  },
  {
    title: 'users who only call Charter load parseEvent',
    edits: [
      {
        file: 'src/client/charter-client.ts',
        find: "export type { ClientOptions } from './settings.ts';\n",
        replace: "export type { ClientOptions } from './settings.ts';\nexport { parseEvent } from './webhooks.ts';\n",
      },
    ],
    caughtBy: 'test/client/package.test.ts',
  },
];
