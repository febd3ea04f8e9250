import { deleteExpiredAccessLinks } from '../store/access-links.ts';
import type { Database } from '../store/database.ts';
import { deleteExpiredEvents } from '../store/events.ts';
import { deleteExpiredIdempotencyKeys } from '../store/idempotency-keys.ts';
import { deleteOldKeyUses } from '../store/key-uses.ts';
import { deleteIdleRateLimits } from '../store/rate-limits.ts';
import { deleteExpiredSessions } from '../store/sessions.ts';
import { deleteExpiredSignInFailures } from '../store/sign-in-failures.ts';
import type { Logger } from './logs.ts';

const FIRST_SECONDS = 5;
const EVERY_MINUTES = 15;

export type Retention = {
  /** How long events are kept. */
  readonly eventDays: number;
};

const TASKS: Readonly<Record<string, (db: Database, now: Date, retention: Retention) => Promise<number>>> = {
  'idempotency keys': deleteExpiredIdempotencyKeys,
  sessions: deleteExpiredSessions,
  'access links': deleteExpiredAccessLinks,
  'failed sign-ins': deleteExpiredSignInFailures,
  'rate limits': deleteIdleRateLimits,
  'counts of requests': deleteOldKeyUses,
  events: (db, now, { eventDays }) => deleteExpiredEvents(db, now, eventDays),
};

/**
 * Deletes expired rows some seconds after the start, for processes that do not live long, and then every 15 minutes. Returns a
 * function that stops it, and waits for the run in progress.
 */
export function startHousekeeping(db: Database, logger: Logger, retention: Retention): () => Promise<void> {
  let running = Promise.resolve();
  const run = () => {
    running = deleteExpired(db, logger, { now: new Date(), retention });
  };
  const first = setTimeout(run, FIRST_SECONDS * 1000).unref();
  const timer = setInterval(run, EVERY_MINUTES * 60_000).unref();
  return () => {
    clearTimeout(first);
    clearInterval(timer);
    return running;
  };
}

/** Runs every task once. A failed task is logged; the others still run. */
export async function deleteExpired(
  db: Database,
  logger: Logger,
  { now, retention }: { now: Date; retention: Retention },
): Promise<void> {
  for (const [rows, run] of Object.entries(TASKS)) {
    try {
      logger.debug({ rows, deleted: await run(db, now, retention) }, 'deleted expired rows');
    } catch (error) {
      logger.warn({ err: error, rows }, 'could not delete expired rows; will try again');
    }
  }
}
