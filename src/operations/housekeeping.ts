import { deleteExpiredAccessLinks } from '../store/access-links.ts';
import type { Database } from '../store/database.ts';
import { deleteExpiredIdempotencyKeys } from '../store/idempotency-keys.ts';
import { deleteExpiredSessions } from '../store/sessions.ts';
import { deleteExpiredSignInFailures } from '../store/sign-in-failures.ts';
import type { Logger } from './logs.ts';

const EVERY_MINUTES = 15;

const CHORES: Readonly<Record<string, (db: Database, now: Date) => Promise<number>>> = {
  'idempotency keys': deleteExpiredIdempotencyKeys,
  sessions: deleteExpiredSessions,
  'access links': deleteExpiredAccessLinks,
  'failed sign-ins': deleteExpiredSignInFailures,
};

/** Forgets what is past its time, now and then. Returns what ends it. */
export function startHousekeeping(db: Database, logger: Logger): () => void {
  const timer = setInterval(() => void tidy(db, logger, new Date()), EVERY_MINUTES * 60_000);
  timer.unref();
  return () => clearInterval(timer);
}

/** One round; a chore that fails is told of, keeps no other from being done, and is tried again in the next round. */
export async function tidy(db: Database, logger: Logger, now: Date): Promise<void> {
  for (const [what, forget] of Object.entries(CHORES)) {
    try {
      logger.debug({ what, forgotten: await forget(db, now) }, 'forgot what is past its time');
    } catch (error) {
      logger.warn({ err: error, what }, 'what is past its time could not be forgotten; will try again');
    }
  }
}
