import type { Logger } from './logs.ts';

/** A request that was not readable HTTP, or did not arrive in time. `code`: Node's, of the error. */
export type UnreadableRequest = {
  readonly requestId: string;
  readonly status: number;
  readonly code: string | undefined;
};

export type UnreadableLog = {
  readonly log: (seen: UnreadableRequest) => void;
  /** Logs at once what has been counted so far. Call it when no more requests arrive. */
  readonly stop: () => void;
};

const EVERY_MS = 10_000;
const LOGGED_ONE_BY_ONE = 10;

/**
 * Logs malformed HTTP requests. In ten seconds, the first ten have a line each. The others are counted by status, and have one
 * line when the ten seconds are over: such a request costs its client nearly nothing.
 */
export function logUnreadable(logger: Logger, { everyMs = EVERY_MS } = {}): UnreadableLog {
  let logged = 0;
  let others: Record<string, number> = {};
  let timer: NodeJS.Timeout | undefined;
  const report = () => {
    if (Object.keys(others).length > 0) logger.info({ statuses: others }, 'further malformed HTTP requests');
    logged = 0;
    others = {};
    timer = undefined;
  };
  const log = (seen: UnreadableRequest) => {
    if (timer === undefined) timer = setTimeout(report, everyMs).unref();
    if (logged < LOGGED_ONE_BY_ONE) {
      logged += 1;
      logger.info(seen, 'malformed HTTP request');
    } else {
      others[seen.status] = (others[seen.status] ?? 0) + 1;
    }
  };
  const stop = () => {
    clearTimeout(timer);
    report();
  };
  return { log, stop };
}
