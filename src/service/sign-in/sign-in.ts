import type { Actor, AuditSource } from '../../domain/audit/actor.ts';
import { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { normalEmail } from '../../domain/people/email.ts';
import { isLongEnough } from '../../domain/people/password.ts';
import { hashToken, judgeSession, LAST_SEEN_SECONDS, type SessionEnd } from '../../domain/people/session.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import { endSession, touchSession } from '../../store/people/sessions.ts';
import { recordUnknownEmail } from '../../store/people/sign-in-failures.ts';
import { changeUser, lockUser } from '../../store/people/users.ts';
import { type Database, transaction } from '../../store/sql/database.ts';
import { type Credentials, findCredentials, findSessionByHash } from '../../store/unscoped/people.ts';
import { getSignInWay, type SingleSignOnRequired, WHY_REQUIRED } from '../authority/sign-in-ways.ts';
import { type RateLimited, unlessMoving } from '../outcome.ts';
import { clearAttempt, clearIfMoving, consumeAttempt, rememberNetwork } from './attempt-limits.ts';
import { insertLink, verifyPassword } from './password.ts';
import { spendCode } from './second-factor-code.ts';
import { openSession, type SignedIn, startSession } from './sessions.ts';

/**
 * The outcome of a correct password if the user has a second factor. The token is valid for ten minutes, and for
 * `giveSecondFactor` only.
 */
type SecondFactorNeeded = { readonly kind: 'second-factor'; readonly token: string };
/**
 * The outcome of a correct password that was long enough only with a second factor, which has been removed since. `token` is the
 * token of an access link by which the user sets a longer password.
 */
type NewPasswordNeeded = { readonly kind: 'new-password'; readonly token: string };
type PasswordAccepted = SignedIn | SecondFactorNeeded | NewPasswordNeeded;
/** The refusal of a wrong e-mail, password, code or passkey. */
export type Wrong = { readonly kind: 'wrong' };
/** The refusal of a correct password of the break-glass administrator, who needs a passkey or a second factor as well. */
type PasskeyNeeded = { readonly kind: 'passkey-needed' };
/** The refusal of a code because the time for the second factor is over. The user must give the password again. */
type Ended = { readonly kind: 'ended' };

export type SignInResult = PasswordAccepted | SingleSignOnRequired | PasskeyNeeded | Wrong | RateLimited;
export type SecondFactorResult = SignedIn | Wrong | Ended | RateLimited;

type GivenCredentials = { email: string; password: string; auditSource: AuditSource; now?: Date };

/** Signs in with a password. Does the same work whatever is wrong, so that nobody can learn which e-mails have an account. */
export async function signIn(
  db: Database,
  { email, password, auditSource, now = new Date() }: GivenCredentials,
): Promise<SignInResult> {
  const address = normalEmail(email);
  const attempt = { at: 'password', account: address ?? email, ip: auditSource.ip } as const;
  const admission = await consumeAttempt(db, attempt);
  if (admission.kind === 'rate-limited') return admission;

  const found = address === null ? null : await findCredentials(db, address);
  const isRight = await verifyPassword(found?.passwordHash ?? null, password);
  const judged =
    found !== null && isRight
      ? await clearIfMoving(db, attempt, () => accept(db, found, { password, auditSource, now }))
      : refusalOf(WRONG, WHY.password);
  if (judged.kind === 'refused') {
    await recordFailure(db, found, { why: judged.why, account: attempt.account, auditSource, now });
    return judged.result;
  }
  await clearAttempt(db, attempt);
  if (judged.kind === 'signed-in') await rememberNetwork(db, attempt);
  return judged;
}

/** The refusal of a sign-in. `why` is the reason for the audit log. */
type Refused = {
  readonly kind: 'refused';
  readonly result: Wrong | SingleSignOnRequired | PasskeyNeeded;
  readonly why: string;
};

const WRONG: Wrong = { kind: 'wrong' };
const WHY = {
  password: 'the password was wrong',
  deactivated: 'the account is deactivated',
  changed: 'the password was changed meanwhile',
  passkey: 'the break-glass account needs a passkey or a second factor',
};

function refusalOf(result: Refused['result'], why: string): Refused {
  return { kind: 'refused', result, why };
}

/** Signs in a user who has given the correct password. */
async function accept(
  db: Database,
  found: Credentials,
  { password, auditSource, now }: { password: string; auditSource: AuditSource; now: Date },
): Promise<PasswordAccepted | Refused> {
  const scope = OrganizationScope.grant(found.organizationId);
  return transaction(db, async (tx) => {
    const user = await lockUser(tx, scope, found.userId);
    if (user === null || user.passwordHash !== found.passwordHash) return refusalOf(WRONG, WHY.changed);
    if (user.deactivatedAt !== null) return refusalOf(WRONG, WHY.deactivated);
    const way = await getSignInWay(tx, scope, user.id);
    if (way === 'single-sign-on') {
      const { organizationId } = scope;
      return refusalOf({ kind: 'single-sign-on-required', organizationId, email: user.email }, WHY_REQUIRED);
    }
    // The break-glass account needs no identity provider, so a password alone must not open the account. The account has a
    // passkey.
    if (way === 'break-glass' && user.totpSince === null) return refusalOf({ kind: 'passkey-needed' }, WHY.passkey);
    const session = { userId: user.id, at: now, auditSource };
    if (user.totpSince !== null)
      return { kind: 'second-factor', token: await startSession(tx, scope, { ...session, isComplete: false }) };
    if (!isLongEnough(password, { hasSecondFactor: false })) {
      const { token } = await insertLink(tx, scope, { user, kind: 'password_reset', madeByUserId: null, now });
      const detail = { by: 'a sign-in whose password is too short without a second factor' };
      const event = { actorUserId: user.id, targetUserId: user.id, detail, auditSource };
      await recordAudit(tx, scope, { ...event, action: 'user.reset_link_made' });
      return { kind: 'new-password', token };
    }
    return openSession(tx, scope, { ...session, isBreakGlass: way === 'break-glass' });
  });
}

/**
 * Records a failed sign-in by one row in one transaction, whether or not the e-mail has an account, so that both cases take the
 * same time. The audit log of an organization that is moving cannot be written, and this failure must not reveal that the e-mail
 * has an account there.
 */
async function recordFailure(
  db: Database,
  found: Credentials | null,
  { why, account, auditSource, now }: { why: string; account: string; auditSource: AuditSource; now: Date },
): Promise<void> {
  const recordUnknown = () => transaction(db, (tx) => recordUnknownEmail(tx, { account, at: now }));
  if (found === null || found.organizationIsMoving) return recordUnknown();
  const isRecorded = await unlessMoving(false, async () => {
    await transaction(db, async (tx) => {
      const event = {
        action: 'user.sign_in_failed',
        actorUserId: null,
        targetUserId: found.userId,
        detail: { why },
        auditSource,
      } as const;
      return recordAudit(tx, OrganizationScope.grant(found.organizationId), event);
    });
    return true;
  });
  // The move began after the account was looked up.
  if (!isRecorded) await recordUnknown();
}

/** Completes a sign-in by a code of the authenticator or a recovery code. Each code is accepted only once. */
export async function giveSecondFactor(
  db: Database,
  { token, code, auditSource, now = new Date() }: { token: string; code: string; auditSource: AuditSource; now?: Date },
): Promise<SecondFactorResult> {
  const tokenHash = hashToken(token);
  const half = tokenHash === null ? null : await findSessionByHash(db, tokenHash);
  if (tokenHash === null || half === null || judgeSession(half, now) !== 'second-factor') return { kind: 'ended' };
  const attempt = { at: 'second-factor', account: half.userId, ip: auditSource.ip } as const;
  const admission = await consumeAttempt(db, attempt);
  if (admission.kind === 'rate-limited') return admission;

  const scope = OrganizationScope.grant(half.organizationId);
  const result = await transaction(db, async (tx): Promise<SecondFactorResult> => {
    const user = await lockUser(tx, scope, half.userId);
    if (user === null || user.deactivatedAt !== null || user.totpSince === null) return { kind: 'ended' };
    const way = await getSignInWay(tx, scope, user.id);
    if (way === 'single-sign-on') return { kind: 'ended' };
    const spent = spendCode(user, { keyring: db.keyring, code, now });
    if (spent === null) {
      await recordAudit(tx, scope, {
        action: 'user.sign_in_failed',
        actorUserId: null,
        targetUserId: user.id,
        detail: { step: 'second factor' },
        auditSource,
      });
      return { kind: 'wrong' };
    }
    if (!(await endSession(tx, scope, tokenHash))) return { kind: 'ended' };
    await changeUser(tx, scope, user.id, spent.change);
    return openSession(tx, scope, {
      userId: user.id,
      detail: { second_factor: spent.by },
      isBreakGlass: way === 'break-glass',
      at: now,
      auditSource,
    });
  });
  if (result.kind === 'signed-in') {
    await clearAttempt(db, attempt);
    await rememberNetwork(db, { account: half.email, ip: auditSource.ip });
    await rememberNetwork(db, attempt);
  }
  return result;
}

/** Ends the session with this token. Calling it again changes nothing. */
export async function signOut(db: Database, token: string, auditSource: AuditSource): Promise<void> {
  const tokenHash = hashToken(token);
  const session = tokenHash === null ? null : await findSessionByHash(db, tokenHash);
  if (tokenHash === null || session === null) return;
  const { userId, organizationId, isComplete } = session;
  const scope = OrganizationScope.grant(organizationId);
  await transaction(db, async (tx) => {
    if (!(await endSession(tx, scope, tokenHash)) || !isComplete) return;
    await recordAudit(tx, scope, { action: 'user.signed_out', actorUserId: userId, targetUserId: userId, auditSource });
  });
}

/** The user who is signed in with a token, or the reason why nobody is. */
export type SessionState =
  | {
      readonly kind: 'signed-in';
      readonly actor: Actor;
      readonly provedAt: Date | null;
      /** Whether the organization is moving away. If so, only actions that end keys, sessions and accounts are possible. */
      readonly isMoving: boolean;
    }
  | { readonly kind: 'second-factor' }
  | { readonly kind: 'ended'; readonly end: SessionEnd };

/**
 * Finds the session of a token in one SQL query. A token without a session is treated like the token of a session that has ended.
 */
export async function getSessionState(
  db: Database,
  token: string,
  auditSource: AuditSource,
  now: Date = new Date(),
): Promise<SessionState> {
  const tokenHash = hashToken(token);
  const session = tokenHash === null ? null : await findSessionByHash(db, tokenHash);
  if (tokenHash === null || session === null) return { kind: 'ended', end: 'ended' };
  const verdict = judgeSession(session, now);
  if (verdict === 'second-factor') return { kind: 'second-factor' };
  if (verdict !== 'signed-in') return { kind: 'ended', end: verdict };
  const scope = OrganizationScope.grant(session.organizationId);
  const unseenMilliseconds = now.getTime() - session.lastSeenAt.getTime();
  if (unseenMilliseconds >= LAST_SEEN_SECONDS * 1000)
    await touchSession(db, scope, { tokenHash, at: now, auditSource });
  const { userId, role, name, email, organizationName, hasSecondFactor } = session;
  const { endpointsDisabledByCharter, ownsIntegrations, lacksOwners, keyNotices } = session;
  const isSuspended = session.organizationSuspendedAt !== null;
  return {
    kind: 'signed-in',
    provedAt: session.provedAt,
    isMoving: session.organizationIsMoving,
    actor: {
      scope,
      userId,
      role,
      name,
      email,
      organizationName,
      isSuspended,
      hasSecondFactor,
      endpointsDisabledByCharter,
      ownsIntegrations,
      lacksOwners,
      keyNotices,
      auditSource,
    },
  };
}
