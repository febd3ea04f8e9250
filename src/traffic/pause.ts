import { setTimeout as delay } from 'node:timers/promises';
import { OverloadError } from '../domain/errors.ts';
import type { RequestLimiter } from './request-limiter.ts';

/** Returns a function that waits for at most this time. All calls during one wait end with it and share its timer. */
export function createPause(milliseconds: number): () => Promise<void> {
  let current: Promise<void> | undefined;
  const wait = async () => {
    await delay(milliseconds, undefined, { ref: false });
    current = undefined;
  };
  return () => {
    current ??= wait();
    return current;
  };
}

/** The processor time for refusals would otherwise have no limit: a client can send the next request as soon as it is refused. */
export const REFUSAL_PAUSE_MS = 100;

/**
 * Returns a function that delays a request that needs no key, such as one for the sign-in page, by at most this pause if its
 * address sends too many requests without a valid key. It never waits longer than that for PostgreSQL, which may be down.
 */
export function createThrottle(limiter: Pick<RequestLimiter, 'admitAddress'>, pause: () => Promise<void>) {
  return async (ip: string): Promise<void> => {
    const admitted = admit(limiter, ip);
    if (admitted === true) return;
    const end = pause();
    if (!(await Promise.race([admitted, end.then(() => true)]))) await end;
  };
}

/** Too many requests that wait for PostgreSQL are a reason for a delay, not for a refusal. */
function admit(limiter: Pick<RequestLimiter, 'admitAddress'>, ip: string): boolean | Promise<boolean> {
  try {
    return limiter.admitAddress(ip);
  } catch (error) {
    if (error instanceof OverloadError) return false;
    throw error;
  }
}
