import type { Actor } from '../../domain/audit/actor.ts';
import type { WaysIn } from '../../domain/people/ways-in.ts';
import { recordProof } from '../../store/people/sessions.ts';
import { changeUser, findPasswordHash, getWaysIn } from '../../store/people/users.ts';
import { type Database, type Transaction, transaction } from '../../store/sql/database.ts';
import { lockActor } from '../authority/people.ts';
import { getSignInWay, type SignInWay } from '../authority/sign-in-ways.ts';
import { type Invalid, invalid, type RateLimited, recordAct } from '../outcome.ts';
import { type Attempt, clearAttempt, consumeAttempt } from './attempt-limits.ts';
import { parseAssertion } from './passkeys/ceremony.ts';
import { type GivenPasskey, PASSKEY_REFUSED, spendAndVerify, spendUse } from './passkeys/use-passkey.ts';
import { verifyPassword } from './password.ts';
import { spendCode } from './second-factor-code.ts';
import { sessionEndedError, sessionHashOf } from './sessions.ts';

// An intruder in a session that was left open or stolen must not create keys or change how the user signs in. These actions
// therefore need a fresh proof of identity (isProofFresh in domain/people/session.ts): a sign-in, a password, a passkey, or
// another sign-in at the identity provider (provePerson in single-sign-on/complete.ts).

export type GivenProof =
  | {
      readonly kind: 'password';
      readonly password: string;
      /** The code of the second factor; ignored if the user has no second factor. */
      readonly code: string;
    }
  | ({ readonly kind: 'passkey' } & Omit<GivenPasskey, 'now'>);

export type Proven = { readonly kind: 'proven' };
const PROVEN: Proven = { kind: 'proven' };

type Proving = {
  readonly given: GivenProof;
  /** The token of the actor's session. */
  readonly token: string;
  readonly now: Date;
};

/** Returns how the actor can prove who they are. A password proves nothing if the user must sign in by single sign-on. */
export async function getWaysToProve({ prisma }: Database, { scope, userId }: Actor): Promise<WaysIn> {
  const ways = await getWaysIn(prisma, scope, userId);
  const way = await getSignInWay(prisma, scope, userId);
  return { ...ways, hasPassword: ways.hasPassword && isPasswordEnough(way, ways) };
}

/**
 * Returns whether a password, with the code of a second factor if there is one, is enough. The break-glass administrator needs a
 * second factor or a passkey, as at the sign-in.
 */
function isPasswordEnough(way: SignInWay, { hasSecondFactor }: { readonly hasSecondFactor: boolean }): boolean {
  return way === 'free' || (way === 'break-glass' && hasSecondFactor);
}

/**
 * Checks the proof, and makes the actor's session proven for PROOF_MINUTES. Attempts have limits, as at the sign-in. A wrong
 * proof is recorded only if the attempt was within the limits, so that a flood of attempts cannot fill the audit log.
 */
export async function prove(db: Database, actor: Actor, proving: Proving): Promise<Proven | Invalid | RateLimited> {
  return proving.given.kind === 'password'
    ? proveByPassword(db, actor, { ...proving, given: proving.given })
    : proveByPasskey(db, actor, { ...proving, given: proving.given });
}

type GivenPassword = Extract<GivenProof, { kind: 'password' }>;

async function proveByPassword(
  db: Database,
  actor: Actor,
  { given, token, now }: Proving & { given: GivenPassword },
): Promise<Proven | Invalid | RateLimited> {
  const { ip } = actor.auditSource;
  const { hasSecondFactor } = await getWaysIn(db.prisma, actor.scope, actor.userId);
  const attempts: Attempt[] = [
    { at: 'password', account: actor.email, ip },
    ...(hasSecondFactor ? [{ at: 'second-factor', account: actor.userId, ip } as const] : []),
  ];
  for (const attempt of attempts) {
    const admission = await consumeAttempt(db, attempt);
    if (admission.kind === 'rate-limited') return admission;
  }
  const passwordHash = await findPasswordHash(db, actor.scope, actor.userId);
  const isRight = await verifyPassword(passwordHash, given.password);
  const outcome = await transaction(db, async (tx): Promise<Proven | Invalid> => {
    const user = await lockActor(tx, actor);
    const way = await getSignInWay(tx, actor.scope, user.id);
    const refuse = async (detail: Record<string, string>, refusal: Invalid) => {
      await recordAct(tx, actor, failureOf(actor, detail));
      return refusal;
    };
    const isEnough = isPasswordEnough(way, { hasSecondFactor: user.totpSince !== null });
    if (!isRight || user.passwordHash !== passwordHash || !isEnough)
      return refuse({ with: 'the password' }, invalid('proof_password', 'is not right.'));
    if (user.totpSince !== null) {
      const spent = spendCode(user, { keyring: db.keyring, code: given.code, now });
      if (spent === null)
        return refuse({ with: 'the second factor' }, invalid('proof_code', 'is not right, or was used already.'));
      await changeUser(tx, actor.scope, user.id, spent.change);
    }
    return accept(tx, actor, { token, now });
  });
  if (outcome.kind === 'proven') for (const attempt of attempts) await clearAttempt(db, attempt);
  return outcome;
}

async function proveByPasskey(
  db: Database,
  actor: Actor,
  { given, token, now }: Proving & { given: Extract<GivenProof, { kind: 'passkey' }> },
): Promise<Proven | Invalid | RateLimited> {
  const { scope, userId, auditSource } = actor;
  const response = parseAssertion(given.credential);
  const attempt = { at: 'passkey', account: response?.credentialId ?? '', ip: auditSource.ip } as const;
  const admission = await consumeAttempt(db, attempt);
  if (admission.kind === 'rate-limited') return admission;
  const use = await spendAndVerify(db, scope, { userId, response, given, purpose: 'proof', now });
  const outcome = await transaction(db, async (tx): Promise<Proven | Invalid> => {
    await lockActor(tx, actor);
    const spent = use === null ? null : await spendUse(tx, scope, { userId, use, now });
    if (spent?.kind === 'used') return accept(tx, actor, { token, now });
    const detail = { with: 'a passkey', ...(spent !== null && { why: spent.why }) };
    await recordAct(tx, actor, failureOf(actor, detail));
    return PASSKEY_REFUSED;
  });
  if (outcome.kind === 'proven') await clearAttempt(db, attempt);
  return outcome;
}

async function accept(tx: Transaction, actor: Actor, { token, now }: Omit<Proving, 'given'>): Promise<Proven> {
  const session = { userId: actor.userId, tokenHash: sessionHashOf(token), at: now };
  if (!(await recordProof(tx, actor.scope, session))) throw sessionEndedError();
  return PROVEN;
}

function failureOf({ userId }: Actor, detail: Record<string, string>) {
  return { action: 'user.proof_failed', targetUserId: userId, detail } as const;
}
