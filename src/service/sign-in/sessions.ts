import type { Actor, AuditSource } from '../../domain/audit/actor.ts';
import { ForbiddenError } from '../../domain/errors.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { deviceOf, hashToken, mintToken } from '../../domain/people/session.ts';
import { isId } from '../../domain/text.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import {
  endOtherSessionsOf,
  endSessionById,
  hasSession,
  insertSession,
  type ListedSession,
  listSessionsOf,
  type NewSession,
  replaceSessionToken,
} from '../../store/people/sessions.ts';
import type { LockedUser } from '../../store/people/users.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import { lockActor } from '../authority/people.ts';
import { type Conflict, conflict, DONE, type Done, recordAct, runAction } from '../outcome.ts';

export type SignedIn = {
  readonly kind: 'signed-in';
  /** The token of the session. */
  readonly token: string;
  readonly userId: string;
  /**
   * The organization of the break-glass administrator; omitted if another user signed in. Call `mailBreakGlass` after the commit.
   */
  readonly breakGlassOf?: OrganizationScope;
};

type SignIn = {
  readonly userId: string;
  /** The way in which the user signed in, for the audit log. */
  readonly detail?: Readonly<Record<string, string>>;
  readonly isBreakGlass?: boolean;
  readonly at: Date;
  /** When the user proved who they are; `null` if that is unknown. Default: `at`. */
  readonly provedAt?: Date | null;
  /** The identity provider's id of the session; omitted if the user did not sign in by single sign-on. */
  readonly ssoSid?: string;
  readonly auditSource: AuditSource;
};

/** Opens a session for a user who has signed in, and records the sign-in in the audit log. */
export async function openSession(
  tx: Transaction,
  scope: OrganizationScope,
  { detail, isBreakGlass = false, ...session }: SignIn,
): Promise<SignedIn> {
  const { userId, auditSource } = session;
  const event = { actorUserId: userId, targetUserId: userId, auditSource };
  await recordAudit(tx, scope, { ...event, action: 'user.signed_in', ...(detail !== undefined && { detail }) });
  if (isBreakGlass) await recordAudit(tx, scope, { ...event, action: 'user.break_glass_used' });
  const token = await startSession(tx, scope, { ...session, isComplete: true });
  return { kind: 'signed-in', token, userId, ...(isBreakGlass && { breakGlassOf: scope }) };
}

/**
 * Starts a session under a new token, never under a token that the browser sent. Otherwise, an attacker could plant a token in a
 * browser and then use the session (session fixation).
 */
export async function startSession(
  tx: Transaction,
  scope: OrganizationScope,
  session: Omit<NewSession, 'tokenHash' | 'provedAt'> & { readonly provedAt?: Date | null },
): Promise<string> {
  const { token, tokenHash } = createHashedToken();
  const { isComplete, at, provedAt = isComplete ? at : null } = session;
  await insertSession(tx, scope, { ...session, provedAt, tokenHash });
  return token;
}

/** Creates a random token, and its hash for the database. */
export function createHashedToken(): { token: string; tokenHash: Buffer } {
  const token = mintToken();
  const tokenHash = hashToken(token);
  if (tokenHash === null) throw new Error('A new token does not have the form of a token.');
  return { token, tokenHash };
}

export type SessionList = {
  readonly sessions: readonly ListedSession[];
  /** Whether the list is incomplete, because there are more than MAX_LISTED_SESSIONS. */
  readonly isCut: boolean;
};

export const MAX_LISTED_SESSIONS = 50;

/** Lists the actor's sessions: first the session with this token, then the most recently used sessions. */
export async function listSessions(
  db: Database,
  actor: Actor,
  { token, now }: { token: string; now: Date },
): Promise<SessionList> {
  const query = { userId: actor.userId, tokenHash: sessionHashOf(token), now, limit: MAX_LISTED_SESSIONS + 1 };
  const found = await listSessionsOf(db, actor.scope, query);
  return { sessions: found.slice(0, MAX_LISTED_SESSIONS), isCut: found.length > MAX_LISTED_SESSIONS };
}

/**
 * Ends one of the actor's sessions. `token` is the token of the current session. Returns the same "conflict" for a session that
 * has ended as for a session of another person.
 */
export async function endOwnSession(
  db: Database,
  actor: Actor,
  { sessionId, token }: { sessionId: string; token: string },
): Promise<Done | Conflict> {
  const { scope, userId } = actor;
  return runAction(db, async (tx) => {
    await lockSession(tx, actor, token);
    const client = isId(sessionId) ? await endSessionById(tx, scope, { userId, id: sessionId }) : null;
    if (client === null) return conflict('This session had ended already.');
    const detail = { device: deviceOf(client.userAgent), ...(client.ip !== '' && { ip: client.ip }) };
    await recordAct(tx, actor, { action: 'user.session_ended', targetUserId: userId, detail });
    return DONE;
  });
}

/** Ends every session of the actor except the one with this token. Calling it again changes nothing. */
export async function endOtherSessions(db: Database, actor: Actor, { token }: { token: string }): Promise<Done> {
  const { scope, userId } = actor;
  return runAction(db, async (tx) => {
    const { tokenHash } = await lockSession(tx, actor, token);
    const ended = await endOtherSessionsOf(tx, scope, { userId, tokenHash });
    if (ended === 0) return DONE;
    await recordAct(tx, actor, {
      action: 'user.signed_out_everywhere',
      targetUserId: userId,
      detail: { sessions: String(ended) },
    });
    return DONE;
  });
}

/**
 * Locks the actor's row, so that two requests that end each other's sessions run one after the other. Throws "forbidden" if the
 * session has ended. `tokenHash` is the SHA-256 of the session's token.
 */
export async function lockSession(
  tx: Transaction,
  actor: Actor,
  token: string,
): Promise<{ readonly user: LockedUser; readonly tokenHash: Buffer }> {
  const user = await lockActor(tx, actor);
  const tokenHash = sessionHashOf(token);
  if (!(await hasSession(tx, actor.scope, { userId: actor.userId, tokenHash }))) throw sessionEndedError();
  return { user, tokenHash };
}

/**
 * Replaces the token of a session, because somebody else may know it, and returns the new token. Does not change the age of the
 * session, its proof or how it began. Throws "forbidden" if the session has ended.
 */
export async function renewSession(tx: Transaction, scope: OrganizationScope, tokenHash: Buffer): Promise<string> {
  const { token, tokenHash: newTokenHash } = createHashedToken();
  if (!(await replaceSessionToken(tx, scope, { tokenHash, newTokenHash }))) throw sessionEndedError();
  return token;
}

/** Returns the SHA-256 of a session's token. Throws "forbidden" if the text cannot be a token. */
export function sessionHashOf(token: string): Buffer {
  const hash = hashToken(token);
  if (hash === null) throw sessionEndedError();
  return hash;
}

export function sessionEndedError(): ForbiddenError {
  return new ForbiddenError('Your session has ended. Sign in again.');
}
