import type { AuditSource } from '../../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../../domain/organizations/organization-scope.ts';
import { isAbove } from '../../../domain/people/role.ts';
import type { GroupRole } from '../../../domain/people/single-sign-on.ts';
import { recordAudit } from '../../../store/audit/audit.ts';
import { voidAccessLinksOf } from '../../../store/people/access-links.ts';
import { endSessionsOf } from '../../../store/people/sessions.ts';
import { insertSsoIdentity } from '../../../store/people/sso-identities.ts';
import type { SsoSignInRecord } from '../../../store/people/sso-sign-ins.ts';
import { changeUser, type LockedUser } from '../../../store/people/users.ts';
import type { Transaction } from '../../../store/sql/database.ts';
import { startSession } from '../start-session.ts';
import type { Person } from './claims.ts';
import { BY_SINGLE_SIGN_ON, type SignedInByProvider } from './completion.ts';

type Linking = {
  readonly userId: string;
  readonly person: Pick<Person, 'issuer' | 'subject'>;
  readonly auditSource: AuditSource;
  readonly now: Date;
};

/** Throws a unique violation if the user or the person has been linked meanwhile. */
export async function linkUser(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, person: { issuer, subject }, auditSource, now }: Linking,
): Promise<void> {
  await insertSsoIdentity(tx, scope, { userId, issuer, subject, linkedAt: now });
  // A link that somebody kept would set a password, with which the user signs in without the provider.
  await voidAccessLinksOf(tx, scope, userId);
  await recordAudit(tx, scope, {
    action: 'user.sso_linked',
    actorUserId: userId,
    targetUserId: userId,
    detail: { issuer },
    auditSource,
  });
}

type LinkedSignIn = {
  readonly user: Pick<LockedUser, 'id' | 'role' | 'email'>;
  /** The provider's id of the session; empty if it gave none. */
  readonly sid: string;
  /** The role by the person's groups; `null` if it stays as it is. */
  readonly groupRole: GroupRole | null;
  /** Roles follow groups, and the provider sent none: the role stays as it is. */
  readonly lacksGroups: boolean;
  /** When the person proved who they are; `null` if nobody knows. */
  readonly provedAt: Date | null;
  readonly signIn: Pick<SsoSignInRecord, 'next'>;
  readonly auditSource: AuditSource;
  readonly now: Date;
};

/**
 * Starts a session of a linked user, who is active, with the role by their groups. Lock the organization before the user: a
 * change of the role locks it, too.
 */
export async function signInLinked(
  tx: Transaction,
  scope: OrganizationScope,
  { user, sid, groupRole, lacksGroups, provedAt, signIn, auditSource, now }: LinkedSignIn,
): Promise<SignedInByProvider> {
  await followGroups(tx, scope, { user, groupRole, auditSource });
  await recordAudit(tx, scope, {
    action: 'user.signed_in',
    actorUserId: user.id,
    targetUserId: user.id,
    detail: { by: BY_SINGLE_SIGN_ON, ...(lacksGroups && { groups: 'not sent' }) },
    auditSource,
  });
  const session = { userId: user.id, isComplete: true, at: now, provedAt, auditSource, ssoSid: sid };
  const token = await startSession(tx, scope, session);
  return { kind: 'signed-in', email: user.email, token, next: signIn.next };
}

/** Groups never make or unmake an administrator. */
async function followGroups(
  tx: Transaction,
  scope: OrganizationScope,
  { user, groupRole, auditSource }: Pick<LinkedSignIn, 'user' | 'groupRole' | 'auditSource'>,
): Promise<void> {
  if (groupRole === null || user.role === 'administrator' || user.role === groupRole) return;
  await changeUser(tx, scope, user.id, { role: groupRole });
  // As for every promotion: nobody who is in one of the sessions gains its permissions.
  if (isAbove(groupRole, user.role)) await endSessionsOf(tx, scope, user.id);
  await recordAudit(tx, scope, {
    action: 'user.role_changed',
    actorUserId: null,
    targetUserId: user.id,
    detail: { before: user.role, after: groupRole, by: BY_SINGLE_SIGN_ON },
    auditSource,
  });
}
