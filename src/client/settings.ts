import { type KeySource, keySourceFrom } from './key-source.ts';

/** `undefined` is allowed for environment variables; `createClient` throws if a required one is not set. */
export type ClientOptions = {
  /** The address of Charter, such as `https://charter.example.org`. The key is sent nowhere else. */
  readonly baseUrl: string | undefined;
  /**
   * The API key, without `Bearer`, or a function that returns it. The function is called before the first request, and once more
   * by each call that gets a 401: if it then returns another key, the request is sent again with it.
   */
  readonly apiKey: string | undefined | (() => string | undefined | Promise<string | undefined>);
  /** Time limit for one try, including the whole response: 1 to 600,000, by default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of retries of a request that is safe to repeat: 0 to 10, by default 2. */
  readonly retries?: number | undefined;
  /** Time limit for a call, with all tries and the waits between them: 1 to 3,600,000, by default 120,000. */
  readonly totalTimeoutMs?: number | undefined;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: Fetch | undefined;
};

export type Fetch = (request: Request) => Promise<Response>;

export type Settings = {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly apiKey: KeySource;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly totalTimeoutMs: number;
  readonly fetch: Fetch;
};

/** Checks the options and fills in the defaults. Throws a TypeError or RangeError that never holds the value. */
export function settingsFrom(options: ClientOptions): Settings {
  const { fetch: given } = options;
  return {
    baseUrl: checkedBaseUrl(options.baseUrl),
    apiKey: keySourceFrom(options.apiKey),
    timeoutMs: checkedNumber('timeoutMs', options.timeoutMs ?? 30_000, { min: 1, max: 600_000 }),
    retries: checkedNumber('retries', options.retries ?? 2, { min: 0, max: 10 }),
    totalTimeoutMs: checkedNumber('totalTimeoutMs', options.totalTimeoutMs ?? 120_000, { min: 1, max: 3_600_000 }),
    // Called as a function, not as a method, because a browser's fetch throws on any other `this`.
    fetch: (request) => (given === undefined ? fetch(request) : given(request)),
  };
}

function checkedBaseUrl(baseUrl: unknown): string {
  const example = 'such as https://charter.example.org';
  if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl)) {
    throw new TypeError(`baseUrl must be an absolute URL, ${example}.`);
  }
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new TypeError(`baseUrl must begin with https:// or http://, ${example}.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('baseUrl must not contain a user name or a password: the API key goes into apiKey.');
  }
  if (/[?#{}]/.test(baseUrl)) throw new TypeError(`baseUrl must end before any query or fragment, ${example}.`);
  return url.href.replace(/\/+$/, '');
}

function checkedNumber(name: string, value: number, { min, max }: { min: number; max: number }): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(`${name} must be an integer from ${min} to ${max}.`);
}
