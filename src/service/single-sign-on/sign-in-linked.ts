import type { AuditSource } from '../../domain/actor.ts';
import type { OrganizationScope } from '../../domain/organization-scope.ts';
import { isAbove } from '../../domain/role.ts';
import type { GroupRole } from '../../domain/single-sign-on.ts';
import { recordAudit } from '../../store/audit.ts';
import type { Transaction } from '../../store/database.ts';
import { endSessionsOf } from '../../store/sessions.ts';
import { insertSsoIdentity } from '../../store/sso-identities.ts';
import type { SsoSignInRecord } from '../../store/sso-sign-ins.ts';
import { changeUser, type LockedUser, lockUser } from '../../store/users.ts';
import { startSession } from '../accounts/start-session.ts';
import { type Person, provedAtOf } from './claims.ts';
import { BY_SINGLE_SIGN_ON, type NotAdmitted, notAdmitted, type SignedInByProvider } from './completion.ts';

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
  await recordAudit(tx, scope, {
    action: 'user.sso_linked',
    actorUserId: userId,
    targetUserId: userId,
    detail: { issuer },
    auditSource,
  });
}

type LinkedSignIn = {
  readonly userId: string;
  readonly person: Pick<Person, 'sid' | 'groupRole' | 'signedInAt'>;
  readonly signIn: Pick<SsoSignInRecord, 'next'>;
  readonly auditSource: AuditSource;
  readonly now: Date;
};

/** Starts a session of a linked user, with the role by their groups. */
export async function signInLinked(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, person, signIn, auditSource, now }: LinkedSignIn,
): Promise<SignedInByProvider | NotAdmitted> {
  const user = await lockUser(tx, scope, userId);
  if (user === null || user.deactivatedAt !== null) return notAdmitted('deactivated');
  await followGroups(tx, scope, { user, groupRole: person.groupRole, auditSource });
  await recordAudit(tx, scope, {
    action: 'user.signed_in',
    actorUserId: userId,
    targetUserId: userId,
    detail: { by: BY_SINGLE_SIGN_ON },
    auditSource,
  });
  const provedAt = provedAtOf(person, now);
  const session = { userId, isComplete: true, at: now, provedAt, auditSource, ssoSid: person.sid };
  return { kind: 'signed-in', token: await startSession(tx, scope, session), next: signIn.next };
}

/** Groups never make or unmake an administrator. */
async function followGroups(
  tx: Transaction,
  scope: OrganizationScope,
  { user, groupRole, auditSource }: { user: LockedUser; groupRole: GroupRole | null; auditSource: AuditSource },
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
