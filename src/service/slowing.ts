import { createHash } from 'node:crypto';
import { networkOf } from '../domain/address.ts';
import { SlowedError } from '../domain/errors.ts';
import type { Database } from '../store/database.ts';
import {
  type Admission,
  type Allowance,
  countAttempt,
  forgetAttempts,
  isRemembered,
  remember,
  takeBackAttempt,
} from '../store/sign-in-failures.ts';

const QUARTER_HOUR = 900;
const HOUR = 3600;

/** What is being guessed, and how often it may be: by one network at one account, by one network, at one account. */
const ALLOWANCES = {
  password: {
    pair: { name: 'password', attempts: 10, seconds: QUARTER_HOUR },
    network: { name: 'password-network', attempts: 100, seconds: QUARTER_HOUR },
    account: { name: 'password-account', attempts: 1000, seconds: HOUR },
  },
  // Fewer, because six digits are few; whoever comes so far knows the password.
  'second-factor': {
    pair: { name: 'factor', attempts: 10, seconds: QUARTER_HOUR },
    network: { name: 'factor-network', attempts: 100, seconds: QUARTER_HOUR },
    account: { name: 'factor-account', attempts: 40, seconds: HOUR },
  },
  'reset-request': {
    pair: { name: 'reset', attempts: 3, seconds: HOUR },
    network: { name: 'reset-network', attempts: 20, seconds: HOUR },
    account: { name: 'reset-account', attempts: 10, seconds: HOUR },
  },
} satisfies Record<string, Record<'pair' | 'network' | 'account', Allowance>>;

const FAMILIAR = { name: 'familiar', seconds: 30 * 86_400 };

export type Attempt = {
  readonly at: keyof typeof ALLOWANCES;
  /** What the account is known by: an e-mail, or a user's id. */
  readonly account: string;
  readonly ip: string;
};

/**
 * Counts the attempt and says whether it may be judged. Where the account was signed in from this network within 30 days,
 * only this pair's own failures count, so that a flood from elsewhere, or at a colleague's account, keeps nobody out.
 */
export async function admitAttempt(db: Database, attempt: Attempt): Promise<Admission> {
  const { pair, network, account } = ALLOWANCES[attempt.at];
  const subjects = subjectsOf(attempt);
  const byPair = await countAttempt(db, pair, subjects.pair);
  if (byPair.kind === 'slowed' || (await isRemembered(db, FAMILIAR, subjects.pair))) return byPair;
  const byNetwork = await countAttempt(db, network, subjects.network);
  return byNetwork.kind === 'slowed' ? byNetwork : countAttempt(db, account, subjects.account);
}

/** It was no failure: the pair starts anew, and the bounds that others share get their count back. */
export async function forgiveAttempt(db: Database, attempt: Attempt): Promise<void> {
  const { pair, network, account } = ALLOWANCES[attempt.at];
  const subjects = subjectsOf(attempt);
  await forgetAttempts(db, pair, subjects.pair);
  if (await isRemembered(db, FAMILIAR, subjects.pair)) return;
  await takeBackAttempt(db, network, subjects.network);
  await takeBackAttempt(db, account, subjects.account);
}

/** From now on this network is known to be the account's. */
export async function rememberNetwork(db: Database, { account, ip }: Omit<Attempt, 'at'>): Promise<void> {
  await remember(db, FAMILIAR, subjectsOf({ account, ip }).pair);
}

/** Counts the attempt and throws a SlowedError where it may not be judged. */
export async function refuseWhenSlowed(db: Database, attempt: Attempt): Promise<void> {
  const admission = await admitAttempt(db, attempt);
  if (admission.kind === 'slowed') throw new SlowedError(admission.retryAfterSeconds);
}

/** Hashed, so that an e-mail typed by whomever is neither kept nor longer than the column. */
function subjectsOf({ account, ip }: Omit<Attempt, 'at'>) {
  const network = networkOf(ip);
  return { pair: accountSubject(account, network), network, account: accountSubject(account, '') };
}

function accountSubject(account: string, network: string): string {
  return createHash('sha256')
    .update(JSON.stringify([account, network]))
    .digest('base64url');
}
