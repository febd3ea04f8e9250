import { v7 as newId } from 'uuid';
import { isLinkOpen } from '../../domain/access-link.ts';
import type { AuditSource } from '../../domain/actor.ts';
import type { OrganizationScope } from '../../domain/organization-scope.ts';
import { isAbove } from '../../domain/role.ts';
import { hashToken } from '../../domain/session.ts';
import { domainOfEmail, type GroupRole, hashBrowserSecret, proofsOf } from '../../domain/single-sign-on.ts';
import { useAccessLink } from '../../store/access-links.ts';
import { recordAudit } from '../../store/audit.ts';
import { type Database, type Transaction, transaction } from '../../store/database.ts';
import { isUniqueViolation } from '../../store/database-errors.ts';
import { endSessionsOf, recordProof } from '../../store/sessions.ts';
import { hasVerifiedSsoDomain } from '../../store/sso-domains.ts';
import { findSsoUser, findUserIdByEmail, hasSsoIdentity, insertSsoIdentity } from '../../store/sso-identities.ts';
import { deleteSsoSignIn, findSsoSignIn, insertSsoSignIn, type SsoSignInRecord } from '../../store/sso-sign-ins.ts';
import { findAccessLinkByHash } from '../../store/unscoped.ts';
import { changeUser, insertUser, type LockedUser, lockUser } from '../../store/users.ts';
import { clearAttempt, rememberNetwork } from '../accounts/attempt-limits.ts';
import { mintHashedToken, startSession } from '../accounts/start-session.ts';
import { attemptOf, isOpen, type SignInDeps } from './begin.ts';
import { type Person, personOf } from './claims.ts';
import type { ProviderFailure } from './provider.ts';
import { type Connection, connectionUrls } from './scope.ts';

/** By whom or what an event of the audit log is, besides a user. */
export const BY_SINGLE_SIGN_ON = 'single sign-on';

/** `token` is the session's. */
export type SignedInByProvider = { readonly kind: 'signed-in'; readonly token: string; readonly next: string };
/** A user has the e-mail, and has to confirm that the account is theirs. `token` is for the URL of the confirmation. */
export type ToConfirm = { readonly kind: 'to-confirm'; readonly token: string };
/** The sign-in took too long, was completed before, or began in another browser. */
export type Lost = { readonly kind: 'lost' };
export const LOST: Lost = { kind: 'lost' };
/** The provider knows the person, but Charter gives them no session. */
export type NotAdmitted = { readonly kind: 'not-admitted'; readonly reason: NotAdmittedReason };
export type NotAdmittedReason =
  /** The provider gives no e-mail, or says that it is not verified. */
  | 'no-email'
  /** The e-mail is not of a verified domain of the organization. */
  | 'foreign-domain'
  /** Nobody in the organization has the e-mail, and new people get no account. */
  | 'no-account'
  /** The user with the e-mail is linked to another person at the provider. */
  | 'other-person'
  /** It is a proof, and the browser's session is that of somebody else, or has ended. */
  | 'other-session'
  | 'deactivated';

/** The proof of the session is fresh. */
export type ProvenByProvider = { readonly kind: 'proven'; readonly next: string };

export type Completion = SignedInByProvider | ProvenByProvider | ToConfirm | Lost | NotAdmitted | ProviderFailure;

type Response = {
  readonly origin: string;
  readonly browserSecret: string;
  /** Of the browser's session; `null` if it has none. */
  readonly token: string | null;
  /** The parameters with which the browser came back. */
  readonly parameters: URLSearchParams;
  readonly auditSource: AuditSource;
  readonly now: Date;
};

/** Completes the sign-in with which the browser comes back from the provider. */
export async function completeSignIn(
  { db, access, inTurn }: SignInDeps,
  connection: Connection,
  { origin, browserSecret, token, parameters, auditSource, now }: Response,
): Promise<Completion> {
  const { scope, record, client } = connection;
  const state = parameters.get('state') ?? '';
  const tokenHash = hashToken(state);
  if (tokenHash === null) return LOST;
  const browserHash = hashBrowserSecret(browserSecret);
  const signIn = await inTurn(() => takeSignIn(db, scope, { tokenHash, browserHash }));
  // The provider of another issuer must not complete what was begun at this one (mix-up).
  if (signIn === null || signIn.person !== null || signIn.issuer !== record.issuer || !isOpen(signIn, now)) return LOST;
  const fail = async <F extends ProviderFailure | NotAdmitted>(failure: F, why: string): Promise<F> => {
    await inTurn(() => recordFailure(db, scope, { why, auditSource }));
    return failure;
  };
  const { findProvider, redeemCode } = await import('./provider.ts');
  const provider = await findProvider(access, client);
  if (provider.kind !== 'provider') return fail(provider, provider.words);
  const url = new URL(connectionUrls(origin, scope.organizationId).redirectUri);
  url.search = parameters.toString();
  const redeemed = await redeemCode(provider, url, {
    state,
    isProof: signIn.isProof,
    ...proofsOf({ browserSecret, state }),
  });
  if (redeemed.kind !== 'claims') return fail(redeemed, redeemed.words);
  const person = personOf(redeemed.claims, record);
  if (person === null)
    return fail({ kind: 'not-valid', words: 'The subject is too long.' }, 'The subject is too long.');
  if (signIn.isProof) {
    const isProven = await inTurn(() => provePerson(db, scope, { person, token, now }));
    if (!isProven) return fail(notAdmitted('other-session'), 'other-session');
    await inTurn(() => countSuccess(db, { ...signIn, scope, auditSource }));
    return { kind: 'proven', next: signIn.next };
  }
  const admitted = await inTurn(() => admit(db, connection, { person, signIn, browserHash, auditSource, now }));
  if (admitted.kind === 'not-admitted') return fail(admitted, admitted.reason);
  if (admitted.kind === 'signed-in') await inTurn(() => countSuccess(db, { ...signIn, scope, auditSource }));
  return admitted;
}

/** The sign-in that this browser began, which cannot be completed again. */
async function takeSignIn(
  db: Database,
  scope: OrganizationScope,
  key: { tokenHash: Buffer; browserHash: Buffer },
): Promise<SsoSignInRecord | null> {
  return transaction(db, async (tx) => {
    const signIn = await findSsoSignIn(tx, scope, key);
    return signIn !== null && signIn.person === null && (await deleteSsoSignIn(tx, scope, key)) ? signIn : null;
  });
}

async function recordFailure(
  db: Database,
  scope: OrganizationScope,
  { why, auditSource }: { readonly why: string; readonly auditSource: AuditSource },
): Promise<void> {
  const detail = { step: BY_SINGLE_SIGN_ON, why };
  await recordAudit(db.prisma, scope, { action: 'user.sign_in_failed', actorUserId: null, detail, auditSource });
}

export async function countSuccess(
  db: Database,
  { scope, email, auditSource }: { scope: OrganizationScope; email: string; auditSource: AuditSource },
): Promise<void> {
  const attempt = attemptOf({ organizationId: scope.organizationId, email }, auditSource);
  await clearAttempt(db, attempt);
  if (email !== '') await rememberNetwork(db, attempt);
}

type Arrival = {
  readonly person: Person;
  readonly signIn: SsoSignInRecord;
  readonly browserHash: Buffer;
  readonly auditSource: AuditSource;
  readonly now: Date;
};

/**
 * Identity is the issuer and the subject. Only somebody whom nobody is linked to yet is found by the e-mail, which must be of a
 * verified domain, and only among the people of this organization.
 */
async function admit(
  db: Database,
  { scope, record }: Connection,
  arrival: Arrival,
): Promise<SignedInByProvider | ToConfirm | NotAdmitted> {
  const { person, signIn, browserHash, auditSource, now } = arrival;
  const link = signIn.linkHash === null ? null : await findAccessLinkByHash(db, signIn.linkHash);
  try {
    return await transaction(db, async (tx) => {
      const known = await findSsoUser(tx, scope, person);
      if (known !== null) return signInLinked(tx, scope, { ...arrival, userId: known });
      const { email } = person;
      if (email === null) return notAdmitted('no-email');
      if (!(await hasVerifiedSsoDomain(tx, scope, domainOfEmail(email)))) return notAdmitted('foreign-domain');
      const userId = await findUserIdByEmail(tx, scope, email);
      if (userId === null) {
        if (record.newPeopleRole === null) return notAdmitted('no-account');
        const id = newId();
        const role = person.groupRole ?? record.newPeopleRole;
        await insertUser(tx, scope, { id, email, name: person.name, role, passwordHash: null });
        await recordAudit(tx, scope, {
          action: 'user.created_by_sso',
          actorUserId: null,
          targetUserId: id,
          detail: { role, by: BY_SINGLE_SIGN_ON },
          auditSource,
        });
        await linkUser(tx, scope, { ...arrival, userId: id });
        return signInLinked(tx, scope, { ...arrival, userId: id });
      }
      const user = await lockUser(tx, scope, userId);
      if (user === null || user.deactivatedAt !== null) return notAdmitted('deactivated');
      if (await hasSsoIdentity(tx, scope, userId)) return notAdmitted('other-person');
      const isProven =
        link !== null &&
        signIn.linkHash !== null &&
        link.organizationId === scope.organizationId &&
        link.userId === userId &&
        isLinkOpen(link, now) &&
        (await useAccessLink(tx, scope, { tokenHash: signIn.linkHash, at: now }));
      if (isProven) {
        await linkUser(tx, scope, { ...arrival, userId });
        return signInLinked(tx, scope, { ...arrival, userId });
      }
      const { token, tokenHash } = mintHashedToken();
      const { subject, sid, groupRole } = person;
      await insertSsoSignIn(tx, scope, {
        ...signIn,
        tokenHash,
        browserHash,
        linkHash: null,
        person: { userId, subject, sid, groupRole },
        createdAt: now,
      });
      return { kind: 'to-confirm', token };
    });
  } catch (error) {
    // A user of another organization has the e-mail, which must not be told, or a concurrent sign-in has linked the person.
    if (isUniqueViolation(error)) return notAdmitted('no-account');
    throw error;
  }
}

/** Whether the person is the user of the browser's session, whose proof is then fresh. */
async function provePerson(
  db: Database,
  scope: OrganizationScope,
  { person, token, now }: { person: Person; token: string | null; now: Date },
): Promise<boolean> {
  const tokenHash = hashToken(token ?? '');
  return transaction(db, async (tx) => {
    const userId = await findSsoUser(tx, scope, person);
    return userId !== null && tokenHash !== null && recordProof(tx, scope, { userId, tokenHash, at: now });
  });
}

function notAdmitted(reason: NotAdmittedReason): NotAdmitted {
  return { kind: 'not-admitted', reason };
}

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
  // Somebody who found the browser open may come through the provider without a password. Without a time, the provider vouches.
  const provedAt = new Date(Math.min(now.getTime(), person.signedInAt?.getTime() ?? now.getTime()));
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
