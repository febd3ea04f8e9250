import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { shownEmail } from '../../domain/people/email.ts';
import { canSignIn } from '../../domain/people/ways-in.ts';
import { countAdministrators, findWaysIn, type LockedUser } from '../../store/people/users.ts';
import type { Transaction } from '../../store/sql/database.ts';
import { type Conflict, conflict } from '../outcome.ts';

// An organization keeps an administrator who can sign in. The callers have locked the organization, so that two of them cannot rely
// on each other's administrator.

/** Refuses to demote or deactivate the last one. Nothing is lost with somebody who cannot sign in, such as after an invitation. */
export async function refuseForLastAdministrator(
  tx: Transaction,
  scope: OrganizationScope,
  target: LockedUser,
): Promise<Conflict | null> {
  if (!(await isOnlyOne(tx, scope, target)) || !canSignIn(await findWaysIn(tx, scope, target.id))) return null;
  return conflict(`${lastOne(target)} Make somebody else an administrator first.`);
}

/** Refuses to unlink the last one, unless they can sign in otherwise. */
export async function refuseToUnlinkLastAdministrator(
  tx: Transaction,
  scope: OrganizationScope,
  target: LockedUser,
): Promise<Conflict | null> {
  const ways = await findWaysIn(tx, scope, target.id);
  if (!ways.isLinked || canSignIn({ ...ways, isLinked: false }) || !(await isOnlyOne(tx, scope, target))) return null;
  return conflict(`${lastOne(target)} ${REMEDY}`);
}

/** Whether the user is an active administrator, and no other one can sign in. */
async function isOnlyOne(tx: Transaction, scope: OrganizationScope, target: LockedUser): Promise<boolean> {
  if (target.role !== 'administrator' || target.deactivatedAt !== null) return false;
  return (await countAdministrators(tx, scope, { besides: target.id, withoutProvider: false })) === 0;
}

function lastOne({ email }: LockedUser): string {
  return `${shownEmail(email)} is the last administrator who can sign in.`;
}

/** Refuses to take single sign-on away, or to another provider or client, while no administrator can sign in without it. */
export async function refuseWithoutProvider(tx: Transaction, scope: OrganizationScope): Promise<Conflict | null> {
  if ((await countAdministrators(tx, scope, { besides: null, withoutProvider: true })) > 0) return null;
  return conflict(`No administrator has a password or a passkey, so nobody could sign in as one any more. ${REMEDY}`);
}

const REMEDY = 'Set a password or add a passkey under My profile first.';
