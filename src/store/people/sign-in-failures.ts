import { createHash } from 'node:crypto';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { HOUR_MS } from '../../domain/time.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database, Transaction } from '../sql/database.ts';

/** A limit of `attempts` attempts within `seconds` seconds from the first attempt. */
export type AttemptLimit = { readonly name: string; readonly attempts: number; readonly seconds: number };

export type AttemptAdmission = { kind: 'admitted' } | { kind: 'rate-limited'; retryAfterSeconds: number };

const limiters = new WeakMap<Database, Map<string, RateLimiterPostgres>>();

/** Returns the limiter of a database for this limit. The counts are stored in the database. */
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

/** Counts an attempt before the attempt is checked, so that concurrent attempts cannot exceed the limit. */
export async function countAttempt(db: Database, limit: AttemptLimit, subject: string): Promise<AttemptAdmission> {
  try {
    await limiterOf(db, limit).consume(subject);
    return { kind: 'admitted' };
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    return { kind: 'rate-limited', retryAfterSeconds: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)) };
  }
}

/** Removes an attempt from the count, because the attempt did not fail. */
export async function takeBackAttempt(db: Database, limit: AttemptLimit, subject: string): Promise<void> {
  await limiterOf(db, limit).reward(subject);
}

export async function resetAttempts(db: Database, limit: AttemptLimit, subject: string): Promise<void> {
  await limiterOf(db, limit).delete(subject);
}

/** Remembers the subject for the next `seconds` seconds. */
export async function remember(db: Database, { name, seconds }: Omit<AttemptLimit, 'attempts'>, subject: string) {
  await limiterOf(db, { name, attempts: 1, seconds }).set(subject, 1, seconds);
}

export async function isRemembered(db: Database, { name, seconds }: Omit<AttemptLimit, 'attempts'>, subject: string) {
  return (await limiterOf(db, { name, attempts: 1, seconds }).get(subject)) !== null;
}

const UNKNOWN_EMAIL_HOURS = 24;

/**
 * Records a failure for an unknown e-mail. The attack: an attacker measures whether an e-mail is known. This record takes as long
 * as the audit event for a known e-mail.
 */
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

/**
 * Deletes expired counts in chunks, because a flood of guesses leaves a row for each address. Returns the number of deleted
 * counts.
 */
export async function deleteExpiredSignInFailures(db: Database, deletion: Deletion): Promise<number> {
  const at = BigInt(deletion.now.getTime());
  return deleteInChunks(
    deletion,
    // A condition with an array of keys uses the primary key. With "key in (select ...)", each chunk may read the whole table.
    () => db.prisma.$executeRaw`
      delete from sign_in_failures where key = any(array(
        select key from sign_in_failures where expire < ${at}
        order by expire limit ${CHUNK_ROWS}::int for update skip locked))`,
  );
}
