import { createHash, randomInt } from 'node:crypto';
import { isIP } from 'node:net';

/** The means by which a person can sign in. */
export type WaysIn = {
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  /** The number of passkeys. */
  readonly passkeys: number;
  /** Whether the person can sign in by single sign-on. */
  readonly isLinked: boolean;
};

/**
 * Returns whether a person has a way to sign in. A person who has no way to sign in, for example before accepting an invitation,
 * needs an access link.
 */
export function canSignIn({ hasPassword, passkeys, isLinked }: WaysIn): boolean {
  return hasPassword || passkeys > 0 || isLinked;
}

export const RECOVERY_CODES = 10;
/** The digits of Crockford's base32, which has no letters that look like digits. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const CHARACTERS = 16;

/** Creates ten codes such as "8f3k-w2mz-0q7p-ncva". Each has 80 random bits, so it needs no slow hash. */
export function mintRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const code = Array.from({ length: CHARACTERS }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
    return code.replace(/.{4}(?=.)/g, '$&-');
  });
}

/**
 * Returns the SHA-256 of a typed code, in any letter case and with or without hyphens; `null` if the text is not a recovery code.
 */
export function hashRecoveryCode(text: string): Buffer | null {
  const code = text.toLowerCase().replace(/[\s-]/g, '').replace(/o/g, '0').replace(/[il]/g, '1');
  return /^[0-9a-hjkmnp-tv-z]{16}$/.test(code) ? createHash('sha256').update(code).digest() : null;
}

export const MAX_PASSKEYS = 20;
/** How long a challenge can be signed. */
export const CHALLENGE_MINUTES = 10;

/** The purpose of a challenge. The challenge cannot be used for any other purpose. */
export type PasskeyPurpose = 'sign_in' | 'proof' | 'registration';

/** The part of a passkey's state that the authenticator reports with each signature. */
export type PasskeyState = {
  /** The number of signatures so far; 0 if the authenticator does not count them, as for passkeys that are synchronized. */
  readonly counter: number;
  /** Whether the passkey can be copied to other devices of the user. */
  readonly isBackupEligible: boolean;
};

export type PasskeyVerdict = 'accepted' | 'copied' | 'changed';

/**
 * Compares a verified signature with the stored state (WebAuthn level 3, section 7.2). "copied" means that the counter did not
 * increase, so another authenticator may have the private key, too. "changed" means that the eligibility for backups changed,
 * which is not possible for a passkey.
 */
export function judgeUse(stored: PasskeyState, used: PasskeyState): PasskeyVerdict {
  if (stored.isBackupEligible !== used.isBackupEligible) return 'changed';
  const isCounted = stored.counter > 0 || used.counter > 0;
  return isCounted && used.counter <= stored.counter ? 'copied' : 'accepted';
}

/** The site to which passkeys belong (the relying party of WebAuthn). Browsers use a passkey only there. */
export type RelyingParty = {
  /** The host name of the site. */
  readonly id: string;
  /** The origin of the pages that use passkeys, such as https://charter.example.org. */
  readonly origin: string;
};

/** Why an address has no passkeys. `instead` is an address that has passkeys, or `null`. */
export type NoRelyingParty = {
  readonly kind: 'none';
  readonly why: 'ip-address' | 'insecure' | 'not-configured';
  readonly instead: string | null;
};

export type RelyingPartyCheck = { readonly kind: 'usable'; readonly relyingParty: RelyingParty } | NoRelyingParty;

/**
 * Returns the site at `origin`. `isConfigured` says whether the operator has configured the origin. If not, the origin comes from
 * the client's request, and only "localhost" is accepted, for a demonstration.
 */
export function relyingPartyAt(origin: string, { isConfigured }: { isConfigured: boolean }): RelyingPartyCheck {
  if (!URL.canParse(origin)) return { kind: 'none', why: 'not-configured', instead: null };
  const url = new URL(origin);
  const { hostname, protocol } = url;
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    const isLoopback = hostname.startsWith('127.') || hostname === '[::1]';
    const localhost = new URL(url.origin);
    localhost.hostname = 'localhost';
    return { kind: 'none', why: 'ip-address', instead: isLoopback && !isConfigured ? localhost.origin : null };
  }
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (!isLocal && !isConfigured) return { kind: 'none', why: 'not-configured', instead: null };
  if (!isLocal && protocol !== 'https:') return { kind: 'none', why: 'insecure', instead: null };
  return { kind: 'usable', relyingParty: { id: hostname, origin: url.origin } };
}
