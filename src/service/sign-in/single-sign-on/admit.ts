import { v7 as newId } from 'uuid';
import type { AuditSource } from '../../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../../domain/organizations/organization-scope.ts';
import { type AccessLinkRecord, isLinkOpen, mayMakerManage } from '../../../domain/people/access-link.ts';
import { domainOfEmail } from '../../../domain/people/email.ts';
import { isAbove } from '../../../domain/people/role.ts';
import type { GroupRole, NewPeopleRole } from '../../../domain/people/single-sign-on.ts';
import { BY_SINGLE_SIGN_ON, recordAudit } from '../../../store/audit/audit.ts';
import { lockOrganization } from '../../../store/organizations/organizations.ts';
import { useAccessLink, voidAccessLinksOf } from '../../../store/people/access-links.ts';
import { endSessionsOf } from '../../../store/people/sessions.ts';
import {
  findSsoUser,
  findUserIdByEmail,
  hasSsoIdentity,
  hasVerifiedSsoDomain,
  insertSsoIdentity,
  insertSsoSignIn,
  type SsoSignInRecord,
} from '../../../store/people/single-sign-on.ts';
import { changeUser, insertUser, type LockedUser, lockUser } from '../../../store/people/users.ts';
import { type Database, type Transaction, transaction } from '../../../store/sql/database.ts';
import { isUniqueViolation } from '../../../store/sql/database-errors.ts';
import { findAccessLinkByHash } from '../../../store/unscoped/people.ts';
import { createHashedToken, openSession } from '../sessions.ts';
import { groupRoleOf, lacksGroups, type Person, provedAtOf, storableGroups } from './claims.ts';
import {
  LOST,
  type Lost,
  type NotAdmitted,
  notAdmittedFor,
  type SignedInByProvider,
  type ToConfirm,
} from './completion.ts';
import { type Connection, shareConnection } from './connection.ts';

type Arrival = {
  readonly person: Person;
  readonly signIn: SsoSignInRecord;
  readonly browserHash: Buffer;
  readonly auditSource: AuditSource;
  readonly now: Date;
};

/**
 * Signs in the person whom the provider has authenticated. The issuer and the subject identify the linked user. If no user is
 * linked, the user is found by the e-mail, which must be of a verified domain, and only within this organization.
 */
export async function admit(
  db: Database,
  connection: Connection,
  arrival: Arrival,
): Promise<SignedInByProvider | ToConfirm | Lost | NotAdmitted> {
  const { scope } = connection;
  const { person } = arrival;
  const link = await findLink(db, scope, arrival);
  try {
    return await transaction(db, async (tx) => {
      await lockOrganization(tx, scope);
      const linkedId = await findSsoUser(tx, scope, person);
      const userId = linkedId ?? (person.email === null ? null : await findUserIdByEmail(tx, scope, person.email));
      const user = userId === null ? null : await lockUser(tx, scope, userId);
      const rules = await shareConnection(tx, connection);
      if (rules === null) return LOST;
      const byGroups = { groupRole: groupRoleOf(person, rules), lacksGroups: lacksGroups(person, rules) };
      const given = { ...arrival, link, sid: person.sid, ...byGroups, groupsClaim: rules.groupsClaim };
      if (linkedId === null) return admitUnlinked(tx, scope, { ...given, user, newPeopleRole: rules.newPeopleRole });
      // The user was unlinked before the row was locked.
      if (user === null || (await findSsoUser(tx, scope, person)) !== user.id) return LOST;
      return admitLinked(tx, scope, { ...given, user });
    });
  } catch (error) {
    // Either a user of another organization has the e-mail, and the response must not reveal this, or a concurrent sign-in has
    // linked the person.
    if (isUniqueViolation(error)) return notAdmittedFor('no-account');
    throw error;
  }
}

type Given = Arrival & {
  /** The access link from which the sign-in began. */
  readonly link: AccessLinkRecord | null;
  readonly sid: string;
  readonly groupRole: GroupRole | null;
  readonly lacksGroups: boolean;
  readonly groupsClaim: string;
};

async function admitLinked(
  tx: Transaction,
  scope: OrganizationScope,
  given: Given & { readonly user: LockedUser },
): Promise<SignedInByProvider | NotAdmitted> {
  const { person, user, now } = given;
  if (user.deactivatedAt !== null) return notAdmittedFor('deactivated');
  if (!(await isByLink(tx, scope, given)))
    return signInLinked(tx, scope, { ...given, provedAt: provedAtOf(person, now) });
  await voidAccessLinksOf(tx, scope, user.id);
  return signInLinked(tx, scope, { ...given, provedAt: now });
}

async function admitUnlinked(
  tx: Transaction,
  scope: OrganizationScope,
  { user, newPeopleRole, ...given }: Given & { user: LockedUser | null; newPeopleRole: NewPeopleRole | null },
): Promise<SignedInByProvider | ToConfirm | NotAdmitted> {
  const { person, signIn, browserHash, groupRole, groupsClaim, now } = given;
  const { email, subject, sid } = person;
  if (email === null) return notAdmittedFor('no-email');
  if (!(await hasVerifiedSsoDomain(tx, scope, domainOfEmail(email)))) return notAdmittedFor('foreign-domain');
  if (user === null)
    return newPeopleRole === null
      ? notAdmittedFor('no-account')
      : admitNew(tx, scope, { ...given, email, role: groupRole ?? newPeopleRole });
  if (user.deactivatedAt !== null) return notAdmittedFor('deactivated');
  if (await hasSsoIdentity(tx, scope, user.id)) return notAdmittedFor('other-person');
  if (await isByLink(tx, scope, { ...given, user })) {
    await linkUser(tx, scope, { ...given, userId: user.id });
    return signInLinked(tx, scope, { ...given, user, provedAt: now });
  }
  const { token, tokenHash } = createHashedToken();
  await insertSsoSignIn(tx, scope, {
    ...signIn,
    tokenHash,
    browserHash,
    linkHash: given.link?.userId === user.id ? signIn.linkHash : null,
    person: {
      userId: user.id,
      subject,
      sid,
      claims: { email, groupsClaim, groups: storableGroups(person, groupsClaim) },
    },
    createdAt: now,
  });
  return { kind: 'to-confirm', token };
}

async function admitNew(
  tx: Transaction,
  scope: OrganizationScope,
  { email, role, ...given }: Given & { readonly email: string; readonly role: GroupRole },
): Promise<SignedInByProvider> {
  const { person, auditSource, now } = given;
  const id = newId();
  await insertUser(tx, scope, { id, email, name: person.name, role, passwordHash: null });
  await recordAudit(tx, scope, {
    action: 'user.created_by_sso',
    actorUserId: null,
    targetUserId: id,
    detail: { role, by: BY_SINGLE_SIGN_ON },
    auditSource,
  });
  await linkUser(tx, scope, { ...given, userId: id });
  return signInLinked(tx, scope, { ...given, user: { id, role, email }, provedAt: provedAtOf(person, now) });
}

/** Returns whether an access link proves that the account belongs to the person. The link does not replace a second factor. */
async function isByLink(
  tx: Transaction,
  scope: OrganizationScope,
  { user, link, ...given }: Given & { readonly user: LockedUser },
): Promise<boolean> {
  return link !== null && user.totpSince === null && useLink(tx, scope, { ...given, link, user });
}

type Linking = {
  readonly userId: string;
  readonly person: Pick<Person, 'issuer' | 'subject'>;
  readonly auditSource: AuditSource;
  readonly now: Date;
};

/** Links a user to a person at the provider. Throws a unique violation if the user or the person has been linked meanwhile. */
export async function linkUser(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, person: { issuer, subject }, auditSource, now }: Linking,
): Promise<void> {
  await insertSsoIdentity(tx, scope, { userId, issuer, subject, linkedAt: now });
  // By an access link that is still open, the user could set a password and then sign in without the provider.
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
  /** The provider's id of the session; empty if the provider gave none. */
  readonly sid: string;
  /** The role that the person's groups give; `null` if the role does not change. */
  readonly groupRole: GroupRole | null;
  /** Whether roles depend on groups, but the provider sent no groups. The role does not change then. */
  readonly lacksGroups: boolean;
  /** When the person proved who they are; `null` if that is unknown. */
  readonly provedAt: Date | null;
  readonly signIn: Pick<SsoSignInRecord, 'next'>;
  readonly auditSource: AuditSource;
  readonly now: Date;
};

/**
 * Opens a session for a linked, active user, and changes the role as the person's groups require. The caller has locked the
 * organization before the user, because a change of the role needs that lock.
 */
export async function signInLinked(
  tx: Transaction,
  scope: OrganizationScope,
  { user, sid, groupRole, lacksGroups, provedAt, signIn, auditSource, now }: LinkedSignIn,
): Promise<SignedInByProvider> {
  await followGroups(tx, scope, { user, groupRole, auditSource });
  const { token } = await openSession(tx, scope, {
    userId: user.id,
    detail: { by: BY_SINGLE_SIGN_ON, ...(lacksGroups && { groups: 'not sent' }) },
    at: now,
    provedAt,
    ssoSid: sid,
    auditSource,
  });
  return { kind: 'signed-in', email: user.email, token, next: signIn.next };
}

/** Gives the user the role of the person's groups. Groups cannot make anybody an administrator, nor demote an administrator. */
async function followGroups(
  tx: Transaction,
  scope: OrganizationScope,
  { user, groupRole, auditSource }: Pick<LinkedSignIn, 'user' | 'groupRole' | 'auditSource'>,
): Promise<void> {
  if (groupRole === null || user.role === 'administrator' || user.role === groupRole) return;
  await changeUser(tx, scope, user.id, { role: groupRole });
  // A promotion ends all sessions, so that an intruder in one of them gains no permissions.
  if (isAbove(groupRole, user.role)) await endSessionsOf(tx, scope, user.id);
  await recordAudit(tx, scope, {
    action: 'user.role_changed',
    actorUserId: null,
    targetUserId: user.id,
    detail: { before: user.role, after: groupRole, by: BY_SINGLE_SIGN_ON },
    auditSource,
  });
}

// If a sign-in at the provider begins from an access link, the link proves who owns the account, as it does when the user sets a
// password.

type FromLink = { readonly signIn: Pick<SsoSignInRecord, 'linkHash'>; readonly now: Date };

/** Returns the access link from which the sign-in began, or `null` if there is no such link, or the link is no longer open. */
export async function findLink(
  db: Database,
  { organizationId }: OrganizationScope,
  { signIn, now }: FromLink,
): Promise<AccessLinkRecord | null> {
  const link = signIn.linkHash === null ? null : await findAccessLinkByHash(db, signIn.linkHash);
  return link !== null && link.organizationId === organizationId && isLinkOpen(link, now) ? link : null;
}

/**
 * Uses up the link. Of concurrent calls, only one returns `true`. The caller has locked the user, whose role may have changed
 * since the link was found.
 */
export async function useLink(
  tx: Transaction,
  scope: OrganizationScope,
  { signIn: { linkHash }, link, user, now }: FromLink & { readonly link: AccessLinkRecord; readonly user: LockedUser },
): Promise<boolean> {
  if (linkHash === null || link.userId !== user.id || !mayMakerManage(link.maker, user.role)) return false;
  return useAccessLink(tx, scope, { tokenHash: linkHash, at: now });
}
