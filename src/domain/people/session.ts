import { createHash, randomBytes } from 'node:crypto';
import { MINUTE_MS } from '../time.ts';

export const SESSION_IDLE_MINUTES = 30;
export const SESSION_HOURS = 12;
/** The maximum life of a session that waits for the second factor. */
const HALF_SESSION_MINUTES = 10;
/** How long a proof of identity is valid, whether it was the sign-in or a later proof for an action. */
export const PROOF_MINUTES = 10;
/** The precision of `lastSeenAt`. */
export const LAST_SEEN_SECONDS = 60;

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Creates a token of 256 random bits, in base64url. The database stores only its SHA-256. */
export function mintToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the SHA-256 of a token; `null` if the text does not have the format of a token, so that no look-up is needed. */
export function hashToken(token: string): Buffer | null {
  return TOKEN.test(token) ? createHash('sha256').update(token).digest() : null;
}

/** The values that decide whether a session has ended. */
export type JudgedSession = {
  readonly userDeactivatedAt: Date | null;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  /** Whether the second factor, if the user has one, has been given. */
  readonly isComplete: boolean;
};

/** Why a session ended. "ended" means that a person or a change of the account ended it, or that it ended long ago. */
export type SessionEnd = 'idle' | 'too-old' | 'ended';
export type SessionVerdict = 'signed-in' | 'second-factor' | SessionEnd;

export function judgeSession(session: JudgedSession, now: Date): SessionVerdict {
  if (session.userDeactivatedAt !== null) return 'ended';
  const age = minutes(session.createdAt, now);
  if (!session.isComplete) return age < HALF_SESSION_MINUTES ? 'second-factor' : 'ended';
  const idle = minutes(session.lastSeenAt, now);
  if (idle < SESSION_IDLE_MINUTES && age < SESSION_HOURS * 60) return 'signed-in';
  return age < SESSION_HOURS * 60 ? 'idle' : 'too-old';
}

/**
 * Returns whether the proof is recent. If the clock was set back since the proof, `provedAt` is in the future. The proof is then
 * recent if `provedAt` is less than PROOF_MINUTES ahead.
 */
export function isProofFresh(provedAt: Date | null, now: Date): boolean {
  return provedAt !== null && Math.abs(minutes(provedAt, now)) < PROOF_MINUTES;
}

function minutes(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / MINUTE_MS;
}

/**
 * The names of browsers. The first name that matches is used, because browsers also name the browsers with which they are
 * compatible.
 */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/(Chrome|\bCriOS)\//, 'Chrome'],
  [/\bVersion\/\S+ (\S+ )?Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/**
 * Returns a description for people, such as "Firefox on Windows", of a User-Agent header (RFC 9110 section 10.1.5). A client can
 * send any text in this header.
 */
export function deviceOf(userAgent: string): string {
  const nameIn = (names: typeof BROWSERS) => names.find(([mark]) => mark.test(userAgent))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (system === undefined) return browser ?? 'Unknown device';
  return `${browser ?? 'Unknown browser'} on ${system}`;
}
