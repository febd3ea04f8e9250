/** The most passkeys that a person can have. */
export const MAX_PASSKEYS = 20;
/** How long a challenge can be signed. */
export const CHALLENGE_MINUTES = 10;

/** What a challenge is for. It serves no other purpose. */
export type PasskeyPurpose = 'sign_in' | 'proof' | 'registration';

/** What an authenticator states with each signature. */
export type PasskeyState = {
  /** Signatures so far; 0 if the authenticator does not count them, as for passkeys that are synced. */
  readonly counter: number;
  /** Whether the passkey can be copied to other devices of the user. */
  readonly isBackupEligible: boolean;
};

export type PasskeyVerdict = 'accepted' | 'copied' | 'changed';

/**
 * Compares a verified signature with what is stored (WebAuthn level 3, section 7.2). "copied": the counter did not increase, so
 * another authenticator may have the private key, too. "changed": a passkey never becomes eligible for backups, nor ceases to be.
 */
export function judgeUse(stored: PasskeyState, used: PasskeyState): PasskeyVerdict {
  if (stored.isBackupEligible !== used.isBackupEligible) return 'changed';
  const isCounted = stored.counter > 0 || used.counter > 0;
  return isCounted && used.counter <= stored.counter ? 'copied' : 'accepted';
}
