import { createHash, randomInt } from 'node:crypto';

export const RECOVERY_CODES = 10;
/** Crockford's base32, without letters that look like digits. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const CHARACTERS = 16;

/** Ten codes such as "8f3k-w2mz-0q7p-ncva". Each has 80 random bits, so it needs no slow hash. */
export function mintRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const code = Array.from({ length: CHARACTERS }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
    return code.replace(/.{4}(?=.)/g, '$&-');
  });
}

/** SHA-256 of a typed code, in any letter case and with or without hyphens; `null` if it is not a recovery code. */
export function hashRecoveryCode(text: string): Buffer | null {
  const code = text.toLowerCase().replace(/[\s-]/g, '').replace(/o/g, '0').replace(/[il]/g, '1');
  return /^[0-9a-hjkmnp-tv-z]{16}$/.test(code) ? createHash('sha256').update(code).digest() : null;
}
