import { attempt, inTime, type Limits, type Outcome } from './attempt.ts';
import type { Clock } from './clock.ts';
import { NetworkError, TimeoutError, UnexpectedResponseError } from './errors.ts';
import { isNotExecuted, isSafeToRepeat, isTemporary, waitMsAfter } from './retrying.ts';
import type { Settings } from './settings.ts';

export type Sent = { readonly response: Response; readonly tries: number };

export type Sending = {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
};

/**
 * Sends the request, and retries temporary failures as often as is safe and the settings allow, and a 401 once if there is
 * another key by then. The last outcome counts. Throws the signal's reason as soon as the signal is aborted.
 */
export async function send(request: Request, { settings, clock, signal }: Sending): Promise<Sent> {
  // Firefox has no `request.body`. JSON is never an empty text.
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
    // There is no time left for another try after the wait.
    if (clock.now() + waitMs >= endsAt) return settle(outcome, { request, limitMs, tries });
    await clock.wait(waitMs, signal);
  }
}

type Asking = Limits & { readonly request: Request; readonly refused: string | undefined; readonly tries: number };

/** Throws what the function throws that was given as `apiKey`. */
async function keyFrom({ apiKey }: Settings, { request, refused, tries, ...limits }: Asking): Promise<string> {
  const key = await inTime(() => apiKey(refused), limits);
  if (key === undefined) throw new TimeoutError(nameOf(request), { timeoutMs: limits.limitMs, tries });
  return key;
}

function isUnauthorized(outcome: Outcome): boolean {
  return outcome.kind === 'received' && outcome.response.status === 401;
}

function isFinal(outcome: Outcome): boolean {
  return outcome.kind === 'redirected' || (outcome.kind === 'received' && !isTemporary(outcome.response.status));
}

function settle(
  outcome: Outcome,
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

/** Method and URL, without the query: search terms do not belong in logs. */
export function nameOf({ method, url }: Pick<Request, 'method' | 'url'>): string {
  return `${method} ${url.split('?', 1)[0]}`;
}
