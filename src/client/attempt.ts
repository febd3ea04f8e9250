import type { Settings } from './settings.ts';

/** What became of one try. */
export type Outcome =
  | { readonly kind: 'answered'; readonly response: Response }
  | { readonly kind: 'redirected'; readonly status: number }
  | { readonly kind: 'late' }
  | { readonly kind: 'failed'; readonly reason: string };

export type Attempt = {
  readonly body: string | null;
  readonly settings: Settings;
  readonly limitMs: number;
  readonly signal: AbortSignal | undefined;
};

/** Sends the request once and reads the whole answer, so that the limit holds for that too. */
export async function attempt(request: Request, { body, settings, limitMs, signal }: Attempt): Promise<Outcome> {
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, limitMs);
  signal?.addEventListener('abort', end, { once: true });
  try {
    return await orAborted(
      exchange(keyed(request, { body, settings, signal: ending.signal }), settings),
      ending.signal,
    );
  } catch (error) {
    signal?.throwIfAborted();
    if (ending.signal.aborted) return { kind: 'late' };
    return { kind: 'failed', reason: wordsOf(error).replaceAll(settings.apiKey, '[the API key]') };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** Made anew for each try, because a body can be sent only once; the key is in this one alone. */
function keyed(
  { url, method, headers }: Request,
  { body, settings, signal }: Pick<Attempt, 'body' | 'settings'> & { signal: AbortSignal },
): Request {
  const request = new Request(url, { method, headers, body, signal, redirect: 'manual', credentials: 'omit' });
  request.headers.set('Authorization', `Bearer ${settings.apiKey}`);
  return request;
}

async function exchange(request: Request, { fetch }: Settings): Promise<Outcome> {
  const response = await fetch(request);
  const { status, statusText, headers } = response;
  // A redirect could lead the key to another host. A browser hides even its status.
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304)) {
    return { kind: 'redirected', status };
  }
  const text = await response.text();
  // `Response` refuses a body, even an empty one, for a status that has none.
  return { kind: 'answered', response: new Response(text === '' ? null : text, { status, statusText, headers }) };
}

/** Ends with the signal even where a given `fetch` does not heed it. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

/** A `fetch` says "fetch failed" and hides the reason in the cause. Either may be of another realm: no `instanceof`. */
function wordsOf(error: unknown): string {
  const words = [error, Object(error).cause].map((each) => Object(each).message || Object(each).code);
  return words.filter((each) => typeof each === 'string').join(': ') || 'the connection failed';
}
