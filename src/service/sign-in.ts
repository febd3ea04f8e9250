import type { Actor, Trace } from '../domain/actor.ts';
import { OrganizationScope } from '../domain/organization-scope.ts';
import { isLongEnough } from '../domain/password.ts';
import { normalEmail } from '../domain/person.ts';
import { hashToken, judgeSession, LAST_SEEN_SECONDS } from '../domain/session.ts';
import { recordAudit } from '../store/audit.ts';
import { type Database, transaction } from '../store/database.ts';
import { endSession, touchSession } from '../store/sessions.ts';
import { recordUnknownEmail } from '../store/sign-in-failures.ts';
import { type Credentials, findCredentials, findSessionByHash } from '../store/unscoped.ts';
import { changeUser, lockUser } from '../store/users.ts';
import { addLink } from './make-link.ts';
import { verifyPassword } from './password.ts';
import { clearAttempt, consumeAttempt, rememberNetwork } from './rate-limit.ts';
import { spendCode } from './second-factor-code.ts';
import { startSession } from './start-session.ts';

export type RateLimited = { kind: 'rate-limited'; retryAfterSeconds: number };
export type SignedIn = { kind: 'signed-in'; token: string; userId: string };
/**
 * "second-factor": the token is a half session's, good for `giveSecondFactor` alone and for ten minutes. "new-password":
 * the password was long enough only beside a second factor that somebody removed; the token is a link's, to choose another.
 */
type Opened = SignedIn | { kind: 'second-factor'; token: string } | { kind: 'new-password'; token: string };
export type SignInResult = Opened | { kind: 'refused' } | RateLimited;
/** "ended": the half session is gone; the password has to be given again. */
export type SecondFactorResult = SignedIn | { kind: 'refused' } | { kind: 'ended' } | RateLimited;

type SignIn = { email: string; password: string; trace: Trace; now?: Date };

/** Says no more than "refused" of whatever is wrong, after the same work, so that nobody learns which e-mails have an account. */
export async function signIn(
  db: Database,
  { email, password, trace, now = new Date() }: SignIn,
): Promise<SignInResult> {
  const address = normalEmail(email);
  const attempt = { at: 'password', account: address ?? email, ip: trace.ip } as const;
  const admission = await consumeAttempt(db, attempt);
  if (admission.kind === 'rate-limited') return admission;

  const found = address === null ? null : await findCredentials(db, address);
  const isRight = await verifyPassword(found?.passwordHash ?? null, password);
  const opened = found !== null && isRight ? await open(db, found, { password, trace, now }) : null;
  if (opened === null) {
    await recordFailure(db, found, { account: attempt.account, trace, now });
    return { kind: 'refused' };
  }
  await clearAttempt(db, attempt);
  if (opened.kind === 'signed-in') await rememberNetwork(db, attempt);
  return opened;
}

/** Null: deactivated, or the password was changed while it was being verified. */
async function open(
  db: Database,
  found: Credentials,
  { password, trace, now }: { password: string; trace: Trace; now: Date },
): Promise<Opened | null> {
  const scope = OrganizationScope.grant(found.organizationId);
  return transaction(db, async (tx) => {
    const user = await lockUser(tx, scope, found.userId);
    if (user === null || user.deactivatedAt !== null || user.passwordHash !== found.passwordHash) return null;
    const session = { userId: user.id, at: now };
    if (user.totpSince !== null)
      return { kind: 'second-factor', token: await startSession(tx, scope, { ...session, isComplete: false }) };
    if (!isLongEnough(password, { hasSecondFactor: false })) {
      const { token } = await addLink(tx, scope, { user, kind: 'password_reset', madeByUserId: null, now });
      const detail = { by: 'a sign-in whose password is too short without a second factor' };
      await recordAudit(tx, scope, { act: 'user.reset_link_made', ...itself(user.id), detail, trace });
      return { kind: 'new-password', token };
    }
    await recordAudit(tx, scope, { act: 'user.signed_in', ...itself(user.id), trace });
    const token = await startSession(tx, scope, { ...session, isComplete: true });
    return { kind: 'signed-in', token, userId: user.id };
  });
}

/** One row and one commit in either case. */
async function recordFailure(
  db: Database,
  found: Credentials | null,
  { account, trace, now }: { account: string; trace: Trace; now: Date },
): Promise<void> {
  await transaction(db, async (tx) => {
    if (found === null) return recordUnknownEmail(tx, { account, at: now });
    const event = { act: 'user.sign_in_failed', actorUserId: null, targetUserId: found.userId, trace } as const;
    return recordAudit(tx, OrganizationScope.grant(found.organizationId), event);
  });
}

/** A code of the authenticator, or a recovery code; whichever it is, it is taken once. The session gets a new token. */
export async function giveSecondFactor(
  db: Database,
  { token, code, trace, now = new Date() }: { token: string; code: string; trace: Trace; now?: Date },
): Promise<SecondFactorResult> {
  const tokenHash = hashToken(token);
  const half = tokenHash === null ? null : await findSessionByHash(db, tokenHash);
  if (tokenHash === null || half === null || judgeSession(half, now) !== 'second-factor') return { kind: 'ended' };
  const attempt = { at: 'second-factor', account: half.userId, ip: trace.ip } as const;
  const admission = await consumeAttempt(db, attempt);
  if (admission.kind === 'rate-limited') return admission;

  const scope = OrganizationScope.grant(half.organizationId);
  const result = await transaction(db, async (tx): Promise<SecondFactorResult> => {
    const user = await lockUser(tx, scope, half.userId);
    if (user === null || user.deactivatedAt !== null || user.totpSince === null) return { kind: 'ended' };
    const spent = spendCode(user, code, now);
    if (spent === null) {
      const detail = { step: 'second factor' };
      const event = { act: 'user.sign_in_failed', actorUserId: null, targetUserId: user.id, detail, trace } as const;
      await recordAudit(tx, scope, event);
      return { kind: 'refused' };
    }
    if (!(await endSession(tx, scope, tokenHash))) return { kind: 'ended' };
    await changeUser(tx, scope, user.id, spent.change);
    const detail = { second_factor: spent.by };
    await recordAudit(tx, scope, { act: 'user.signed_in', ...itself(user.id), detail, trace });
    const fresh = await startSession(tx, scope, { userId: user.id, isComplete: true, at: now });
    return { kind: 'signed-in', token: fresh, userId: user.id };
  });
  if (result.kind === 'signed-in') {
    await clearAttempt(db, attempt);
    await rememberNetwork(db, { account: half.email, ip: trace.ip });
    await rememberNetwork(db, attempt);
  }
  return result;
}

/** Ends the session on the server; one that has ended already stays so. */
export async function signOut(db: Database, token: string, trace: Trace): Promise<void> {
  const tokenHash = hashToken(token);
  const session = tokenHash === null ? null : await findSessionByHash(db, tokenHash);
  if (tokenHash === null || session === null) return;
  const scope = OrganizationScope.grant(session.organizationId);
  await transaction(db, async (tx) => {
    if (!(await endSession(tx, scope, tokenHash)) || !session.isComplete) return;
    await recordAudit(tx, scope, { act: 'user.signed_out', ...itself(session.userId), trace });
  });
}

/** Who is signed in, found in one statement; null: nobody, or somebody whose second factor is outstanding. */
export async function findActor(
  db: Database,
  token: string,
  trace: Trace,
  now: Date = new Date(),
): Promise<Actor | null> {
  const tokenHash = hashToken(token);
  const session = tokenHash === null ? null : await findSessionByHash(db, tokenHash);
  if (tokenHash === null || session === null || judgeSession(session, now) !== 'signed-in') return null;
  const scope = OrganizationScope.grant(session.organizationId);
  const unseenMilliseconds = now.getTime() - session.lastSeenAt.getTime();
  if (unseenMilliseconds >= LAST_SEEN_SECONDS * 1000) await touchSession(db, scope, { tokenHash, at: now });
  const { userId, role, name, email, organizationName, hasSecondFactor } = session;
  const isSuspended = session.organizationSuspendedAt !== null;
  return { scope, userId, role, name, email, organizationName, isSuspended, hasSecondFactor, trace };
}

function itself(userId: string) {
  return { actorUserId: userId, targetUserId: userId };
}
