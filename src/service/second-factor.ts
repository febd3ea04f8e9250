import type { Actor } from '../domain/actor.ts';
import { DomainError, ForbiddenError, invalidField } from '../domain/errors.ts';
import { isLongEnough, PASSWORD_CHARACTERS } from '../domain/password.ts';
import { hashRecoveryCode, mintRecoveryCodes } from '../domain/recovery-code.ts';
import { hashToken } from '../domain/session.ts';
import { recordAudit } from '../store/audit.ts';
import { type Database, transaction } from '../store/database.ts';
import { endSession, endSessionsOf } from '../store/sessions.ts';
import { changeUser, countRecoveryCodes, NO_SECOND_FACTOR } from '../store/users.ts';
import { type ByForm, claimForm } from './form-claim.ts';
import { lockActor } from './people-authority.ts';
import { lockProven, provePassword } from './prove-password.ts';
import { clearAttempt, refuseWhenRateLimited } from './rate-limit.ts';
import { acceptedStep, mintSecret } from './second-factor-code.ts';
import { startSession } from './start-session.ts';

/**
 * A secret for the authenticator. Sign-in does not ask for it until it is confirmed; beginning again replaces it. It takes
 * the password: an open screen must not tie its owner's account to somebody else's authenticator.
 */
export async function beginSecondFactor(
  db: Database,
  actor: Actor,
  { password }: { password: string },
): Promise<{ secret: string; uri: string }> {
  const provenHash = await provePassword(db, actor, { password, field: 'password', to: 'set up a second factor' });
  return transaction(db, async (tx) => {
    const user = await lockProven(tx, actor, provenHash);
    if (user.totpSince !== null)
      throw new DomainError('conflict', 'You have a second factor already. Remove it before you set up another.');
    const { bytes, base32, uri } = mintSecret(user.email);
    await changeUser(tx, actor.scope, user.id, { totpSecret: bytes, totpLastStep: 0 });
    return { secret: base32, uri };
  });
}

/**
 * From now on sign-in asks for a code. Returns the ten recovery codes, this once. Every session of the user's ends, because
 * none of them gave a code; `token` is this session's, and the answer has the token under which it goes on.
 */
export async function confirmSecondFactor(
  db: Database,
  actor: Actor,
  { code, token, now = new Date() }: { code: string; token: string; now?: Date },
): Promise<{ recoveryCodes: string[]; token: string }> {
  // Rate-limited: with a stolen session, an attacker could guess the code of a pending set-up and be shown the recovery codes.
  const attempt = { at: 'second-factor', account: `set-up of ${actor.userId}`, ip: actor.trace.ip } as const;
  await refuseWhenRateLimited(db, attempt);
  const confirmed = await transaction(db, async (tx) => {
    const user = await lockActor(tx, actor);
    if (user.totpSince !== null) throw new DomainError('conflict', 'You have a second factor already.');
    if (user.totpSecret === null) throw new DomainError('conflict', 'Begin with setting up your authenticator.');
    const step = acceptedStep(user, code, now);
    if (step === null)
      throw invalidField(
        'code',
        'is not the code that your authenticator shows now. Check its clock, and try the next.',
      );
    const { codes, hashes } = newRecoveryCodes();
    await changeUser(tx, actor.scope, user.id, { totpSince: now, totpLastStep: step, recoveryCodes: hashes });
    // One that was ended while the form was on its way must not live on under a new token.
    const tokenHash = hashToken(token);
    if (tokenHash === null || !(await endSession(tx, actor.scope, tokenHash)))
      throw new ForbiddenError('Your session has ended. Sign in again.');
    await endSessionsOf(tx, actor.scope, user.id);
    await recordAudit(tx, actor.scope, { act: 'user.second_factor_on', ...itself(user.id), trace: actor.trace });
    const fresh = await startSession(tx, actor.scope, { userId: user.id, isComplete: true, at: now });
    return { recoveryCodes: codes, token: fresh };
  });
  await clearAttempt(db, attempt);
  return confirmed;
}

/** Ten others in place of those that are left, shown this once. It takes the password: each of them opens the account. */
export async function renewRecoveryCodes(
  db: Database,
  actor: Actor,
  { password, formId }: ByForm & { password: string },
): Promise<{ recoveryCodes: string[] }> {
  const provenHash = await provePassword(db, actor, { password, field: 'password', to: 'make recovery codes' });
  return transaction(db, async (tx) => {
    await claimForm(tx, actor.scope, { formId });
    const user = await lockProven(tx, actor, provenHash);
    if (user.totpSince === null) throw new DomainError('conflict', 'You have no second factor.');
    const { codes, hashes } = newRecoveryCodes();
    await changeUser(tx, actor.scope, user.id, { recoveryCodes: hashes });
    await recordAudit(tx, actor.scope, { act: 'user.recovery_codes_made', ...itself(user.id), trace: actor.trace });
    return { recoveryCodes: codes };
  });
}

/** Takes the password; one that was long enough only beside the factor has to be changed first. */
export async function removeSecondFactor(
  db: Database,
  actor: Actor,
  { password }: { password: string },
): Promise<void> {
  const provenHash = await provePassword(db, actor, { password, field: 'password', to: 'turn off the second factor' });
  if (!isLongEnough(password, { hasSecondFactor: false }))
    throw new DomainError(
      'conflict',
      `Without a second factor a password must have at least ${PASSWORD_CHARACTERS} characters. Change yours first.`,
    );
  await transaction(db, async (tx) => {
    const user = await lockProven(tx, actor, provenHash);
    if (user.totpSince === null) throw new DomainError('conflict', 'You have no second factor.');
    await changeUser(tx, actor.scope, user.id, NO_SECOND_FACTOR);
    await recordAudit(tx, actor.scope, { act: 'user.second_factor_off', ...itself(user.id), trace: actor.trace });
  });
}

/** How many recovery codes are left; for the profile page. */
export async function recoveryCodesLeft(db: Database, actor: Actor): Promise<number> {
  return countRecoveryCodes(db, actor.scope, actor.userId);
}

function newRecoveryCodes() {
  const codes = mintRecoveryCodes();
  const hashes = codes.flatMap((each) => hashRecoveryCode(each) ?? []).map((hash) => Uint8Array.from(hash));
  return { codes, hashes };
}

function itself(userId: string) {
  return { actorUserId: userId, targetUserId: userId };
}
