import { NetworkError, TimeoutError, UnexpectedResponseError } from './errors.ts';
import type { Settings } from './settings.ts';

export type Sent = { readonly response: Response; readonly tries: number };

export type Sending = {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
};

/**
 * Sends the request. Retries temporary failures as often as is safe and the settings allow. Retries once after a 401 if the
 * source of the key then returns another key. Returns the last result. Throws the signal's reason as soon as the signal is
 * aborted.
 */
export async function send(request: Request, { settings, clock, signal }: Sending): Promise<Sent> {
  // The body is read as text, because Firefox has no `request.body`. JSON text is never empty.
  const body = (await request.text()) || null;
  const mayRepeat = isSafeToRepeat(request);
  const endsAt = clock.now() + settings.totalTimeoutMs;
  const limits = () => ({
    limitMs: Math.max(1, Math.min(settings.timeoutMs, Math.ceil(endsAt - clock.now()))),
    signal,
  });
  let refused: string | undefined;
  let key = await keyFrom(settings, { request, refused, tries: 0, ...limits() });
  for (let tries = 1, retries = 0; ; tries += 1) {
    signal?.throwIfAborted();
    const { limitMs } = limits();
    const outcome = await attempt(request, { body, key, settings, limitMs, signal });
    if (isUnauthorized(outcome) && refused === undefined) {
      refused = key;
      key = await keyFrom(settings, { request, refused, tries, ...limits() });
      if (key !== refused) continue;
    }
    const isRepeatable = mayRepeat || (outcome.kind === 'received' && isNotExecuted(outcome.response.status));
    if (retries >= settings.retries || !isRepeatable || isFinal(outcome))
      return settle(outcome, { request, limitMs, tries });
    const headers = outcome.kind === 'received' ? outcome.response.headers : undefined;
    retries += 1;
    const waitMs = waitMsAfter({ tries: retries, headers, random: clock.random() });
    // The next try would begin after the time limit of the call.
    if (clock.now() + waitMs >= endsAt) return settle(outcome, { request, limitMs, tries });
    await clock.wait(waitMs, signal);
  }
}

type Asking = Limits & { readonly request: Request; readonly refused: string | undefined; readonly tries: number };

/** Returns the key to send. Rejects with the error of the `apiKey` function if that function fails. */
async function keyFrom({ apiKey }: Settings, { request, refused, tries, ...limits }: Asking): Promise<string> {
  const key = await withTimeLimit(() => apiKey(refused), limits);
  if (key === undefined) throw new TimeoutError(nameOf(request), { timeoutMs: limits.limitMs, tries });
  return key;
}

function isUnauthorized(outcome: TryResult): boolean {
  return outcome.kind === 'received' && outcome.response.status === 401;
}

function isFinal(outcome: TryResult): boolean {
  return outcome.kind === 'redirected' || (outcome.kind === 'received' && !isTemporary(outcome.response.status));
}

function settle(
  outcome: TryResult,
  { request, limitMs, tries }: { request: Request; limitMs: number; tries: number },
): Sent {
  const name = nameOf(request);
  switch (outcome.kind) {
    case 'received':
      return { response: outcome.response, tries };
    case 'redirected':
      throw new UnexpectedResponseError(name, { status: outcome.status, reason: 'it is a redirect' });
    case 'timed-out':
      throw new TimeoutError(name, { timeoutMs: limitMs, tries });
    case 'failed':
      throw new NetworkError(name, { reason: outcome.reason, tries });
  }
}

/** Returns the method and the URL without its query, because the query may contain search terms, which do not belong in logs. */
export function nameOf({ method, url }: Pick<Request, 'method' | 'url'>): string {
  return `${method} ${url.split('?', 1)[0]}`;
}

/** The result of one try. */
export type TryResult =
  | { readonly kind: 'received'; readonly response: Response }
  | { readonly kind: 'redirected'; readonly status: number }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'failed'; readonly reason: string };

export type Limits = { readonly limitMs: number; readonly signal: AbortSignal | undefined };

export type Attempt = Limits & { readonly body: string | null; readonly key: string; readonly settings: Settings };

/** Sends the request once. Reads the whole response, so that the time limit covers the body. */
export async function attempt(request: Request, { body, key, settings, ...limits }: Attempt): Promise<TryResult> {
  try {
    const outcome = await withTimeLimit(
      (signal) => exchange(authorize(request, { body, key, signal }), settings),
      limits,
    );
    return outcome ?? { kind: 'timed-out' };
  } catch (error) {
    limits.signal?.throwIfAborted();
    return { kind: 'failed', reason: reasonOf(error).replaceAll(key, '[the API key]') };
  }
}

/**
 * Resolves to `undefined` if the work takes longer than the time limit. Rejects with the signal's reason as soon as the signal is
 * aborted.
 */
async function withTimeLimit<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { limitMs, signal }: Limits,
): Promise<T | undefined> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, limitMs);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await rejectOnAbort(work(controller.signal), controller.signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (controller.signal.aborted) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** Returns a copy of the request with the key. Each try needs a copy, because the body of a request can be sent only once. */
function authorize(
  { url, method, headers }: Request,
  { body, key, signal }: Pick<Attempt, 'body' | 'key'> & { signal: AbortSignal },
): Request {
  const request = new Request(url, { method, headers, body, signal, redirect: 'manual', credentials: 'omit' });
  request.headers.set('Authorization', `Bearer ${key}`);
  return request;
}

async function exchange(request: Request, { fetch }: Settings): Promise<TryResult> {
  const response = await fetch(request);
  const { status, statusText, headers } = response;
  // A redirect is not followed, because that could send the key to another host. Browsers hide even the status of a redirect.
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304)) {
    return { kind: 'redirected', status };
  }
  const text = await response.text();
  // For a status without a body, such as 204, the constructor of `Response` throws for any body, even an empty string.
  return { kind: 'received', response: new Response(text === '' ? null : text, { status, statusText, headers }) };
}

/** Returns a promise that rejects as soon as the signal is aborted, even if the work ignores the signal. */
function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

/**
 * Returns the message of a `fetch` error ("fetch failed") with the message of its cause, which contains the reason. Does not use
 * `instanceof`, because the errors may come from another realm.
 */
export function reasonOf(error: unknown): string {
  const messages = [error, Object(error).cause].map((each) => Object(each).message || Object(each).code);
  return messages.filter((each) => typeof each === 'string').join(': ') || 'the connection failed';
}

/** The statuses of a request timeout and of too many requests. The server has not executed a request with such a response. */
const NOT_EXECUTED = new Set([408, 429]);
/** The statuses of temporary failures, after which a retry may succeed. 502 and 504 come from a proxy. */
const TEMPORARY = new Set([...NOT_EXECUTED, 502, 503, 504]);

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;

export function isTemporary(status: number): boolean {
  return TEMPORARY.has(status);
}

/** Returns whether the status means that the request was not executed. Even a creation can then be sent again. */
export function isNotExecuted(status: number): boolean {
  return NOT_EXECUTED.has(status);
}

/**
 * Returns whether sending the request twice has the same effect as sending it once.
 *
 * - GET, PUT and DELETE are idempotent (RFC 9110, section 9.2.2).
 * - PATCH is not (RFC 5789, section 2), because a late second request could undo another client's change, unless `If-Match`
 *   names the version to change. `*` names no version.
 * - POST is not, unless both requests have the same `Idempotency-Key`.
 */
function isSafeToRepeat({ method, headers }: Pick<Request, 'method' | 'headers'>): boolean {
  switch (method) {
    case 'GET':
    case 'PUT':
    case 'DELETE':
      return true;
    case 'PATCH':
      return (headers.get('If-Match') ?? '*').trim() !== '*';
    case 'POST':
      return headers.has('Idempotency-Key');
    default:
      return false;
  }
}

/**
 * Returns the wait before the next try: that of `Retry-After`, otherwise an exponential back-off. `random`, from 0 to 1, adds
 * jitter, so that clients that fail at the same time do not retry at the same time. `headers` are the headers of the response;
 * `undefined` if there was no response.
 */
export function waitMsAfter({ tries, headers, random }: Tried): number {
  const asked = headers === undefined ? undefined : retryAfterMs(headers);
  if (asked !== undefined) return asked + random * FIRST_WAIT_MS;
  return Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS) * (0.5 + random / 2);
}

type Tried = { readonly tries: number; readonly headers: Headers | undefined; readonly random: number };

/**
 * Returns the wait in the Retry-After header, which has seconds or a date. A date is compared with the `Date` header if there is
 * one (RFC 9110, section 10.2.3). Returns `undefined` if there is no valid Retry-After.
 */
function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // `Date.parse` alone accepts almost any text: "-1" is a day in 2001.
  const at = / GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  const now = Date.parse(headers.get('Date') ?? '');
  return Math.max(0, at - (Number.isNaN(now) ? Date.now() : now));
}

/** The source of time and random numbers. Tests replace it. */
export type Clock = {
  /** Returns the number of milliseconds since a fixed moment. */
  now(): number;
  /** Returns a number that is at least 0 and less than 1. */
  random(): number;
  /** Waits. Rejects with the signal's reason as soon as the signal is aborted. */
  wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void>;
};

export const realClock: Clock = {
  now: () => performance.now(),
  random: () => Math.random(),
  wait: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, milliseconds);
      signal?.addEventListener('abort', abort, { once: true });
    }),
};
