import { deleteExpiredAccessLinks } from '../store/access-links.ts';
import type { Database } from '../store/database.ts';
import { deleteExpiredIdempotencyKeys } from '../store/idempotency-keys.ts';
import { deleteOldKeyUses } from '../store/key-uses.ts';
import { deleteIdleRateLimits } from '../store/rate-limits.ts';
import { deleteExpiredSessions } from '../store/sessions.ts';
import { deleteExpiredSignInFailures } from '../store/sign-in-failures.ts';
import type { Logger } from './logs.ts';

const EVERY_MINUTES = 15;

const TASKS: Readonly<Record<string, (db: Database, now: Date) => Promise<number>>> = {
  'idempotency keys': deleteExpiredIdempotencyKeys,
  sessions: deleteExpiredSessions,
  'access links': deleteExpiredAccessLinks,
  'failed sign-ins': deleteExpiredSignInFailures,
  'rate limits': deleteIdleRateLimits,
  'counts of requests': deleteOldKeyUses,
};

/** Deletes expired rows every 15 minutes. Returns a function that stops it. */
export function startHousekeeping(db: Database, logger: Logger): () => void {
  const timer = setInterval(() => void deleteExpired(db, logger, new Date()), EVERY_MINUTES * 60_000);
  timer.unref();
  return () => clearInterval(timer);
}

/** Runs every task once. A failed task is logged; the others still run. */
export async function deleteExpired(db: Database, logger: Logger, now: Date): Promise<void> {
  for (const [rows, run] of Object.entries(TASKS)) {
    try {
      logger.debug({ rows, deleted: await run(db, now) }, 'deleted expired rows');
    } catch (error) {
      logger.warn({ err: error, rows }, 'could not delete expired rows; will try again');
    }
  }
}
