import { Secret, TOTP } from 'otpauth';
import { hashRecoveryCode } from '../domain/recovery-code.ts';
import type { LockedUser, UserChange } from '../store/users.ts';

// RFC 6238 with the parameters that every authenticator supports: SHA-1, six digits, 30 seconds.
const STEP_SECONDS = 30;
/** How far the authenticator's clock may be off. */
const STEPS_OFF = 1;

export type NewSecret = {
  /** 20 random bytes, as RFC 4226 section 4 recommends. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** To type into the authenticator. */
  readonly base32: string;
  /** An otpauth: URI, for a QR code. */
  readonly uri: string;
};

export function mintSecret(email: string): NewSecret {
  const secret = new Secret({ size: 20 });
  return { bytes: new Uint8Array(secret.bytes), base32: secret.base32, uri: totp(secret, email).toString() };
}

/** `change` is written to the user's row, so that the code is not accepted again. */
export type SpentCode = { readonly by: 'authenticator' | 'recovery code'; readonly change: UserChange };

type Factor = Pick<LockedUser, 'totpSecret' | 'totpLastStep' | 'recoveryCodes'>;

/**
 * Null: the code is wrong or was accepted before. The caller locks the user's row and writes the change in the same
 * transaction, so that of two requests with one code, one is accepted.
 */
export function spendCode(user: Factor, code: string, now: Date): SpentCode | null {
  const step = acceptedStep(user, code, now);
  if (step !== null) return { by: 'authenticator', change: { totpLastStep: step } };
  const hash = hashRecoveryCode(code);
  const rest = user.recoveryCodes
    .filter((each) => hash === null || !hash.equals(each))
    .map((each) => Uint8Array.from(each));
  return rest.length === user.recoveryCodes.length ? null : { by: 'recovery code', change: { recoveryCodes: rest } };
}

/** The time step of the code; null: the code is wrong, or not later than the last one that was accepted. */
export function acceptedStep(
  { totpSecret, totpLastStep }: Omit<Factor, 'recoveryCodes'>,
  code: string,
  now: Date,
): number | null {
  const token = code.replace(/\s/g, '');
  if (totpSecret === null || !/^\d{6}$/.test(token)) return null;
  const secret = new Secret({ buffer: Uint8Array.from(totpSecret).buffer });
  const delta = totp(secret, '').validate({ token, timestamp: now.getTime(), window: STEPS_OFF });
  if (delta === null) return null;
  const step = Math.floor(now.getTime() / 1000 / STEP_SECONDS) + delta;
  return step > totpLastStep ? step : null;
}

function totp(secret: Secret, label: string): TOTP {
  return new TOTP({ issuer: 'Charter', label, algorithm: 'SHA1', digits: 6, period: STEP_SECONDS, secret });
}
