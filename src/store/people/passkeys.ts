import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { PasskeyPurpose } from '../../domain/people/ways-in.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database, Transaction } from '../sql/database.ts';

export type NewPasskey = {
  readonly id: string;
  readonly userId: string;
  readonly credentialId: Uint8Array<ArrayBuffer>;
  readonly userHandle: Uint8Array<ArrayBuffer>;
  /** The public key in COSE format. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly isBackupEligible: boolean;
  readonly isBackedUp: boolean;
  readonly name: string;
  readonly createdAt: Date;
};

/** Inserts a passkey. Throws a unique violation if a user of any organization has a passkey with this credential id. */
export async function insertPasskey(
  tx: Transaction,
  scope: OrganizationScope,
  { transports, ...passkey }: NewPasskey,
): Promise<void> {
  const data = { ...passkey, transports: [...transports], organizationId: scope.organizationId };
  await tx.passkey.create({ data, select: { id: true } });
}

export type StoredPasskey = NewPasskey & { readonly lastUsedAt: Date | null };

/** Lists all passkeys of the user, the oldest first. */
export async function listPasskeysOf(
  tx: Transaction,
  scope: OrganizationScope,
  userId: string,
): Promise<StoredPasskey[]> {
  const where = { organizationId: scope.organizationId, userId };
  const rows = await tx.passkey.findMany({ where, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
  return rows.map(({ counter, ...row }) => ({ ...row, counter: Number(counter) }));
}

/** Renames a passkey. Returns `false` if the user has no such passkey. */
export async function renamePasskey(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, id, name }: { userId: string; id: string; name: string },
): Promise<boolean> {
  const where = { organizationId: scope.organizationId, userId, id };
  return (await tx.passkey.updateMany({ where, data: { name } })).count === 1;
}

/** Deletes a passkey. Returns `false` if the user has no such passkey. */
export async function deletePasskey(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, id }: { userId: string; id: string },
): Promise<boolean> {
  return (await tx.passkey.deleteMany({ where: { organizationId: scope.organizationId, userId, id } })).count === 1;
}

/** Deletes all passkeys of the user. Returns the number of deleted passkeys. */
export async function deletePasskeysOf(tx: Transaction, scope: OrganizationScope, userId: string): Promise<number> {
  return (await tx.passkey.deleteMany({ where: { organizationId: scope.organizationId, userId } })).count;
}

export type PasskeyUse = {
  readonly userId: string;
  readonly id: string;
  readonly counter: number;
  readonly isBackedUp: boolean;
  readonly at: Date;
};

export async function recordPasskeyUse(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, id, counter, isBackedUp, at }: PasskeyUse,
): Promise<void> {
  await tx.passkey.updateMany({
    where: { organizationId: scope.organizationId, userId, id },
    data: { counter, isBackedUp, lastUsedAt: at },
  });
}

// Challenges belong to no organization, because a challenge for a sign-in is created before the server knows whose passkey will
// sign it.

export type PasskeyChallenge = {
  /** The SHA-256 of the challenge. */
  readonly challengeHash: Buffer;
  /** The SHA-256 of a secret that only the browser that asked for the challenge has. */
  readonly browserHash: Buffer;
  readonly purpose: PasskeyPurpose;
};

/** Inserts a challenge. `userHandle` is `null` unless the challenge is for a registration. */
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
 * Deletes and returns a challenge, so that only the first of several requests with the same challenge succeeds. Returns `null` if
 * the challenge does not exist, has expired, or was created for another browser or another purpose.
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

/** Deletes expired challenges in chunks. Returns the number of deleted challenges. */
export async function deleteExpiredChallenges(db: Database, deletion: Deletion): Promise<number> {
  return deleteInChunks(
    deletion,
    () => db.prisma.$executeRaw`
      delete from passkey_challenges where challenge_hash = any(array(
        select challenge_hash from passkey_challenges where expires_at <= ${deletion.now}
        order by expires_at limit ${CHUNK_ROWS}::int for update skip locked))`,
  );
}
