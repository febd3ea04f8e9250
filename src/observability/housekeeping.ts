import { PROVIDER_WAYS } from '../service/sign-in/ways.ts';
import { deleteOldKeyNotices } from '../store/keys/key-notices.ts';
import { deleteOldKeyRequests } from '../store/keys/key-requests.ts';
import { deleteOldKeyNetworks, deleteOldKeyUses } from '../store/keys/key-uses.ts';
import { deleteOldOperationUses } from '../store/keys/operation-uses.ts';
import { deleteIdleRateLimits } from '../store/keys/rate-limits.ts';
import { deleteExpiredAccessLinks } from '../store/people/access-links.ts';
import { deleteExpiredChallenges } from '../store/people/passkeys.ts';
import { deleteExpiredSessions } from '../store/people/sessions.ts';
import { deleteExpiredSignInFailures } from '../store/people/sign-in-failures.ts';
import { deleteExpiredEvents } from '../store/resources/events.ts';
import { deleteExpiredIdempotencyKeys } from '../store/resources/idempotency-keys.ts';
import type { Deletion } from '../store/sql/chunks.ts';
import type { Database } from '../store/sql/database.ts';
import {
  deleteExpiredDeliveries,
  deleteOldWebhookDays,
  eraseExpiredPreviousSecrets,
} from '../store/webhooks/webhook-history.ts';
import type { Tally } from './instruments/measures.ts';
import type { Logger } from './logs.ts';

const SCHEDULE = { firstMs: 5000, everyMs: 15 * 60_000 };

export type Retention = {
  /** The number of days for which events and their webhook deliveries are kept. */
  readonly eventDays: number;
};

export type HousekeepingOptions = {
  readonly retention: Retention;
  /** Counts the failures of each task. */
  readonly failures?: Tally<HousekeepingTask>;
};

const TASKS = {
  'idempotency keys': deleteExpiredIdempotencyKeys,
  sessions: deleteExpiredSessions,
  'access links': deleteExpiredAccessLinks,
  'sign-ins under way': deleteExpiredProviderSignIns,
  'failed sign-ins': deleteExpiredSignInFailures,
  'passkey challenges': deleteExpiredChallenges,
  'rate limits': deleteIdleRateLimits,
  'counts of requests': deleteOldKeyUses,
  'counts of requests by operation': deleteOldOperationUses,
  'requests of keys': deleteOldKeyRequests,
  'notices about keys': deleteOldKeyNotices,
  'networks of keys': deleteOldKeyNetworks,
  // Deliveries are deleted before their events, because an attempt to deliver a deleted event would fail.
  'webhook deliveries': (db, deletion, { eventDays }) => deleteExpiredDeliveries(db, deletion, eventDays),
  'counts of webhooks': deleteOldWebhookDays,
  'previous webhook secrets': eraseExpiredPreviousSecrets,
  events: (db, deletion, { eventDays }) => deleteExpiredEvents(db, deletion, eventDays),
} satisfies Record<string, (db: Database, deletion: Deletion, retention: Retention) => Promise<number>>;

/** The name of a task: the kind of rows that it deletes. */
export type HousekeepingTask = keyof typeof TASKS;

/** The tasks in the order in which they run. The assertion is safe, because no other code adds a property to `TASKS`. */
export const HOUSEKEEPING_TASKS = Object.keys(TASKS) as HousekeepingTask[];

async function deleteExpiredProviderSignIns(db: Database, deletion: Deletion): Promise<number> {
  let deleted = 0;
  for (const way of PROVIDER_WAYS) deleted += await way.deleteExpired(db, deletion);
  return deleted;
}

/**
 * Deletes expired rows a few seconds after the start, so that short-lived processes delete rows, too, and then every 15 minutes,
 * unless the last run is still in progress. Returns a function that stops the runs and waits for the current chunk.
 */
export function startHousekeeping(
  db: Database,
  logger: Logger,
  { schedule = SCHEDULE, ...options }: HousekeepingOptions & { schedule?: typeof SCHEDULE },
): () => Promise<void> {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  const run = () => {
    if (running !== undefined) {
      logger.debug('the last deletion of expired rows is still in progress');
      return;
    }
    running = deleteExpired(db, logger, { now: new Date(), ...options, signal: stopping.signal }).finally(() => {
      running = undefined;
    });
  };
  const first = setTimeout(run, schedule.firstMs).unref();
  const timer = setInterval(run, schedule.everyMs).unref();
  return async () => {
    clearTimeout(first);
    clearInterval(timer);
    stopping.abort();
    await running;
  };
}

/**
 * Runs every task once. Stops when the signal is aborted. If a task fails, the failure is logged and the other tasks still run.
 */
export async function deleteExpired(
  db: Database,
  logger: Logger,
  { retention, failures, ...deletion }: Deletion & HousekeepingOptions,
): Promise<void> {
  for (const rows of HOUSEKEEPING_TASKS) {
    if (deletion.signal?.aborted === true) return;
    try {
      logger.debug({ rows, deleted: await TASKS[rows](db, deletion, retention) }, 'deleted expired rows');
    } catch (error) {
      failures?.count(rows);
      logger.warn({ err: error, rows }, 'could not delete expired rows; will try again');
    }
  }
}
