import { MINUTE_MS } from '../../../domain/duration.ts';
import { CHALLENGE_MINUTES, type PasskeyPurpose } from '../../../domain/people/passkey.ts';
import { hashToken } from '../../../domain/people/session.ts';
import { insertChallenge, takeChallenge } from '../../../store/people/passkey-challenges.ts';
import type { Database } from '../../../store/sql/database.ts';
import type { RateLimited } from '../../outcome.ts';
import { admitChallenge } from '../attempt-limits.ts';
import { hashChallenge, newChallenge } from './ceremony.ts';

/** The browser that asks for a challenge, and the only one that can use it. */
export type AskingBrowser = {
  /** The token of its forms, which depends on its cookie. */
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
  const challenge = newChallenge();
  await insertChallenge(db, {
    challengeHash: hashChallenge(challenge.toString('base64url')),
    browserHash: browserHashOf(browser),
    purpose,
    userHandle: userHandle ?? null,
    expiresAt: new Date(now.getTime() + CHALLENGE_MINUTES * MINUTE_MS),
  });
  return { kind: 'issued', challenge };
}

/** Uses up the challenge that was signed, whether or not the signature is right; `null` if there is none for this browser. */
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
