import { type Actor, type ActorOrOperator, isOperator } from '../../domain/audit/actor.ts';
import { shownEmail } from '../../domain/people/email.ts';
import { hashRecoveryCode, mintRecoveryCodes } from '../../domain/people/ways-in.ts';
import { deletePasskeysOf } from '../../store/people/passkeys.ts';
import { endOtherSessionsOf, endSessionsOf } from '../../store/people/sessions.ts';
import {
  changeUser,
  countRecoveryCodes,
  type LockedUser,
  lockUser,
  NO_SECOND_FACTOR,
} from '../../store/people/users.ts';
import { type Database, type Transaction, transaction } from '../../store/sql/database.ts';
import { checkActive, lockActor, lockToManage, noSuchUser } from '../authority/people.ts';
import { checkBreakGlass, checkPasswordAllowed } from '../authority/sign-in-ways.ts';
import {
  ALREADY_SENT,
  type AlreadySent,
  type Conflict,
  claimForm,
  conflict,
  DONE,
  type Done,
  type Invalid,
  invalid,
  type OneTimeForm,
  type RateLimited,
  recordAct,
  runAction,
} from '../outcome.ts';
import { clearAttempt, consumeAttempt } from '../sign-in/attempt-limits.ts';
import { createAuthenticatorSecret, findKnownSecret, stepOfCode } from '../sign-in/second-factor-code.ts';
import { lockSession, renewSession, sessionHashOf } from '../sign-in/sessions.ts';

/** The secret for the authenticator, as base 32 and as an otpauth: URI. */
export type SecretMade = Authenticator & { readonly kind: 'secret-made' };
export type Authenticator = { readonly secret: string; readonly uri: string };

/** The ten new recovery codes. Only their hashes are stored, so they can be shown only once. */
export type CodesMade = { readonly kind: 'codes-made'; readonly recoveryCodes: readonly string[] };

/** The token of the actor's session, which every form that changes the second factor sends. */
type OfSession = { readonly token: string };

/**
 * Creates a secret for the authenticator, which replaces the secret of an earlier set-up. Signing in requires no code until the
 * set-up is confirmed.
 */
export async function beginSecondFactor(
  db: Database,
  actor: Actor,
  { token }: OfSession,
): Promise<SecretMade | Conflict> {
  return runAction(db, async (tx) => {
    const { user } = await lockSession(tx, actor, token);
    const refusal = await checkPasswordAllowed(tx, actor.scope, user.id);
    if (refusal !== null) return refusal;
    if (user.totpSince !== null)
      return conflict('You have a second factor already. Turn it off before you set up another one.');
    const { encrypted, base32, uri } = createAuthenticatorSecret(db.keyring, user);
    await changeUser(tx, actor.scope, user.id, { totpSecret: encrypted, totpLastStep: 0 });
    return { kind: 'secret-made', secret: base32, uri };
  });
}

/**
 * Turns the second factor on. Ends all other sessions of the user, because they began without a code, and gives the session with
 * `token` a new token.
 */
export async function confirmSecondFactor(
  db: Database,
  actor: Actor,
  { code, token, now = new Date() }: OfSession & { code: string; now?: Date },
): Promise<(CodesMade & { readonly token: string }) | Invalid | Conflict | RateLimited> {
  // The attack: without a limit, an intruder in a session guesses the code of a pending set-up, and sees the recovery codes.
  const attempt = { at: 'second-factor', account: `set-up of ${actor.userId}`, ip: actor.auditSource.ip } as const;
  const admission = await consumeAttempt(db, attempt);
  if (admission.kind === 'rate-limited') return admission;
  const outcome = await runAction(
    db,
    async (tx): Promise<(CodesMade & { readonly token: string }) | Invalid | Conflict> => {
      const user = await lockActor(tx, actor);
      const refusal = await checkPasswordAllowed(tx, actor.scope, user.id);
      if (refusal !== null) return refusal;
      if (user.totpSince !== null) return conflict('You have a second factor already.');
      if (user.totpSecret === null) return conflict('Set up your authenticator first.');
      const step = stepOfCode(user, { keyring: db.keyring, code, now });
      if (step === null)
        return invalid(
          'code',
          'is not the code that your authenticator shows now. Check its clock, and try the next one.',
        );
      const { codes, hashes } = createRecoveryCodes();
      await changeUser(tx, actor.scope, user.id, { totpSince: now, totpLastStep: step, recoveryCodes: hashes });
      const tokenHash = sessionHashOf(token);
      await endOtherSessionsOf(tx, actor.scope, { userId: user.id, tokenHash });
      const newToken = await renewSession(tx, actor.scope, tokenHash);
      await recordAct(tx, actor, { action: 'user.second_factor_on', targetUserId: actor.userId });
      return { kind: 'codes-made', recoveryCodes: codes, token: newToken };
    },
  );
  if (outcome.kind === 'codes-made') await clearAttempt(db, attempt);
  return outcome;
}

/**
 * Returns the secret of the actor's pending set-up if the page has sent the same secret in `secret`; otherwise `null`. A session
 * alone must not be enough to see the secret.
 */
export async function findPendingSecret(
  db: Database,
  actor: Actor,
  { secret }: { secret: string },
): Promise<Authenticator | null> {
  if (secret === '') return null;
  const user = await transaction(db, (tx) => lockActor(tx, actor));
  return user.totpSince === null ? findKnownSecret(user, { keyring: db.keyring, secret }) : null;
}

export async function renewRecoveryCodes(
  db: Database,
  actor: Actor,
  { token, formId }: OneTimeForm & OfSession,
): Promise<CodesMade | Conflict | AlreadySent> {
  return runAction(db, async (tx) => {
    if (!(await claimForm(tx, actor.scope, { formId }))) return ALREADY_SENT;
    const { user } = await lockSession(tx, actor, token);
    const refusal = await checkPasswordAllowed(tx, actor.scope, user.id);
    if (refusal !== null) return refusal;
    if (user.totpSince === null) return conflict('You have no second factor.');
    const { codes, hashes } = createRecoveryCodes();
    await changeUser(tx, actor.scope, user.id, { recoveryCodes: hashes });
    await recordAct(tx, actor, { action: 'user.recovery_codes_made', targetUserId: actor.userId });
    return { kind: 'codes-made', recoveryCodes: codes };
  });
}

/** Turns the second factor off. A password that is long enough only with a second factor must be replaced at the next sign-in. */
export async function removeSecondFactor(db: Database, actor: Actor, { token }: OfSession): Promise<Done | Conflict> {
  return runAction(db, async (tx) => {
    const { user } = await lockSession(tx, actor, token);
    if (user.totpSince === null) return conflict('You have no second factor.');
    const refusal =
      (await checkPasswordAllowed(tx, actor.scope, user.id)) ?? (await checkBreakGlass(tx, actor.scope, user));
    if (refusal !== null) return refusal;
    await changeUser(tx, actor.scope, user.id, NO_SECOND_FACTOR);
    await recordAct(tx, actor, { action: 'user.second_factor_off', targetUserId: actor.userId });
    return DONE;
  });
}

export async function countRecoveryCodesLeft(db: Database, actor: Actor): Promise<number> {
  return countRecoveryCodes(db, actor.scope, actor.userId);
}

function createRecoveryCodes() {
  const codes = mintRecoveryCodes();
  const hashes = codes.flatMap((each) => hashRecoveryCode(each) ?? []).map((hash) => Uint8Array.from(hash));
  return { codes, hashes };
}

/**
 * Removes the second factor of a user who lost the authenticator and the recovery codes. Also removes a pending set-up and the
 * passkeys, which somebody else may have. Afterwards, the password alone opens the account, so the actor needs the right to
 * create a reset link for the user. Ends every session of the user, so that an intruder in a session cannot set up a second
 * factor.
 */
export async function resetSecondFactor(
  db: Database,
  actor: ActorOrOperator,
  { userId }: { userId: string },
): Promise<Done | Conflict> {
  return runAction(db, async (tx) => {
    const target = await lockTarget(tx, actor, userId);
    // Users must turn off their own second factor on the profile page, where they keep their passkeys, which may be their only
    // way to sign in.
    if (!isOperator(actor) && target.id === actor.userId)
      return conflict('Turn off your own second factor under My profile.');
    const inactive = checkActive(target);
    if (inactive !== null) return inactive;
    const passkeys = await deletePasskeysOf(tx, actor.scope, target.id);
    if (target.totpSecret === null && passkeys === 0)
      return conflict(`${shownEmail(target.email)} has neither a second factor nor a passkey.`);
    // An operator may reset the break-glass administrator, too, because nobody else can help then.
    const refusal = isOperator(actor) ? null : await checkBreakGlass(tx, actor.scope, target);
    if (refusal !== null) return refusal;
    await changeUser(tx, actor.scope, target.id, NO_SECOND_FACTOR);
    await endSessionsOf(tx, actor.scope, target.id);
    await recordAct(tx, actor, {
      action: 'user.second_factor_removed',
      targetUserId: target.id,
      detail: {
        before: target.totpSince !== null ? 'on' : target.totpSecret !== null ? 'begun, not confirmed' : 'off',
        ...(passkeys > 0 && { passkeys: String(passkeys) }),
      },
    });
    return DONE;
  });
}

async function lockTarget(tx: Transaction, actor: ActorOrOperator, userId: string): Promise<LockedUser> {
  if (!isOperator(actor)) return (await lockToManage(tx, actor, userId)).target;
  const user = await lockUser(tx, actor.scope, userId);
  if (user === null) throw noSuchUser();
  return user;
}
