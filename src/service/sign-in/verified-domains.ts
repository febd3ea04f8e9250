import { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { domainOfEmail, shownEmail } from '../../domain/people/email.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import { voidAccessLinksOf } from '../../store/people/access-links.ts';
import { deleteUser, isReferenced, type LockedUser, lockUser } from '../../store/people/users.ts';
import { type Database, type Transaction, transaction } from '../../store/sql/database.ts';
import { isVerifiedElsewhere, listInvitedElsewhere } from '../../store/unscoped/people.ts';
import { type Conflict, conflict, type Invalid, invalid, unlessMoving } from '../outcome.ts';
import { checkDomainOfEmail } from './ways.ts';

// Only the organization that has verified a domain may invite the e-mails of the domain.

const OF_OTHERS =
  'is of a domain that another organization has verified, so only that organization can invite it. Use an e-mail of another domain.';

/** Returns a refusal if the organization may not invite an e-mail of this domain. */
export async function checkInvitedEmail(
  tx: Transaction,
  scope: OrganizationScope,
  email: string,
): Promise<Invalid | null> {
  if (await isVerifiedElsewhere(tx, scope, domainOfEmail(email))) return invalid('email', OF_OTHERS);
  return checkDomainOfEmail(tx, scope, email);
}

/** Returns a refusal if another organization has verified the domain of the e-mail since the invitation. */
export async function checkAcceptance(
  tx: Transaction,
  scope: OrganizationScope,
  { email, hasAccepted }: Pick<LockedUser, 'email' | 'hasAccepted'>,
): Promise<Conflict | null> {
  if (hasAccepted || !(await isVerifiedElsewhere(tx, scope, domainOfEmail(email)))) return null;
  return conflict(`The e-mail ${shownEmail(email)} ${OF_OTHERS}`);
}

/**
 * Withdraws the invitations by other organizations to e-mails of a domain that this organization has verified. Users who have
 * accepted keep their accounts. A second call changes nothing.
 */
export async function takeBackInvitations(db: Database, scope: OrganizationScope, domain: string): Promise<void> {
  for (const { organizationId, userId } of await listInvitedElsewhere(db, scope, domain)) {
    const other = OrganizationScope.grant(organizationId);
    // If the other organization is moving, the invitation remains, but checkAcceptance refuses to accept it.
    await unlessMoving(undefined, () => transaction(db, (tx) => takeBack(tx, other, userId)));
  }
}

/**
 * Removes an invited user. A user who has keys or integrations is kept, because the keys and integrations belong to the
 * organization, but can no longer accept the invitation.
 */
async function takeBack(tx: Transaction, scope: OrganizationScope, userId: string): Promise<void> {
  const user = await lockUser(tx, scope, userId);
  if (user === null || user.hasAccepted) return;
  const voided = await voidAccessLinksOf(tx, scope, userId);
  if (!(await isReferenced(tx, scope, userId))) await deleteUser(tx, scope, userId);
  else if (voided === 0) return;
  const { name, email } = user;
  await recordAudit(tx, scope, {
    action: 'user.invitation_taken_back',
    actorUserId: null,
    targetUserId: userId,
    detail: { name, email, why: 'another organization has verified the domain' },
    auditSource: null,
  });
}
