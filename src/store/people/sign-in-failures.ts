import { createHash } from 'node:crypto';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { HOUR_MS } from '../../domain/time.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database, Transaction } from '../sql/database.ts';

/** Allows `attempts` in the `seconds` after the first one. */
export type AttemptLimit = { readonly name: string; readonly attempts: number; readonly seconds: number };

export type AttemptAdmission = { kind: 'admitted' } | { kind: 'rate-limited'; retryAfterSeconds: number };

const limiters = new WeakMap<Database, Map<string, RateLimiterPostgres>>();

/** One limiter for each limit and pool. All counts are in the database. */
function limiterOf(db: Database, { name, attempts, seconds }: AttemptLimit): RateLimiterPostgres {
  const known = limiters.get(db) ?? new Map<string, RateLimiterPostgres>();
  limiters.set(db, known);
  const limiter =
    known.get(name) ??
    new RateLimiterPostgres({
      storeClient: db.pool,
      storeType: 'pool',
      tableName: 'sign_in_failures',
      tableCreated: true,
      keyPrefix: name,
      points: attempts,
      duration: seconds,
      clearExpiredByTimeout: false,
    });
  known.set(name, limiter);
  return limiter;
}

/** Counts an attempt before it is checked, so that concurrent attempts cannot exceed the limit. */
export async function countAttempt(db: Database, limit: AttemptLimit, subject: string): Promise<AttemptAdmission> {
  try {
    await limiterOf(db, limit).consume(subject);
    return { kind: 'admitted' };
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    return { kind: 'rate-limited', retryAfterSeconds: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)) };
  }
}

/** Takes back the count of one attempt that was no failure. */
export async function takeBackAttempt(db: Database, limit: AttemptLimit, subject: string): Promise<void> {
  await limiterOf(db, limit).reward(subject);
}

export async function resetAttempts(db: Database, limit: AttemptLimit, subject: string): Promise<void> {
  await limiterOf(db, limit).delete(subject);
}

/** Remembers the subject for `seconds` from now. */
export async function remember(db: Database, { name, seconds }: Omit<AttemptLimit, 'attempts'>, subject: string) {
  await limiterOf(db, { name, attempts: 1, seconds }).set(subject, 1, seconds);
}

export async function isRemembered(db: Database, { name, seconds }: Omit<AttemptLimit, 'attempts'>, subject: string) {
  return (await limiterOf(db, { name, attempts: 1, seconds }).get(subject)) !== null;
}

const UNKNOWN_EMAIL_HOURS = 24;

/** Records a failure for an unknown e-mail, so that it takes as long as recording the audit event for a known one. */
export async function recordUnknownEmail(
  tx: Transaction,
  { account, at }: { account: string; at: Date },
): Promise<void> {
  const key = `unknown:${createHash('sha256').update(account).digest('base64url')}`;
  const expire = BigInt(at.getTime() + UNKNOWN_EMAIL_HOURS * HOUR_MS);
  await tx.signInFailure.upsert({
    where: { key },
    create: { key, points: 1, expire },
    update: { points: { increment: 1 }, expire },
  });
}

/** Deletes expired counts, in chunks: a flood of guesses leaves a row for each address. Returns how many. */
export async function deleteExpiredSignInFailures(db: Database, deletion: Deletion): Promise<number> {
  const at = BigInt(deletion.now.getTime());
  return deleteInChunks(
    deletion,
    // An array of keys uses the primary key; with "key in (select ...)" each chunk may read the whole table.
    () => db.prisma.$executeRaw`
      delete from sign_in_failures where key = any(array(
        select key from sign_in_failures where expire < ${at}
        order by expire limit ${CHUNK_ROWS}::int for update skip locked))`,
  );
}
