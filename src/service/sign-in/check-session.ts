import type { Actor, AuditSource } from '../../domain/audit/actor.ts';
import { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { hashToken, judgeSession, LAST_SEEN_SECONDS, type SessionEnd } from '../../domain/people/session.ts';
import { touchSession } from '../../store/people/sessions.ts';
import type { Database } from '../../store/sql/database.ts';
import { findSessionByHash } from '../../store/unscoped/people.ts';

/** The signed-in user, or why nobody is signed in with a token. */
export type SessionCheck =
  | {
      readonly kind: 'signed-in';
      readonly actor: Actor;
      readonly provedAt: Date | null;
      /** Whether the organization leaves this database: only what ends keys, sessions and accounts is carried out. */
      readonly isMoving: boolean;
    }
  | { readonly kind: 'second-factor' }
  | { readonly kind: 'ended'; readonly end: SessionEnd };

/** Finds the session of a token in one statement. If a token has no session, its session was ended. */
export async function checkSession(
  db: Database,
  token: string,
  auditSource: AuditSource,
  now: Date = new Date(),
): Promise<SessionCheck> {
  const tokenHash = hashToken(token);
  const session = tokenHash === null ? null : await findSessionByHash(db, tokenHash);
  if (tokenHash === null || session === null) return { kind: 'ended', end: 'ended' };
  const verdict = judgeSession(session, now);
  if (verdict === 'second-factor') return { kind: 'second-factor' };
  if (verdict !== 'signed-in') return { kind: 'ended', end: verdict };
  const scope = OrganizationScope.grant(session.organizationId);
  const unseenMilliseconds = now.getTime() - session.lastSeenAt.getTime();
  if (unseenMilliseconds >= LAST_SEEN_SECONDS * 1000)
    await touchSession(db, scope, { tokenHash, at: now, auditSource });
  const { userId, role, name, email, organizationName, hasSecondFactor } = session;
  const { endpointsDisabledByCharter, ownsIntegrations, lacksOwners, keyNotices } = session;
  const isSuspended = session.organizationSuspendedAt !== null;
  return {
    kind: 'signed-in',
    provedAt: session.provedAt,
    isMoving: session.organizationIsMoving,
    actor: {
      scope,
      userId,
      role,
      name,
      email,
      organizationName,
      isSuspended,
      hasSecondFactor,
      endpointsDisabledByCharter,
      ownsIntegrations,
      lacksOwners,
      keyNotices,
      auditSource,
    },
  };
}
