import { attempt, type Outcome } from './attempt.ts';
import type { Clock } from './clock.ts';
import { NetworkError, TimeoutError, UnexpectedAnswerError } from './errors.ts';
import { isSafeToRepeat, isTemporary, waitMsAfter } from './retrying.ts';
import type { Settings } from './settings.ts';

export type Sent = { readonly response: Response; readonly tries: number };

export type Sending = {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
};

/**
 * Sends the request until it has a lasting answer, as often as is safe and as the settings allow; then the last answer
 * or failure counts. Throws the signal's reason as soon as the signal is given.
 */
export async function send(request: Request, { settings, clock, signal }: Sending): Promise<Sent> {
  // Not `request.body`, which Firefox does not have. No JSON is an empty text.
  const body = (await request.text()) || null;
  const mostTries = isSafeToRepeat(request) ? settings.retries + 1 : 1;
  const endsAt = clock.now() + settings.totalTimeoutMs;
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    const limitMs = Math.max(1, Math.min(settings.timeoutMs, Math.ceil(endsAt - clock.now())));
    const outcome = await attempt(request, { body, settings, limitMs, signal });
    if (tries === mostTries || isLasting(outcome)) return settle(outcome, { request, limitMs, tries });
    const headers = outcome.kind === 'answered' ? outcome.response.headers : undefined;
    const waitMs = waitMsAfter({ tries, headers, random: clock.random() });
    // Waiting for nothing would only keep the caller from knowing.
    if (clock.now() + waitMs >= endsAt) return settle(outcome, { request, limitMs, tries });
    await clock.wait(waitMs, signal);
  }
}

function isLasting(outcome: Outcome): boolean {
  return outcome.kind === 'redirected' || (outcome.kind === 'answered' && !isTemporary(outcome.response.status));
}

function settle(
  outcome: Outcome,
  { request, limitMs, tries }: { request: Request; limitMs: number; tries: number },
): Sent {
  const what = nameOf(request);
  switch (outcome.kind) {
    case 'answered':
      return { response: outcome.response, tries };
    case 'redirected':
      throw new UnexpectedAnswerError(what, { status: outcome.status, reason: 'it leads to another address' });
    case 'late':
      throw new TimeoutError(what, { timeoutMs: limitMs, tries });
    case 'failed':
      throw new NetworkError(what, { reason: outcome.reason, tries });
  }
}

/** Without the query: what somebody searched for belongs in no log. */
export function nameOf({ method, url }: Pick<Request, 'method' | 'url'>): string {
  return `${method} ${url.split('?', 1)[0]}`;
}
