import type { PasskeyPurpose } from '../../domain/people/ways-in.ts';
import type { Database } from '../sql/database.ts';
import { BATCH_ROWS, type Deletion, deleteInBatches } from '../sql/delete-in-batches.ts';

// A challenge of a sign-in is made before anybody knows whose passkey will sign it, so the rows belong to no organization.

export type PasskeyChallenge = {
  /** SHA-256 of the challenge. */
  readonly challengeHash: Buffer;
  /** SHA-256 of what only the browser that asked for the challenge can send. */
  readonly browserHash: Buffer;
  readonly purpose: PasskeyPurpose;
};

/** `userHandle`: of a registration; otherwise `null`. */
export async function insertChallenge(
  { pool }: Database,
  {
    challengeHash,
    browserHash,
    purpose,
    userHandle,
    expiresAt,
  }: PasskeyChallenge & { userHandle: Uint8Array | null; expiresAt: Date },
): Promise<void> {
  await pool.query(
    `insert into passkey_challenges (challenge_hash, browser_hash, purpose, user_handle, expires_at)
     values ($1, $2, $3, $4, $5)`,
    [challengeHash, browserHash, purpose, userHandle, expiresAt],
  );
}

/**
 * Takes the challenge away, so that of several requests with it only the first one gets it. Returns `null` if there is none, it
 * has expired, or it is of another browser or for another purpose.
 */
export async function takeChallenge(
  { pool }: Database,
  { challengeHash, browserHash, purpose, now }: PasskeyChallenge & { now: Date },
): Promise<{ readonly userHandle: Uint8Array<ArrayBuffer> | null } | null> {
  const { rows } = await pool.query<{ userHandle: Buffer | null }>(
    `delete from passkey_challenges where challenge_hash = $1 and browser_hash = $2 and purpose = $3 and expires_at > $4
     returning user_handle as "userHandle"`,
    [challengeHash, browserHash, purpose, now],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return { userHandle: row.userHandle === null ? null : Uint8Array.from(row.userHandle) };
}

/** Deletes expired challenges, in batches. Returns how many. */
export async function deleteExpiredChallenges(db: Database, deletion: Deletion): Promise<number> {
  return deleteInBatches(
    deletion,
    () => db.prisma.$executeRaw`
      delete from passkey_challenges where challenge_hash = any(array(
        select challenge_hash from passkey_challenges where expires_at <= ${deletion.now}
        order by expires_at limit ${BATCH_ROWS}::int for update skip locked))`,
  );
}
