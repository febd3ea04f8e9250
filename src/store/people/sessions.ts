import type { AuditSource } from '../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { LAST_SEEN_SECONDS, SESSION_HOURS, SESSION_IDLE_MINUTES } from '../../domain/people/session.ts';
import { HOUR_MS, MINUTE_MS } from '../../domain/time.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database, Transaction } from '../sql/database.ts';
import { storableClient } from '../sql/values.ts';

export type NewSession = {
  readonly userId: string;
  /** The SHA-256 of the token. */
  readonly tokenHash: Buffer;
  /** `false` until the user has given the second factor. */
  readonly isComplete: boolean;
  readonly at: Date;
  /** When the user last proved their identity; `null` until the user has given the second factor. */
  readonly provedAt: Date | null;
  readonly auditSource: AuditSource;
  /**
   * The identity provider's id of the session, or an empty string if the provider gave none. `null` or omitted if the user did
   * not sign in at a provider.
   */
  readonly ssoSid?: string | null | undefined;
};

export async function insertSession(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, tokenHash, isComplete, at, provedAt, auditSource, ssoSid = null }: NewSession,
): Promise<void> {
  await tx.session.create({
    data: {
      organizationId: scope.organizationId,
      tokenHash: Uint8Array.from(tokenHash),
      userId,
      isComplete,
      createdAt: at,
      lastSeenAt: at,
      provedAt,
      ssoSid,
      ...storableClient(auditSource),
    },
  });
}

/** Ends a session. Returns `false` if the session had already ended. */
export async function endSession(tx: Transaction, scope: OrganizationScope, tokenHash: Buffer): Promise<boolean> {
  const { count } = await tx.session.deleteMany({
    where: { organizationId: scope.organizationId, tokenHash: Uint8Array.from(tokenHash) },
  });
  return count === 1;
}

/** Returns whether the user has a session with this token; with `isSso`, only a session by single sign-on counts. */
export async function hasSession(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { userId, tokenHash, isSso = false }: { userId: string; tokenHash: Buffer; isSso?: boolean },
): Promise<boolean> {
  const where = { tokenHash: Uint8Array.from(tokenHash), userId, organizationId };
  return (await tx.session.count({ where: isSso ? { ...where, ssoSid: { not: null } } : where })) === 1;
}

/** Records that the user has proved their identity. Returns `false` if the session has ended. */
export async function recordProof(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, tokenHash, at }: { userId: string; tokenHash: Buffer; at: Date },
): Promise<boolean> {
  const { count } = await tx.session.updateMany({
    where: { organizationId: scope.organizationId, tokenHash: Uint8Array.from(tokenHash), userId, isComplete: true },
    data: { provedAt: at },
  });
  return count === 1;
}

/** Replaces the token of a session. Both tokens are given as SHA-256. Returns `false` if the session has ended. */
export async function replaceSessionToken(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { tokenHash, newTokenHash }: { tokenHash: Buffer; newTokenHash: Buffer },
): Promise<boolean> {
  const { count } = await tx.session.updateMany({
    where: { organizationId, tokenHash: Uint8Array.from(tokenHash) },
    data: { tokenHash: Uint8Array.from(newTokenHash) },
  });
  return count === 1;
}

/** Ends all sessions of the user, including sessions that wait for a second factor. */
export async function endSessionsOf(tx: Transaction, scope: OrganizationScope, userId: string): Promise<void> {
  await tx.session.deleteMany({ where: { organizationId: scope.organizationId, userId } });
}

/**
 * Ends the user's sessions by single sign-on. With `sids`, ends only the sessions that have one of these session ids of the
 * provider. Returns the number of ended sessions.
 */
export async function endSsoSessionsOf(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, sids }: { userId: string; sids?: readonly string[] | undefined },
): Promise<number> {
  const ssoSid = sids === undefined ? { not: null } : { in: [...sids] };
  const where = { organizationId: scope.organizationId, userId, ssoSid };
  return (await tx.session.deleteMany({ where })).count;
}

/** Returns the ids of the users who have a session with this session id of the provider. */
export async function listUsersBySid(tx: Transaction, scope: OrganizationScope, sid: string): Promise<string[]> {
  const where = { organizationId: scope.organizationId, ssoSid: sid };
  const found = await tx.session.findMany({ where, distinct: ['userId'], select: { userId: true } });
  return found.map(({ userId }) => userId);
}

/** Ends all of the organization's sessions by single sign-on, or all of its other sessions. */
export async function endSessionsByWay(
  tx: Transaction,
  scope: OrganizationScope,
  by: 'single sign-on' | 'password',
): Promise<void> {
  const ssoSid = by === 'password' ? null : { not: null };
  await tx.session.deleteMany({ where: { organizationId: scope.organizationId, ssoSid } });
}

export type ListedSession = {
  readonly id: string;
  readonly createdAt: Date;
  /** When the session's last request arrived, to the minute. */
  readonly lastSeenAt: Date;
  /** The address from which the request at `lastSeenAt` came. */
  readonly ip: string;
  readonly userAgent: string;
  /** Whether this is the session with the token of the query. */
  readonly isCurrent: boolean;
};

export type SessionQuery = {
  readonly userId: string;
  readonly tokenHash: Buffer;
  readonly now: Date;
  readonly limit: number;
};

const LIST = {
  name: 'list_sessions',
  text: `
    select id, created_at as "createdAt", last_seen_at as "lastSeenAt", ip, user_agent as "userAgent",
           token_hash = $3 as "isCurrent"
    from sessions
    where organization_id = $1 and user_id = $2 and is_complete and last_seen_at > $4 and created_at > $5
    order by token_hash = $3 desc, last_seen_at desc, id limit $6`,
};

/**
 * Lists the user's sessions that have not ended (see judgeSession): first the session with the token, then the most recently used
 * ones.
 */
export async function listSessionsOf(
  db: Database,
  scope: OrganizationScope,
  { userId, tokenHash, now, limit }: SessionQuery,
): Promise<ListedSession[]> {
  const { idleSince, createdBefore } = limitsAt(now);
  const values = [scope.organizationId, userId, tokenHash, idleSince, createdBefore, limit];
  return (await db.pool.query<ListedSession>({ ...LIST, values })).rows;
}

type Client = Pick<AuditSource, 'ip' | 'userAgent'>;

/** Ends one of the user's sessions, and returns its client; returns `null` if the user has no such session. */
export async function endSessionById(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, id }: { userId: string; id: string },
): Promise<Client | null> {
  const ended = await tx.$queryRaw<Client[]>`
    delete from sessions
    where organization_id = ${scope.organizationId}::uuid and user_id = ${userId}::uuid and id = ${id}::uuid
    returning ip, user_agent as "userAgent"`;
  return ended[0] ?? null;
}

/** Ends the user's other sessions, including sessions that wait for a second factor. Returns the number of ended sessions. */
export async function endOtherSessionsOf(
  tx: Transaction,
  scope: OrganizationScope,
  { userId, tokenHash }: { userId: string; tokenHash: Buffer },
): Promise<number> {
  const ended = await tx.session.deleteMany({
    where: { organizationId: scope.organizationId, userId, tokenHash: { not: Uint8Array.from(tokenHash) } },
  });
  return ended.count;
}

const TOUCH = {
  name: 'touch_session',
  text: `
    update sessions set last_seen_at = $3, ip = $4, user_agent = $5
    where organization_id = $1 and token_hash = $2 and last_seen_at <= $3::timestamptz - make_interval(secs => ${LAST_SEEN_SECONDS})`,
};

/** Updates `last_seen_at` and the client of a session at most once a minute, even if there are many concurrent requests. */
export async function touchSession(
  db: Database,
  scope: OrganizationScope,
  { tokenHash, at, auditSource }: { tokenHash: Buffer; at: Date; auditSource: AuditSource },
): Promise<void> {
  const { ip, userAgent } = storableClient(auditSource);
  await db.pool.query({ ...TOUCH, values: [scope.organizationId, tokenHash, at, ip, userAgent] });
}

/**
 * Returns the times that end sessions: a session has ended if it was last seen at or before `idleSince`, or created at or before
 * `createdBefore`.
 */
function limitsAt(now: Date): { readonly idleSince: Date; readonly createdBefore: Date } {
  return {
    idleSince: new Date(now.getTime() - SESSION_IDLE_MINUTES * MINUTE_MS),
    createdBefore: new Date(now.getTime() - SESSION_HOURS * HOUR_MS),
  };
}

/** Deletes in chunks, for all organizations, the expired sessions. Returns the number of deleted sessions. */
export async function deleteExpiredSessions(db: Database, deletion: Deletion): Promise<number> {
  const { idleSince, createdBefore } = limitsAt(deletion.now);
  return deleteInChunks(
    deletion,
    () => db.prisma.$executeRaw`
      delete from sessions where (organization_id, token_hash) in (
        select organization_id, token_hash from sessions
        where last_seen_at <= ${idleSince} or created_at <= ${createdBefore}
        limit ${CHUNK_ROWS}::int for update skip locked)`,
  );
}
