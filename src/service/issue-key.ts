import { v7 as newId } from 'uuid';
import { type Doer, isOperator } from '../domain/actor.ts';
import { type Environment, expiryOf, MAX_ACTIVE_KEYS, MAX_LIFE_DAYS, mintKey } from '../domain/api-key.ts';
import { DomainError, invalidField } from '../domain/errors.ts';
import { lookOf, parseName } from '../domain/name.ts';
import { type KeyPolicy, type Permission, permissionsOf, type Role } from '../domain/role.ts';
import { count } from '../domain/words.ts';
import { insertApiKey, listCurrentKeys } from '../store/api-keys.ts';
import { recordAudit } from '../store/audit.ts';
import { type Database, type Transaction, transaction } from '../store/database.ts';
import type { LockedUser } from '../store/users.ts';
import { type ByForm, claimForm } from './form-claim.ts';
import { lockForKeyDeed } from './key-authority.ts';

export type KeyRequest = ByForm & {
  readonly userId: string;
  /** 1 to 100 characters, and for a reader unlike those of the user's keys that are neither rotated nor revoked. */
  readonly name: string;
  readonly permissions: readonly Permission[];
  /** 1 to 3650, and at most what the organization's policy allows; null: does not expire, where the policy allows it. */
  readonly lifeDays: number | null;
  readonly environment: Environment;
};

export type IssuedKey = {
  readonly id: string;
  /** The key itself, in this answer alone. */
  readonly key: string;
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly expiresAt: Date | null;
};

/**
 * Makes a key for a user and returns it, this once. The limit and the names hold however many are made at once. An operator
 * is bound by the user's role, not by the organization's policy.
 */
export async function issueKey(db: Database, by: Doer, request: KeyRequest): Promise<IssuedKey> {
  const name = parseName(request.name, { kind: 'key' });
  refuseInvalid(request);
  return transaction(db, async (tx) => {
    await claimForm(tx, by.scope, request);
    const { holder, policy, byUserId } = await lockForKeyDeed(tx, by, { userId: request.userId, deed: 'create' });
    if (!isOperator(by)) refuseBeyondPolicy(request, policy);
    refuseBeyondPower(request, holder.role);
    const now = new Date();
    await refuseBeyondLimits(tx, by, { holder, name, now });
    const { key, hash, prefix } = mintKey(request.environment);
    const id = newId();
    const expiresAt = expiryOf(now, request.lifeDays);
    const permissions = [...new Set(request.permissions)];
    await insertApiKey(tx, by.scope, {
      ...{ id, userId: holder.id, createdByUserId: byUserId, name, permissions, expiresAt, createdAt: now },
      ...{ keyHash: Uint8Array.from(hash), keyPrefix: prefix },
    });
    await recordAudit(tx, by.scope, {
      ...{ act: 'key.created', actorUserId: byUserId, targetUserId: holder.id, keyId: id },
      detail: { name, prefix, permissions: permissions.join(', '), expires: expiresAt?.toISOString() ?? 'never' },
      trace: isOperator(by) ? null : by.trace,
    });
    return { id, key, name, permissions, expiresAt };
  });
}

function refuseInvalid({ permissions, lifeDays }: KeyRequest): void {
  if (permissions.length === 0) throw invalidField('permissions', 'must hold at least one permission.');
  if (lifeDays !== null && !(Number.isInteger(lifeDays) && lifeDays >= 1 && lifeDays <= MAX_LIFE_DAYS))
    throw invalidField('expiry', `must be an integer from 1 to ${MAX_LIFE_DAYS} days.`);
}

function refuseBeyondPolicy({ lifeDays }: KeyRequest, { maxKeyLifeDays, allowsUnendingKeys }: KeyPolicy): void {
  if (lifeDays === null && !allowsUnendingKeys)
    throw invalidField('expiry', 'must be set: your organization allows no key that never expires.');
  if (lifeDays !== null && lifeDays > maxKeyLifeDays)
    throw invalidField(
      'expiry',
      `must be at most ${count(maxKeyLifeDays, 'day')}, the longest that your organization allows.`,
    );
}

function refuseBeyondPower({ permissions }: KeyRequest, role: Role): void {
  const beyond = permissions.find((permission) => !permissionsOf(role).includes(permission));
  if (beyond !== undefined) throw invalidField('permissions', `must not hold ${beyond}: a ${role} does not have it.`);
}

async function refuseBeyondLimits(
  tx: Transaction,
  { scope }: Doer,
  { holder, name, now }: { holder: LockedUser; name: string; now: Date },
): Promise<void> {
  const standing = await listCurrentKeys(tx, scope, holder.id);
  refuseTakenName(holder, { name, others: standing });
  if (standing.filter(({ expiresAt }) => expiresAt === null || expiresAt > now).length >= MAX_ACTIVE_KEYS) {
    const most = `${holder.email} has ${MAX_ACTIVE_KEYS} active keys, the most there may be.`;
    throw new DomainError('conflict', `${most} Revoke one first.`);
  }
}

/** Taken is a name that a reader could not tell from another's: whoever revokes or rotates one picks it by its name. */
export function refuseTakenName(
  { email }: LockedUser,
  { name, others }: { name: string; others: readonly { readonly name: string }[] },
): void {
  const taken = others.find((key) => lookOf(key.name) === lookOf(name));
  if (taken === undefined) return;
  throw new DomainError(
    'conflict',
    `${email} has a key named ${JSON.stringify(taken.name)} already. Give another name, or revoke that key first.`,
  );
}
