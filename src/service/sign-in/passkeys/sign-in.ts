import type { AuditSource } from '../../../domain/audit/actor.ts';
import { OrganizationScope } from '../../../domain/organizations/organization-scope.ts';
import { recordAudit } from '../../../store/audit/audit.ts';
import { lockUser } from '../../../store/people/users.ts';
import { type Database, transaction } from '../../../store/sql/database.ts';
import { findPasskeyUser } from '../../../store/unscoped/people.ts';
import { getSignInWay, type SingleSignOnRequired, WHY_REQUIRED } from '../../authority/sign-in-ways.ts';
import { type RateLimited, unlessMoving } from '../../outcome.ts';
import { clearAttempt, clearIfMoving, consumeAttempt, rememberNetwork } from '../attempt-limits.ts';
import { openSession, type SignedIn } from '../sessions.ts';
import type { Wrong } from '../sign-in.ts';
import { parseAssertion, requestOptions } from './ceremony.ts';
import {
  type Asking,
  type GivenPasskey,
  issueChallenge,
  type PasskeyOptions,
  spendChallenge,
  spendUse,
  verifyUse,
} from './use-passkey.ts';

const WRONG: Wrong = { kind: 'wrong' };

/** Returns the options for a sign-in. They name no passkeys, because the browser knows the passkeys of this site. */
export async function optionsForSignIn(
  db: Database,
  { relyingParty, browser, now }: Asking,
): Promise<PasskeyOptions | RateLimited> {
  const issued = await issueChallenge(db, { browser, purpose: 'sign_in', now });
  if (issued.kind === 'rate-limited') return issued;
  return { kind: 'options', options: await requestOptions({ relyingParty, challenge: issued.challenge }) };
}

/**
 * Signs in with a passkey alone, which counts as two factors: the user has the passkey, and unlocks it by a PIN or a biometric.
 */
export async function signInWithPasskey(
  db: Database,
  { credential, relyingParty, browser, auditSource, now }: GivenPasskey & { readonly auditSource: AuditSource },
): Promise<SignedIn | SingleSignOnRequired | Wrong | RateLimited> {
  const response = parseAssertion(credential);
  if (response === null) return WRONG;
  const attempt = { at: 'passkey', account: response.credentialId, ip: auditSource.ip } as const;
  const admission = await consumeAttempt(db, attempt);
  if (admission.kind === 'rate-limited') return admission;

  const { challenge } = response.clientData;
  const isAsked = (await spendChallenge(db, { challenge, browser, purpose: 'sign_in', now })) !== null;
  const owner = await findPasskeyUser(db, Buffer.from(response.credentialId, 'base64url'));
  if (owner === null) return WRONG;
  const scope = OrganizationScope.grant(owner.organizationId);
  const { userId } = owner;
  // The user has not given an e-mail, so the authenticator must say who signs in (WebAuthn level 3, section 7.2).
  const isNamed = response.userHandle !== null;
  const use = isAsked && isNamed ? await verifyUse(db, scope, { userId, response, relyingParty }) : null;

  const judge = () =>
    transaction(db, async (tx): Promise<(SignedIn & { email: string }) | SingleSignOnRequired | Wrong> => {
      const user = await lockUser(tx, scope, userId);
      if (user === null) return WRONG;
      const recordFailure = async (detail: { readonly passkey?: string; readonly why: string }) => {
        const event = { action: 'user.sign_in_failed', actorUserId: null, targetUserId: userId, auditSource } as const;
        await recordAudit(tx, scope, { ...event, detail: { step: 'passkey', ...detail } });
        return WRONG;
      };
      if (use === null) return recordFailure({ why: 'the passkey did not sign what Charter asked for' });
      const passkey = use.passkey.name;
      if (user.deactivatedAt !== null) return recordFailure({ passkey, why: 'the account is deactivated' });
      const outcome = await spendUse(tx, scope, { userId, use, now });
      if (outcome.kind === 'refused') return recordFailure({ passkey, why: outcome.why });
      const way = await getSignInWay(tx, scope, userId);
      if (way === 'single-sign-on') {
        await recordFailure({ passkey, why: WHY_REQUIRED });
        return { kind: 'single-sign-on-required', organizationId: owner.organizationId, email: user.email };
      }
      const isBreakGlass = way === 'break-glass';
      const signedIn = await openSession(tx, scope, {
        userId,
        detail: { passkey },
        isBreakGlass,
        at: now,
        auditSource,
      });
      return { ...signedIn, email: user.email };
    });
  // If the proof is wrong, the result must not reveal that the passkey belongs to an organization that is moving.
  const result = use === null ? await unlessMoving(WRONG, judge) : await clearIfMoving(db, attempt, judge);
  if (result.kind !== 'signed-in') return result;
  await clearAttempt(db, attempt);
  await rememberNetwork(db, { account: result.email, ip: auditSource.ip });
  await rememberNetwork(db, attempt);
  return result;
}
