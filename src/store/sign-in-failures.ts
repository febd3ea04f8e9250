import { createHash } from 'node:crypto';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Database, Transaction } from './database.ts';
import { FORGET_AT_ONCE, forgetInBatches } from './forget.ts';

/** So many attempts in so many seconds, counted from the first. */
export type Allowance = { readonly name: string; readonly attempts: number; readonly seconds: number };

export type Admission = { kind: 'admitted' } | { kind: 'slowed'; retryAfterSeconds: number };

const limiters = new WeakMap<Database, Map<string, RateLimiterPostgres>>();

/** One for each allowance and pool: it holds nothing but these. */
function limiterOf(db: Database, { name, attempts, seconds }: Allowance): RateLimiterPostgres {
  const known = limiters.get(db) ?? new Map<string, RateLimiterPostgres>();
  limiters.set(db, known);
  const limiter =
    known.get(name) ??
    new RateLimiterPostgres({
      ...{ storeClient: db.pool, storeType: 'pool', tableName: 'sign_in_failures', tableCreated: true },
      ...{ keyPrefix: name, points: attempts, duration: seconds, clearExpiredByTimeout: false },
    });
  known.set(name, limiter);
  return limiter;
}

/** Counts an attempt before it is judged, so that of any number at once no more than allowed are judged. */
export async function countAttempt(db: Database, allowance: Allowance, subject: string): Promise<Admission> {
  try {
    await limiterOf(db, allowance).consume(subject);
    return { kind: 'admitted' };
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    return { kind: 'slowed', retryAfterSeconds: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)) };
  }
}

/** Takes one attempt back: it was no failure. */
export async function takeBackAttempt(db: Database, allowance: Allowance, subject: string): Promise<void> {
  await limiterOf(db, allowance).reward(subject);
}

export async function forgetAttempts(db: Database, allowance: Allowance, subject: string): Promise<void> {
  await limiterOf(db, allowance).delete(subject);
}

/** Remembers the subject for the allowance's seconds from now. */
export async function remember(db: Database, { name, seconds }: Omit<Allowance, 'attempts'>, subject: string) {
  await limiterOf(db, { name, attempts: 1, seconds }).set(subject, 1, seconds);
}

export async function isRemembered(db: Database, { name, seconds }: Omit<Allowance, 'attempts'>, subject: string) {
  return (await limiterOf(db, { name, attempts: 1, seconds }).get(subject)) !== null;
}

const UNKNOWN_HOURS = 24;

/** A failure with an e-mail that nobody has: written as the audit log's row of a known one is, to take the same time. */
export async function noteUnknownEmail(tx: Transaction, { account, at }: { account: string; at: Date }): Promise<void> {
  const key = `unknown:${createHash('sha256').update(account).digest('base64url')}`;
  const expire = BigInt(at.getTime() + UNKNOWN_HOURS * 3_600_000);
  await tx.signInFailure.upsert({
    where: { key },
    create: { key, points: 1, expire },
    update: { points: { increment: 1 }, expire },
  });
}

/** Deletes counts that are past their time, a bounded number at a time: a flood of guesses leaves a row for each address. */
export async function forgetOldFailures(db: Database, now: Date): Promise<number> {
  const at = BigInt(now.getTime());
  return forgetInBatches(
    // An array, whose rows are found by their keys: with "key in (select ...)" each batch may read the whole table.
    () => db.prisma.$executeRaw`
      delete from sign_in_failures where key = any(array(
        select key from sign_in_failures where expire < ${at}
        order by expire limit ${FORGET_AT_ONCE}::int for update skip locked))`,
  );
}
