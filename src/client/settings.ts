/** A variable of the environment may be given as it is: where it is not set, `createClient` says so. */
export type ClientOptions = {
  /** Where Charter is, such as `https://charter.example.org`. The key is sent there and nowhere else. */
  readonly baseUrl: string | undefined;
  /** The API key as it was copied, without `Bearer`. */
  readonly apiKey: string | undefined;
  /** How long one try may take, its whole answer included: 1 to 600,000, by default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** How often a request that is safe to repeat is sent again at most: 0 to 10, by default 2. */
  readonly retries?: number | undefined;
  /** How long a call may take with all its tries and the waits between them: 1 to 3,600,000, by default 120,000. */
  readonly totalTimeoutMs?: number | undefined;
  /** In place of the platform's own. */
  readonly fetch?: Fetch | undefined;
};

export type Fetch = (request: Request) => Promise<Response>;

export type Settings = {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly totalTimeoutMs: number;
  readonly fetch: Fetch;
};

/** The token of RFC 6750 section 2.1. Whether it is one of Charter's keys the server says, and in which way it is not. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const MAX_TOKEN_CHARACTERS = 1024;

/** With the defaults filled in; throws a TypeError or RangeError, which never repeats what was given. */
export function settingsFrom(options: ClientOptions): Settings {
  const { fetch: given } = options;
  return {
    baseUrl: checkedBaseUrl(options.baseUrl),
    apiKey: checkedApiKey(options.apiKey),
    timeoutMs: checkedNumber('timeoutMs', options.timeoutMs ?? 30_000, { min: 1, max: 600_000 }),
    retries: checkedNumber('retries', options.retries ?? 2, { min: 0, max: 10 }),
    totalTimeoutMs: checkedNumber('totalTimeoutMs', options.totalTimeoutMs ?? 120_000, { min: 1, max: 3_600_000 }),
    // Called as a function, never as a method: a browser's fetch refuses any other `this`.
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
    throw new TypeError('baseUrl must hold no user name and no password: the API key goes into apiKey.');
  }
  if (/[?#{}]/.test(baseUrl)) throw new TypeError(`baseUrl must end before any query or fragment, ${example}.`);
  return url.href.replace(/\/+$/, '');
}

function checkedApiKey(apiKey: unknown): string {
  if (typeof apiKey !== 'string' || apiKey === '') throw new TypeError('apiKey is missing or empty.');
  if (/^bearer\s/i.test(apiKey)) throw new TypeError('apiKey must be the API key alone, without "Bearer".');
  if (apiKey.length > MAX_TOKEN_CHARACTERS || !TOKEN.test(apiKey)) {
    throw new TypeError('apiKey is not a whole API key: it holds blanks or other characters that no key has.');
  }
  return apiKey;
}

function checkedNumber(name: string, value: number, { min, max }: { min: number; max: number }): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(`${name} must be an integer from ${min} to ${max}.`);
}
