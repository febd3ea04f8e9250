import { Secret, TOTP } from 'otpauth';
import type { Keyring } from '../../domain/keyring.ts';
import { hashRecoveryCode } from '../../domain/people/ways-in.ts';
import { isSameText } from '../../domain/text.ts';
import type { LockedUser, UserChange } from '../../store/people/users.ts';
import { placeOfTotpSecret } from '../../store/sql/secrets.ts';

// The codes follow RFC 6238, with the parameters that every authenticator supports: SHA-1, six digits, 30 seconds.
const STEP_SECONDS = 30;
/** The maximum number of time steps by which the clock of the authenticator may differ from the server's clock. */
const STEPS_OFF = 1;

export type NewSecret = {
  /** The secret, encrypted for the user's row. It has 20 random bytes, as RFC 4226 section 4 recommends. */
  readonly encrypted: Uint8Array<ArrayBuffer>;
  /** The secret as text, to type into the authenticator. */
  readonly base32: string;
  /** The secret as an otpauth: URI, for a QR code. */
  readonly uri: string;
};

export function createAuthenticatorSecret(
  keyring: Keyring,
  user: Pick<LockedUser, 'organizationId' | 'id' | 'email'>,
): NewSecret {
  const secret = new Secret({ size: 20 });
  const { email } = user;
  return {
    encrypted: keyring.encrypt(secret.bytes, placeOfTotpSecret(user)),
    base32: secret.base32,
    uri: totp(secret, email).toString(),
  };
}

/** Returns the user's secret if it equals the secret that was sent; otherwise `null`. */
export function findKnownSecret(
  { totpSecret, ...user }: Pick<LockedUser, 'organizationId' | 'id' | 'email' | 'totpSecret'>,
  { keyring, secret: sent }: { readonly keyring: Keyring; readonly secret: string },
): { readonly secret: string; readonly uri: string } | null {
  if (totpSecret === null) return null;
  const secret = openSecret(totpSecret, { keyring, user });
  return isSameText(sent, secret.base32) ? { secret: sent, uri: totp(secret, user.email).toString() } : null;
}

function openSecret(
  totpSecret: Uint8Array,
  { keyring, user }: { keyring: Keyring; user: Pick<LockedUser, 'organizationId' | 'id'> },
): Secret {
  return new Secret({ buffer: Uint8Array.from(keyring.decrypt(totpSecret, placeOfTotpSecret(user))).buffer });
}

/** The result of an accepted code. `change` is written to the user's row, so that the code is not accepted again. */
export type SpentCode = { readonly by: 'authenticator' | 'recovery code'; readonly change: UserChange };

type Factor = Pick<LockedUser, 'organizationId' | 'id' | 'totpSecret' | 'totpLastStep' | 'recoveryCodes'>;

type GivenCode = { readonly keyring: Keyring; readonly code: string; readonly now: Date };

/**
 * Accepts a code of the authenticator or a recovery code. Returns `null` if the code is wrong or was accepted before. The caller
 * locks the user's row and writes `change` in the same transaction, so that only one of two requests with the same code is
 * accepted.
 */
export function spendCode(user: Factor, { keyring, code, now }: GivenCode): SpentCode | null {
  const step = stepOfCode(user, { keyring, code, now });
  if (step !== null) return { by: 'authenticator', change: { totpLastStep: step } };
  const hash = hashRecoveryCode(code);
  const rest = user.recoveryCodes
    .filter((each) => hash === null || !hash.equals(each))
    .map((each) => Uint8Array.from(each));
  return rest.length === user.recoveryCodes.length ? null : { by: 'recovery code', change: { recoveryCodes: rest } };
}

/** Returns the time step of the code, or `null` if the code is wrong, or is not newer than the last accepted code. */
export function stepOfCode(
  { totpSecret, totpLastStep, ...user }: Omit<Factor, 'recoveryCodes'>,
  { keyring, code, now }: GivenCode,
): number | null {
  const token = code.replace(/\s/g, '');
  if (totpSecret === null || !/^\d{6}$/.test(token)) return null;
  const delta = totp(openSecret(totpSecret, { keyring, user }), '').validate({
    token,
    timestamp: now.getTime(),
    window: STEPS_OFF,
  });
  if (delta === null) return null;
  const step = Math.floor(now.getTime() / 1000 / STEP_SECONDS) + delta;
  return step > totpLastStep ? step : null;
}

function totp(secret: Secret, label: string): TOTP {
  return new TOTP({ issuer: 'Charter', label, algorithm: 'SHA1', digits: 6, period: STEP_SECONDS, secret });
}
