import { DomainError } from '../../domain/errors.ts';
import { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { domainOfEmail, parseEmail, removedEmailOf, shownEmail } from '../../domain/people/email.ts';
import { isId } from '../../domain/text.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import { revokeApiKeysOf } from '../../store/keys/api-keys.ts';
import { lockOrganization } from '../../store/organizations/organizations.ts';
import { voidAccessLinksOf } from '../../store/people/access-links.ts';
import { deletePasskeysOf } from '../../store/people/passkeys.ts';
import { endSessionsOf } from '../../store/people/sessions.ts';
import {
  changeUser,
  deleteUser,
  isReferenced,
  type LockedUser,
  lockUser,
  NO_SECOND_FACTOR,
} from '../../store/people/users.ts';
import { type Database, type Transaction, transaction } from '../../store/sql/database.ts';
import { isUniqueViolation } from '../../store/sql/database-errors.ts';
import { findOwnerOfDomain, listUsersByEmail, listUsersById } from '../../store/unscoped/operator.ts';
import { checkNotRemoved, checkReplaceable } from '../authority/people.ts';
import { errorOf, orThrow } from '../outcome.ts';
import { PROVIDER_WAYS } from '../sign-in/ways.ts';
import { resetSecondFactor } from '../sign-in-settings/second-factor.ts';

/** Removes the second factor of a user. Returns the user's e-mail as it is stored. */
export async function resetSecondFactorOf(db: Database, emailOrId: string): Promise<{ email: string }> {
  const { scope, userId, email } = await getUserByEmailOrId(db, emailOrId);
  orThrow(await resetSecondFactor(db, { kind: 'operator', scope }, { userId }));
  return { email };
}

/**
 * Finds a user by e-mail or id. Throws if there is no such user, or if several organizations have invited the e-mail and no
 * invitation has been accepted.
 */
export async function getUserByEmailOrId(db: Database, emailOrId: string) {
  const found = isId(emailOrId) ? await listUsersById(db, emailOrId) : await listUsersByEmail(db, emailOrId);
  const [user, ...others] = found;
  if (user === undefined) throw new DomainError('not_found', `There is no user with the e-mail or id ${emailOrId}.`);
  if (others.length > 0) {
    const choices = found.map(({ id, organization }) => `${id} (${organization.name})`).join(', ');
    throw new DomainError(
      'conflict',
      `Several organizations have invited ${emailOrId}. Give one of these ids: ${choices}.`,
    );
  }
  return { scope: OrganizationScope.grant(user.organizationId), userId: user.id, email: user.email };
}

/**
 * Changes the e-mail of a user, whether or not the user has accepted the invitation. Voids the links that were sent to the former
 * e-mail.
 */
export async function changeEmailOf(
  db: Database,
  emailOrId: string,
  { email: text }: { readonly email: string },
): Promise<{ from: string; to: string }> {
  const { scope, userId } = await getUserByEmailOrId(db, emailOrId);
  const email = parseEmail(text);
  await requireFreeDomain(db, email, scope);
  try {
    return await transaction(db, async (tx) => {
      const user = await lockExisting(tx, scope, userId);
      const removed = checkNotRemoved(user);
      if (removed !== null) throw errorOf(removed);
      if (user.email === email) return { from: email, to: email };
      await changeUser(tx, scope, userId, { email });
      await voidAccessLinksOf(tx, scope, userId);
      const detail = { from: user.email, to: email };
      const event = { actorUserId: null, targetUserId: userId, detail, auditSource: null };
      await recordAudit(tx, scope, { ...event, action: 'user.email_changed' });
      return detail;
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new DomainError('conflict', `The e-mail ${shownEmail(email)} belongs to a user already. Give another one.`);
  }
}

/** Throws if another organization has verified the domain of the e-mail. */
export async function requireFreeDomain(db: Database, email: string, scope: OrganizationScope | null): Promise<void> {
  const owner = await findOwnerOfDomain(db, domainOfEmail(email));
  if (owner === null || owner.id === scope?.organizationId) return;
  throw new DomainError(
    'conflict',
    `The organization "${owner.name}" (${owner.id}) has verified the domain of ${shownEmail(email)}, so only it can have users there.`,
  );
}

export type Removed = { readonly email: string; readonly keysRevoked: number; readonly isDeleted: boolean };

/**
 * Ends all keys, sessions and links of the user, and frees the e-mail. If keys, integrations or webhooks refer to the user, the
 * user remains as a deactivated user without an e-mail, so that the history stays complete. Integrations keep their keys.
 */
export async function removeUser(db: Database, emailOrId: string, now: Date = new Date()): Promise<Removed> {
  const { scope, userId } = await getUserByEmailOrId(db, emailOrId);
  return transaction(db, async (tx) => {
    await lockOrganization(tx, scope);
    const user = await lockExisting(tx, scope, userId);
    const refusal = await checkReplaceable(tx, scope, user);
    if (refusal !== null) throw errorOf(refusal);
    const event = { actorUserId: null, targetUserId: userId, auditSource: null };
    const keys = await revokeApiKeysOf(tx, scope, { userId, at: now, byUserId: null });
    for (const { id, name } of keys) {
      const detail = { name, why: 'user removed' };
      await recordAudit(tx, scope, { ...event, action: 'key.revoked', keyId: id, detail });
    }
    const isDeleted = !(await isReferenced(tx, scope, userId));
    if (isDeleted) await deleteUser(tx, scope, userId);
    else await keepWithoutAccount(tx, scope, { user, now });
    const detail = { name: user.name, email: user.email };
    await recordAudit(tx, scope, { ...event, action: 'user.removed', detail });
    return { email: user.email, keysRevoked: keys.length, isDeleted };
  });
}

async function keepWithoutAccount(
  tx: Transaction,
  scope: OrganizationScope,
  { user, now }: { readonly user: LockedUser; readonly now: Date },
): Promise<void> {
  await endSessionsOf(tx, scope, user.id);
  await voidAccessLinksOf(tx, scope, user.id);
  await deletePasskeysOf(tx, scope, user.id);
  for (const way of PROVIDER_WAYS) await way.unlink(tx, scope, user.id);
  await changeUser(tx, scope, user.id, {
    ...NO_SECOND_FACTOR,
    email: removedEmailOf(user.id),
    hasAccepted: false,
    passwordHash: null,
    deactivatedAt: user.deactivatedAt ?? now,
  });
}

async function lockExisting(tx: Transaction, scope: OrganizationScope, userId: string): Promise<LockedUser> {
  const user = await lockUser(tx, scope, userId);
  if (user === null) throw new DomainError('not_found', 'The user has just been removed.');
  return user;
}
