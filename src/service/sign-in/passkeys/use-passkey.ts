import type { Actor } from '../../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../../domain/organizations/organization-scope.ts';
import { hashToken } from '../../../domain/people/session.ts';
import type { RelyingParty } from '../../../domain/people/ways-in.ts';
import { CHALLENGE_MINUTES, judgeUse, type PasskeyPurpose } from '../../../domain/people/ways-in.ts';
import { MINUTE_MS } from '../../../domain/time.ts';
import {
  insertChallenge,
  listPasskeysOf,
  recordPasskeyUse,
  type StoredPasskey,
  takeChallenge,
} from '../../../store/people/passkeys.ts';
import type { Database, Transaction } from '../../../store/sql/database.ts';
import type { Invalid, RateLimited } from '../../outcome.ts';
import { admitChallenge } from '../attempt-limits.ts';
import { type AssertionResponse, createChallenge, hashChallenge, requestOptions, verifyAssertion } from './ceremony.ts';

/** The fields of a form with a signed challenge. */
export type GivenPasskey = {
  /** The result of `PublicKeyCredential.toJSON()`, as JSON text. */
  readonly credential: string;
  readonly relyingParty: RelyingParty;
  readonly browser: AskingBrowser;
  readonly now: Date;
};

/** The options that the script of a page passes to the browser, as JSON. */
export type PasskeyOptions = { readonly kind: 'options'; readonly options: object };
export type Asking = { readonly relyingParty: RelyingParty; readonly browser: AskingBrowser; readonly now: Date };

/** Returns the options for a proof by one of the actor's passkeys. */
export async function optionsForProof(
  db: Database,
  actor: Actor,
  { relyingParty, browser, now }: Asking,
): Promise<PasskeyOptions | RateLimited> {
  const issued = await issueChallenge(db, { browser, purpose: 'proof', now });
  if (issued.kind === 'rate-limited') return issued;
  const allowed = await listPasskeysOf(db.prisma, actor.scope, actor.userId);
  return { kind: 'options', options: await requestOptions({ relyingParty, challenge: issued.challenge, allowed }) };
}

/** A use of a passkey with a valid signature, whose counter has not been compared with that of the last use yet. */
export type VerifiedUse = {
  readonly passkey: StoredPasskey;
  readonly counter: number;
  readonly isBackupEligible: boolean;
  readonly isBackedUp: boolean;
};

/** Uses up the challenge that the browser was given. Returns `null` unless a passkey of this user has signed it. */
export async function spendAndVerify(
  db: Database,
  scope: OrganizationScope,
  { userId, response, given, purpose, now }: Verifying,
): Promise<VerifiedUse | null> {
  const { browser, relyingParty } = given;
  const challenge = response?.clientData.challenge ?? '';
  const isAsked = (await spendChallenge(db, { challenge, browser, purpose, now })) !== null;
  return response === null || !isAsked ? null : verifyUse(db, scope, { userId, response, relyingParty });
}

type Verifying = {
  readonly userId: string;
  /** The parsed response of the browser; `null` if it is not valid. */
  readonly response: AssertionResponse | null;
  readonly given: Pick<GivenPasskey, 'browser' | 'relyingParty'>;
  readonly purpose: 'proof' | 'sign_in';
  readonly now: Date;
};

export const PASSKEY_REFUSED: Invalid = {
  kind: 'invalid',
  message: 'The passkey was not accepted. Try again.',
  fields: {},
};

/**
 * Verifies that a passkey of this user has signed the challenge, which the caller has used up. Returns `null` if the verification
 * fails.
 */
export async function verifyUse(
  db: Database,
  scope: OrganizationScope,
  { userId, response, relyingParty }: { userId: string; response: AssertionResponse; relyingParty: RelyingParty },
): Promise<VerifiedUse | null> {
  const passkey = await findOwn(db.prisma, scope, { userId, credentialId: response.credentialId });
  if (passkey === null) return null;
  const { userHandle } = response;
  // Authenticators return the user handle with every discoverable passkey, so a returned handle must be the handle of the user's
  // account.
  if (userHandle !== null && userHandle !== Buffer.from(passkey.userHandle).toString('base64url')) return null;
  const verified = await verifyAssertion(response, { publicKey: passkey.publicKey, relyingParty });
  return verified === null ? null : { passkey, ...verified };
}

async function findOwn(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, credentialId }: { userId: string; credentialId: string },
): Promise<StoredPasskey | null> {
  const own = await listPasskeysOf(tx, scope, userId);
  return own.find((each) => Buffer.from(each.credentialId).toString('base64url') === credentialId) ?? null;
}

/** Whether the use was recorded. `why` is the reason for the refusal in the audit log. */
export type UseResult = { readonly kind: 'used' } | { readonly kind: 'refused'; readonly why: string };

const WHY = {
  copied: 'the counter of the passkey did not increase: it may have been copied',
  changed: 'the passkey claims another kind of backup than when it was added',
  removed: 'the passkey was removed meanwhile',
};

/**
 * Records the use of the passkey. The caller has locked the user, so that if a passkey and its copy are used at the same time,
 * one of them is refused.
 */
export async function spendUse(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, use, now }: { userId: string; use: VerifiedUse; now: Date },
): Promise<UseResult> {
  const { counter, isBackedUp } = use;
  const stored = (await listPasskeysOf(tx, scope, userId)).find(({ id }) => id === use.passkey.id);
  if (stored === undefined) return { kind: 'refused', why: WHY.removed };
  const verdict = judgeUse(stored, use);
  if (verdict !== 'accepted') return { kind: 'refused', why: WHY[verdict] };
  await recordPasskeyUse(tx, scope, { userId, id: stored.id, counter, isBackedUp, at: now });
  return { kind: 'used' };
}

/** The browser that asks for a challenge. No other browser can use the challenge. */
export type AskingBrowser = {
  /** The CSRF token of the browser's forms, which depends on a cookie. */
  readonly formToken: string;
  readonly ip: string;
};

type NewChallenge = {
  readonly browser: AskingBrowser;
  readonly purpose: PasskeyPurpose;
  readonly userHandle?: Uint8Array<ArrayBuffer>;
  readonly now: Date;
};

export async function issueChallenge(
  db: Database,
  { browser, purpose, userHandle, now }: NewChallenge,
): Promise<{ readonly kind: 'issued'; readonly challenge: Buffer<ArrayBuffer> } | RateLimited> {
  const admission = await admitChallenge(db, browser.ip);
  if (admission.kind === 'rate-limited') return admission;
  const challenge = createChallenge();
  await insertChallenge(db, {
    challengeHash: hashChallenge(challenge.toString('base64url')),
    browserHash: browserHashOf(browser),
    purpose,
    userHandle: userHandle ?? null,
    expiresAt: new Date(now.getTime() + CHALLENGE_MINUTES * MINUTE_MS),
  });
  return { kind: 'issued', challenge };
}

/**
 * Uses up the challenge that was signed, even if the signature is wrong. Returns `null` if this browser was not given the
 * challenge.
 */
export async function spendChallenge(
  db: Database,
  { challenge, browser, purpose, now }: { challenge: string } & Omit<NewChallenge, 'userHandle'>,
): Promise<{ readonly userHandle: Uint8Array<ArrayBuffer> | null } | null> {
  return takeChallenge(db, {
    challengeHash: hashChallenge(challenge),
    browserHash: browserHashOf(browser),
    purpose,
    now,
  });
}

function browserHashOf({ formToken }: AskingBrowser): Buffer {
  const hash = hashToken(formToken);
  if (hash === null) throw new Error('The token of the forms does not have the form of a token.');
  return hash;
}
