/**
 * The options of a client. The types allow `undefined`, so that you can pass environment variables; `createClient` throws if a
 * required option is undefined.
 */
export type ClientOptions = {
  /** The address of Charter, such as `https://charter.example.org`. The key is sent only to this address. */
  readonly baseUrl: string | undefined;
  /**
   * The API key without `Bearer`, or a function that returns the key. The client calls the function before the first request, and
   * again in each call that gets a 401. If the function then returns another key, the client repeats the request with that key.
   */
  readonly apiKey: string | undefined | (() => string | undefined | Promise<string | undefined>);
  /** The time limit for one try, in milliseconds, including the whole response: 1 to 600,000. The default is 30,000. */
  readonly timeoutMs?: number | undefined;
  /** The maximum number of retries of a request that is safe to repeat: 0 to 10. The default is 2. */
  readonly retries?: number | undefined;
  /**
   * The time limit for a call, in milliseconds, with all tries and the waits between them: 1 to 3,600,000. The default is
   * 120,000.
   */
  readonly totalTimeoutMs?: number | undefined;
  /** A function that replaces the platform's `fetch`. */
  readonly fetch?: Fetch | undefined;
};

export type Fetch = (request: Request) => Promise<Response>;

export type Settings = {
  /** The address without a slash at the end. */
  readonly baseUrl: string;
  readonly apiKey: KeySource;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly totalTimeoutMs: number;
  readonly fetch: Fetch;
};

/** Checks the options and adds the defaults. Throws a TypeError or RangeError. The message never contains the option's value. */
export function readSettings(options: ClientOptions): Settings {
  const { fetch: given } = options;
  return {
    baseUrl: readBaseUrl(options.baseUrl, 'baseUrl'),
    apiKey: createKeySource(options.apiKey),
    timeoutMs: readNumber('timeoutMs', options.timeoutMs ?? 30_000, { min: 1, max: 600_000 }),
    retries: readNumber('retries', options.retries ?? 2, { min: 0, max: 10 }),
    totalTimeoutMs: readNumber('totalTimeoutMs', options.totalTimeoutMs ?? 120_000, { min: 1, max: 3_600_000 }),
    // `given` is called as a function and not as a method, because a browser's fetch throws if `this` is another object.
    fetch: (request) => (given === undefined ? fetch(request) : given(request)),
  };
}

/**
 * Returns the address without a slash at the end. Throws a TypeError for an invalid address. The message never contains the
 * address; `name` is the name of the option or variable.
 */
export function readBaseUrl(baseUrl: unknown, name: string): string {
  const example = 'such as https://charter.example.org';
  if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl)) {
    throw new TypeError(`${name} must be an absolute URL, ${example}.`);
  }
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new TypeError(`${name} must begin with https:// or http://, ${example}.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(`${name} must not contain a user name or a password: the API key is sent in a header.`);
  }
  if (/[?#{}]/.test(baseUrl)) throw new TypeError(`${name} must end before any query or fragment, ${example}.`);
  return url.href.replace(/\/+$/, '');
}

function readNumber(name: string, value: number, { min, max }: { min: number; max: number }): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(`${name} must be an integer from ${min} to ${max}.`);
}

/**
 * Returns the key to send. `refused` is the key that the server has refused; `undefined` if none was. If a key was refused and
 * `apiKey` is a function, the function is called again.
 */
export type KeySource = (refused: string | undefined) => Promise<string>;

/**
 * Creates the source of the key from the option `apiKey`. An invalid key causes a TypeError: immediately if `given` is a key, or
 * as a rejection of the source if `given` is a function. The message never contains the key.
 */
function createKeySource(given: unknown): KeySource {
  if (typeof given !== 'function') {
    const key = requireApiKey(given);
    return async () => key;
  }
  let known: string | undefined;
  let asking: Promise<string> | undefined;
  const ask = async () => {
    known = requireApiKey(await given());
    return known;
  };
  return async (refused) => {
    if (known !== undefined && known !== refused) return known;
    // Calls that are refused at the same time share one call of the function.
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}

/** The syntax of a bearer token (RFC 6750, section 2.1). The server decides whether the token is a valid key. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const MAX_TOKEN_CHARACTERS = 1024;

/**
 * Throws a TypeError unless the value can be an API key. The message never contains the value; `name` is the name of the option
 * or variable.
 */
export function requireApiKey(apiKey: unknown, name = 'apiKey'): string {
  if (typeof apiKey !== 'string' || apiKey === '') throw new TypeError(`${name} is missing or empty.`);
  if (/^bearer\s/i.test(apiKey)) throw new TypeError(`${name} must be the API key alone, without "Bearer".`);
  if (apiKey.trim() !== apiKey)
    throw new TypeError(`${name} begins or ends with a blank or a line break. Remove it, such as with trim().`);
  if (apiKey.length > MAX_TOKEN_CHARACTERS || !TOKEN.test(apiKey)) {
    throw new TypeError(
      `${name} is not an API key: it is too long, or contains spaces or other characters that no key has.`,
    );
  }
  return apiKey;
}
