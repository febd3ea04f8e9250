import { createHash, randomBytes } from 'node:crypto';
import { MINUTE_MS } from '../duration.ts';
import type { KeyNotice } from '../keys/key-notice.ts';
import type { Role } from './role.ts';

export const SESSION_IDLE_MINUTES = 30;
export const SESSION_HOURS = 12;
/** The life of a session that waits for the second factor. */
export const HALF_SESSION_MINUTES = 10;
/** How long a proof of who somebody is serves: a sign-in, or one that a page asked for afterwards. */
export const PROOF_MINUTES = 10;
/** The precision of `lastSeenAt`. */
export const LAST_SEEN_SECONDS = 60;

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** 256 random bits in base64url. The database stores only the SHA-256. */
export function mintToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns `null` unless it has the format of a token; no look-up is needed then. */
export function hashToken(token: string): Buffer | null {
  return TOKEN.test(token) ? createHash('sha256').update(token).digest() : null;
}

/** What `judgeSession` decides from: the session, its user and its organization, read in one statement. */
export type SessionRecord = {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly organizationSuspendedAt: Date | null;
  readonly organizationIsMoving: boolean;
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly userDeactivatedAt: Date | null;
  readonly hasSecondFactor: boolean;
  /** The number of webhook endpoints of the organization that Charter itself has disabled. */
  readonly endpointsDisabledByCharter: number;
  /** The user owns an integration of the organization. */
  readonly ownsIntegrations: boolean;
  /** For an administrator: an active integration of the organization has no active owner. */
  readonly lacksOwners: boolean;
  /** The open notices about the keys of the user and of the integrations that the user owns, the next end first. */
  readonly keyNotices: readonly KeyNotice[];
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly isComplete: boolean;
  readonly provedAt: Date | null;
};

/** Why a session ended. "ended": by a person or by a change of the account, or long ago. */
export type SessionEnd = 'idle' | 'too-old' | 'ended';
export type SessionVerdict = 'signed-in' | 'second-factor' | SessionEnd;

export function judgeSession(session: SessionRecord, now: Date): SessionVerdict {
  if (session.userDeactivatedAt !== null) return 'ended';
  const age = minutes(session.createdAt, now);
  if (!session.isComplete) return age < HALF_SESSION_MINUTES ? 'second-factor' : 'ended';
  const idle = minutes(session.lastSeenAt, now);
  if (idle < SESSION_IDLE_MINUTES && age < SESSION_HOURS * 60) return 'signed-in';
  return age < SESSION_HOURS * 60 ? 'idle' : 'too-old';
}

/** `provedAt` in the future, from before the clock was set back, counts by its distance, too. */
export function isProofFresh(provedAt: Date | null, now: Date): boolean {
  return provedAt !== null && Math.abs(minutes(provedAt, now)) < PROOF_MINUTES;
}

function minutes(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / MINUTE_MS;
}
