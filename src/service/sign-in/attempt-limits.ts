import { createHash } from 'node:crypto';
import { MovingError } from '../../domain/errors.ts';
import { networkOf } from '../../domain/network.ts';
import {
  type AttemptAdmission,
  type AttemptLimit,
  countAttempt,
  isRemembered,
  remember,
  resetAttempts,
  takeBackAttempt,
} from '../../store/people/sign-in-failures.ts';
import type { Database } from '../../store/sql/database.ts';

const QUARTER_HOUR = 900;
const HOUR = 3600;
const MAX_REPORTS = 60;
const MAX_CHALLENGES = 300;

/**
 * The limits on attempts to sign in or to request a reset link. `pair` counts the attempts for one account from one network,
 * `network` those from one network, and `account` those for one account.
 */
const LIMITS = {
  password: {
    pair: { name: 'password', attempts: 10, seconds: QUARTER_HOUR },
    network: { name: 'password-network', attempts: 100, seconds: QUARTER_HOUR },
    account: { name: 'password-account', attempts: 1000, seconds: HOUR },
  },
  // The limit of the account is lower here, because a code has only six digits and the attacker already knows the password.
  'second-factor': {
    pair: { name: 'factor', attempts: 10, seconds: QUARTER_HOUR },
    network: { name: 'factor-network', attempts: 100, seconds: QUARTER_HOUR },
    account: { name: 'factor-account', attempts: 40, seconds: HOUR },
  },
  // Attempts are counted by the id of the passkey instead of the account, because the user is not known yet.
  passkey: {
    pair: { name: 'passkey', attempts: 10, seconds: QUARTER_HOUR },
    network: { name: 'passkey-network', attempts: 100, seconds: QUARTER_HOUR },
    account: { name: 'passkey-account', attempts: 1000, seconds: HOUR },
  },
  'reset-request': {
    pair: { name: 'reset', attempts: 3, seconds: HOUR },
    network: { name: 'reset-network', attempts: 20, seconds: HOUR },
    account: { name: 'reset-account', attempts: 10, seconds: HOUR },
  },
  // An attempt is counted when it begins and uncounted when it succeeds, because many people of a company share one network.
  'single-sign-on': {
    pair: { name: 'sso', attempts: 20, seconds: QUARTER_HOUR },
    network: { name: 'sso-network', attempts: 300, seconds: QUARTER_HOUR },
    account: { name: 'sso-account', attempts: 1000, seconds: HOUR },
  },
  // A sign-in that begins at the provider's own page names no user, so attempts are counted by the id of the organization instead
  // of the account.
  'single-sign-on-tile': {
    pair: { name: 'sso-tile', attempts: 300, seconds: QUARTER_HOUR },
    network: { name: 'sso-network', attempts: 300, seconds: QUARTER_HOUR },
    account: { name: 'sso-tile-account', attempts: 3000, seconds: HOUR },
  },
} satisfies Record<string, Record<'pair' | 'network' | 'account', AttemptLimit>>;

/** The limit on reports of leaked keys from one network. */
const REPORTS: AttemptLimit = { name: 'report-network', attempts: MAX_REPORTS, seconds: QUARTER_HOUR };

/** The limit on challenges for passkeys from one network. Each visit to the sign-in page takes one challenge. */
const CHALLENGES: AttemptLimit = { name: 'challenge-network', attempts: MAX_CHALLENGES, seconds: QUARTER_HOUR };

/** The mark that an account has signed in from a network, and how long the mark is kept. */
const FAMILIAR = { name: 'familiar', seconds: 30 * 86_400 };

export type Attempt = {
  readonly at: keyof typeof LIMITS;
  /** An e-mail, or the id of a user, an organization or a passkey. */
  readonly account: string;
  readonly ip: string;
};

/**
 * Counts the attempt, and returns whether it is within the limits. If the account has signed in from this network within the last
 * 30 days, only the limit of the account and network together applies, so that a flood of attempts from other networks or at
 * other accounts locks nobody out.
 */
export async function consumeAttempt(db: Database, attempt: Attempt): Promise<AttemptAdmission> {
  const { pair, network, account } = LIMITS[attempt.at];
  const subjects = subjectsOf(attempt);
  const byPair = await countAttempt(db, pair, subjects.pair);
  if (byPair.kind === 'rate-limited' || (await isRemembered(db, FAMILIAR, subjects.pair))) return byPair;
  const byNetwork = await countAttempt(db, network, subjects.network);
  return byNetwork.kind === 'rate-limited' ? byNetwork : countAttempt(db, account, subjects.account);
}

/**
 * Resets the count of the account and network together after a success, and uncounts the attempt for the network and for the
 * account.
 */
export async function clearAttempt(db: Database, attempt: Attempt): Promise<void> {
  const { pair, network, account } = LIMITS[attempt.at];
  const subjects = subjectsOf(attempt);
  await resetAttempts(db, pair, subjects.pair);
  if (await isRemembered(db, FAMILIAR, subjects.pair)) return;
  await takeBackAttempt(db, network, subjects.network);
  await takeBackAttempt(db, account, subjects.account);
}

/** Calls `act` after a correct proof. If `act` throws because the organization is moving, uncounts the attempt. */
export async function clearIfMoving<T>(db: Database, attempt: Attempt, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof MovingError) await clearAttempt(db, attempt);
    throw error;
  }
}

/** Remembers for 30 days that the account has signed in from the network. */
export async function rememberNetwork(db: Database, { account, ip }: Omit<Attempt, 'at'>): Promise<void> {
  await remember(db, FAMILIAR, subjectsOf({ account, ip }).pair);
}

/** Counts a report of leaked keys, and returns whether it is within the limit of its network. */
export async function admitReport(db: Database, ip: string): Promise<AttemptAdmission> {
  return countAttempt(db, REPORTS, networkOf(ip));
}

/** Counts a challenge for a passkey, and returns whether it is within the limit of its network. */
export async function admitChallenge(db: Database, ip: string): Promise<AttemptAdmission> {
  return countAttempt(db, CHALLENGES, networkOf(ip));
}

/**
 * Returns the keys under which attempts are counted. Hashes the account, so that a typed e-mail is not stored, whatever its
 * length.
 */
function subjectsOf({ account, ip }: Omit<Attempt, 'at'>) {
  const network = networkOf(ip);
  return { pair: accountSubject(account, network), network, account: accountSubject(account, '') };
}

function accountSubject(account: string, network: string): string {
  return createHash('sha256')
    .update(JSON.stringify([account, network]))
    .digest('base64url');
}
