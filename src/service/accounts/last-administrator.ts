import type { OrganizationScope } from '../../domain/organization-scope.ts';
import type { Transaction } from '../../store/database.ts';
import { countAdministrators, findWaysIn, type LockedUser } from '../../store/users.ts';
import { type Conflict, conflict } from '../outcome.ts';

// An organization keeps an administrator who can sign in. The callers have locked the organization, so that two of them cannot rely
// on each other's administrator.

/** Refuses to demote or deactivate the last one. Nothing is lost with somebody who cannot sign in, such as after an invitation. */
export async function refuseForLastAdministrator(
  tx: Transaction,
  scope: OrganizationScope,
  target: LockedUser,
): Promise<Conflict | null> {
  if (target.role !== 'administrator' || target.deactivatedAt !== null) return null;
  const { hasPassword, passkeys, isLinked } = await findWaysIn(tx, scope, target.id);
  if (!hasPassword && passkeys === 0 && !isLinked) return null;
  if ((await countAdministrators(tx, scope, { besides: target.id, withoutProvider: false })) > 0) return null;
  return conflict(
    `${target.email} is the last administrator who can sign in. Make somebody else an administrator first.`,
  );
}

/** Refuses to unlink the last one, unless they can sign in otherwise. */
export async function refuseToUnlinkLastAdministrator(
  tx: Transaction,
  scope: OrganizationScope,
  target: LockedUser,
): Promise<Conflict | null> {
  const { hasPassword, passkeys } = await findWaysIn(tx, scope, target.id);
  if (hasPassword || passkeys > 0) return null;
  const refusal = await refuseForLastAdministrator(tx, scope, target);
  return refusal === null ? null : conflict(`${target.email} is the last administrator who can sign in. ${REMEDY}`);
}

/** Refuses to take single sign-on away, or to another provider or client, while no administrator can sign in without it. */
export async function refuseWithoutProvider(tx: Transaction, scope: OrganizationScope): Promise<Conflict | null> {
  if ((await countAdministrators(tx, scope, { besides: null, withoutProvider: true })) > 0) return null;
  return conflict(`No administrator has a password or a passkey, so nobody could sign in as one any more. ${REMEDY}`);
}

const REMEDY = 'Set a password or add a passkey under My profile first.';
