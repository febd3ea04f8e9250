import type { Fault } from '../fault.ts';

const TOKENS = 'src/traffic/leased-tokens.ts';
const LIMITER = 'src/traffic/request-limiter.ts';
const STORE = 'src/store/rate-limits.ts';
const SERVER_API = 'src/api/server-api.ts';
const UNIT = 'test/traffic/request-limiter.test.ts';
const API = 'test/api/rate-limits.test.ts';

/** Faults in the rate limits. */
export const LIMIT_FAULTS: readonly Fault[] = [
  {
    title: 'a process admits without bound on credit',
    edits: [
      { file: TOKENS, find: 'this.#stock - 1 >= -this.#credit', replace: 'this.#stock - 1 >= -1e6 - this.#credit' },
    ],
    caughtBy: 'test/traffic/leased-tokens.test.ts',
  },
  {
    title: 'a bucket grants more tokens than it holds',
    edits: [{ file: STORE, find: 'least(excluded.granted, floor(f.tokens))', replace: 'excluded.granted' }],
    caughtBy: 'test/store/rate-limits.test.ts',
  },
  {
    title: 'a refusal by the limit of the organization uses a token of the key',
    edits: [
      {
        file: LIMITER,
        find: "    if (byFirst === 'refused' || bySecond === 'refused') return false;\n",
        replace:
          "    if (byFirst === 'refused') return false;\n    if (bySecond === 'refused') {\n      first?.take();\n      return false;\n    }\n",
      },
    ],
    caughtBy: UNIT,
  },
  {
    title: 'an outage of the database looks like a limit',
    edits: [
      {
        file: LIMITER,
        find: 'if (at < this.#openUntil) return true;',
        replace: 'if (at < this.#openUntil) return false;',
      },
    ],
    caughtBy: UNIT,
  },
  {
    title: 'idle subjects of the rate limits are never forgotten',
    edits: [{ file: LIMITER, find: 'each.age();', replace: 'void each;' }],
    caughtBy: UNIT,
  },
  {
    title: 'any number of requests waits for the tokens of an organization',
    edits: [
      {
        file: LIMITER,
        find: 'if (this.#isFull(limits.key) || this.#isFull(limits.organization)) throw OVERLOADED;',
        replace: 'if (this.#isFull(limits.key)) throw OVERLOADED;',
      },
    ],
    caughtBy: UNIT,
  },
  {
    title: 'waiting requests with keys refuse those without',
    edits: [
      {
        file: LIMITER,
        find: 'if (this.#waitingOfAddresses >= this.#maxWaiting) throw OVERLOADED;',
        replace: 'if (this.#waiting.length >= this.#maxWaiting) throw OVERLOADED;',
      },
    ],
    caughtBy: UNIT,
  },
  {
    title: 'requests without a valid key are not limited',
    edits: [
      {
        file: SERVER_API,
        find: '!(error instanceof UnauthenticatedError) ||',
        replace: '!(error instanceof UnauthenticatedError) || req.url !== undefined ||',
      },
    ],
    caughtBy: API,
  },
  {
    title: 'a flood of requests for the sign-in page is not slowed',
    edits: [
      {
        file: 'src/dashboard/http/page-routes.ts',
        find: '          await dashboard.throttle(context.auditSource.ip);\n',
        replace: '',
      },
    ],
    caughtBy: API,
  },
  {
    title: 'the permission is checked before the rate limit',
    edits: [
      {
        file: SERVER_API,
        find: '    const admission = limiter.admitKey(accepted.record);\n',
        replace: '    callerOf(accepted, options);\n    const admission = limiter.admitKey(accepted.record);\n',
      },
    ],
    caughtBy: API,
  },
  {
    title: 'requests that get a 304 do not count towards the rate limit',
    edits: [
      {
        file: SERVER_API,
        find: '    const admission = limiter.admitKey(accepted.record);\n',
        replace:
          "    const admission = req.headers['if-none-match'] === undefined ? limiter.admitKey(accepted.record) : null;\n",
      },
    ],
    caughtBy: API,
  },
];
