import type { Settings } from './settings.ts';

/** The outcome of one try. */
export type Outcome =
  | { readonly kind: 'received'; readonly response: Response }
  | { readonly kind: 'redirected'; readonly status: number }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'failed'; readonly reason: string };

export type Limits = { readonly limitMs: number; readonly signal: AbortSignal | undefined };

export type Attempt = Limits & { readonly body: string | null; readonly key: string; readonly settings: Settings };

/** Sends the request once. Reads the whole response, so that the time limit includes it. */
export async function attempt(request: Request, { body, key, settings, ...limits }: Attempt): Promise<Outcome> {
  try {
    const outcome = await inTime((signal) => exchange(authorized(request, { body, key, signal }), settings), limits);
    return outcome ?? { kind: 'timed-out' };
  } catch (error) {
    limits.signal?.throwIfAborted();
    return { kind: 'failed', reason: reasonOf(error).replaceAll(key, '[the API key]') };
  }
}

/** Undefined if the work has no result in time. Throws the signal's reason as soon as the signal is aborted. */
export async function inTime<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { limitMs, signal }: Limits,
): Promise<T | undefined> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, limitMs);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await orAborted(work(controller.signal), controller.signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (controller.signal.aborted) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** A new request for each try, because a body can be sent only once. No other request holds the key. */
function authorized(
  { url, method, headers }: Request,
  { body, key, signal }: Pick<Attempt, 'body' | 'key'> & { signal: AbortSignal },
): Request {
  const request = new Request(url, { method, headers, body, signal, redirect: 'manual', credentials: 'omit' });
  request.headers.set('Authorization', `Bearer ${key}`);
  return request;
}

async function exchange(request: Request, { fetch }: Settings): Promise<Outcome> {
  const response = await fetch(request);
  const { status, statusText, headers } = response;
  // Following a redirect could send the key to another host. Browsers hide even the status of a redirect.
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304)) {
    return { kind: 'redirected', status };
  }
  const text = await response.text();
  // `Response` throws on any body, even an empty one, for a status without a body.
  return { kind: 'received', response: new Response(text === '' ? null : text, { status, statusText, headers }) };
}

/** Rejects when the signal is aborted, even if the given `fetch` ignores the signal. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

/**
 * The message of `fetch` ("fetch failed") and of its cause, which holds the reason. Without `instanceof`, because either may
 * come from another realm.
 */
export function reasonOf(error: unknown): string {
  const messages = [error, Object(error).cause].map((each) => Object(each).message || Object(each).code);
  return messages.filter((each) => typeof each === 'string').join(': ') || 'the connection failed';
}
