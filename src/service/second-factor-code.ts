import { Secret, TOTP } from 'otpauth';
import { hashRecoveryCode } from '../domain/recovery-code.ts';
import type { LockedUser, UserChange } from '../store/users.ts';

// RFC 6238 with what every authenticator knows: SHA-1, six digits, 30 seconds, and a clock that is a step off at most.
const STEP_SECONDS = 30;
const STEPS_OFF = 1;

export type NewSecret = {
  /** 20 random bytes, as RFC 4226 section 4 recommends. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** For typing it in. */
  readonly base32: string;
  /** For a QR code: otpauth://totp/... */
  readonly uri: string;
};

export function mintSecret(email: string): NewSecret {
  const secret = new Secret({ size: 20 });
  return { bytes: new Uint8Array(secret.bytes), base32: secret.base32, uri: totp(secret, email).toString() };
}

/** What taking the code changes in the user's row. */
export type SpentCode = { readonly by: 'authenticator' | 'recovery code'; readonly change: UserChange };

type Factor = Pick<LockedUser, 'totpSecret' | 'totpLastStep' | 'recoveryCodes'>;

/** Null: wrong, or taken before. Hold the user's row until the change is written: of one code given twice, one is taken. */
export function spendCode(user: Factor, code: string, now: Date): SpentCode | null {
  const step = acceptedStep(user, code, now);
  if (step !== null) return { by: 'authenticator', change: { totpLastStep: step } };
  const hash = hashRecoveryCode(code);
  const rest = user.recoveryCodes
    .filter((each) => hash === null || !hash.equals(each))
    .map((each) => Uint8Array.from(each));
  return rest.length === user.recoveryCodes.length ? null : { by: 'recovery code', change: { recoveryCodes: rest } };
}

/** The step that the code is of, later than any that was taken before; null: there is none. */
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
