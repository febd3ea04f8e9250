import createFetchClient from 'openapi-fetch';
import type { IdempotentPath, Method } from './contract.ts';
import { UnexpectedResponseError } from './errors.ts';
import { type Clock, nameOf, send } from './sending.ts';
import type { Settings } from './settings.ts';

/** Calls an operation. The type does not depend on the contract; `client.ts` adds the contract's types. */
export type Call = (method: Method, path: string, options?: LooseOptions) => Promise<LooseResult>;

export type LooseOptions = {
  readonly params?: Parameters;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
};

export type LooseResult = Received & ({ readonly data?: unknown } | { readonly error: Exception });

type Received = {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
  readonly response: Response;
  readonly tries: number;
};

type Exception = { readonly message: string };

/**
 * Creates a function that calls operations. openapi-fetch builds the request and reads the response; `send` handles the key, time
 * limits and retries.
 */
export function createCall(settings: Settings, clock: Clock): Call {
  const client = createFetchClient<LoosePaths>({ baseUrl: settings.baseUrl });
  return async (method, path, { params = {}, body, signal } = {}) => {
    let name = '';
    let tries = 0;
    const { response, data, error } = await client.request(method, path, {
      params: parametersOf(method, path, params),
      body,
      parseAs: 'text',
      fetch: async (request) => {
        name = nameOf(request);
        const sent = await send(request, { settings, clock, signal });
        tries = sent.tries;
        return sent.response;
      },
    });
    const { ok, status, headers } = response;
    const received = { ok, status, headers, response, tries };
    if (status === 204 || status === 304) return received;
    if (ok) return { ...received, data: parseOrUndefined(data) ?? throwUnexpected(name, status) };
    return isException(error) ? { ...received, error } : throwUnexpected(name, status);
  };
}

function throwUnexpected(name: string, status: number): never {
  throw new UnexpectedResponseError(name, { status, reason: 'its body is not one that Charter sends' });
}

/** Returns the parsed JSON, or `undefined` if the text is not JSON. */
function parseOrUndefined(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** Returns whether the value looks like an exception of the contract. */
function isException(error: unknown): error is Exception {
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';
}

/** The `paths` type that openapi-fetch needs, which fits any contract. */
type LoosePaths = Record<string, Record<Method, LooseOperation>>;
type LooseOperation = {
  parameters: Parameters;
  requestBody?: { content: { 'application/json': unknown } };
  responses: Record<200 | 500, { content: { 'application/json': unknown } }>;
};

export type Parameters = {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
};

/** The type of this table contains exactly the contract's paths, so a missing or unknown path does not compile. */
const IDEMPOTENT_PATHS: Readonly<Record<IdempotentPath, true>> = {
  '/api/parent_programs': true,
  '/api/parent_programs/batch': true,
};

/**
 * Returns the parameters to send. Adds a random `Idempotency-Key` to a creation that has none, which all tries share. Throws a
 * TypeError for values that the types forbid and that would change the meaning of the request.
 */
function parametersOf(method: Method, path: string, given: Parameters): Parameters {
  // The attack: the path "@other.example" would turn the base URL into a user name at another host.
  if (!path.startsWith('/')) throw new TypeError('The path must begin with "/".');
  const parameters = {
    path: withoutUndefined('path', given.path),
    query: withoutUndefined('query', given.query),
    header: strengthenTags(withoutUndefined('header', given.header)),
  };
  for (const [, name = ''] of path.matchAll(/\{([^{}]+)\}/g)) requireSegment(name, parameters.path[name]);
  return method === 'post' && Object.hasOwn(IDEMPOTENT_PATHS, path)
    ? { ...parameters, header: withIdempotencyKey(parameters.header) }
    : parameters;
}

/**
 * Returns the values without those that are undefined. Throws for `null`: if a `null` were left out, the request would lose a
 * filter, or the `If-Match` that prevents lost updates.
 */
function withoutUndefined(
  location: keyof Parameters,
  values: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const isNull = given.find(([, value]) => value === null);
  if (isNull !== undefined)
    throw new TypeError(`params.${location}.${isNull[0]} is null. Give a value, or leave it out.`);
  return Object.fromEntries(given);
}

/** Throws for the segments "", "." and "..", because they would lead to another path (RFC 3986, section 5.2.4). */
function requireSegment(name: string, value: unknown): void {
  if (value === undefined) throw new TypeError(`params.path.${name} is missing.`);
  if (['', '.', '..'].includes(String(value)))
    throw new TypeError(`params.path.${name} must not be empty, "." or "..".`);
}

const ENTITY_TAG = /(?:W\/)?("[^"]*")/g;

/**
 * Returns the header parameters with strong ETags in place of weak ones. Charter sends strong ETags, but proxies that compress
 * responses make them weak. A weak ETag never matches in `If-Match`, so a client that sent a weak ETag back would always get a
 * 412.
 */
function strengthenTags(header: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(header).map(([name, value]) =>
      name.toLowerCase() === 'if-match' && typeof value === 'string'
        ? [name, value.replace(ENTITY_TAG, '$1')]
        : [name, value],
    ),
  );
}

function withIdempotencyKey(header: Record<string, unknown>): Record<string, unknown> {
  const isGiven = Object.keys(header).some((name) => name.toLowerCase() === 'idempotency-key');
  return isGiven ? header : { ...header, 'Idempotency-Key': randomKey() };
}

/** Returns 128 random bits as text. Browsers have `crypto.randomUUID` only on HTTPS pages. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
