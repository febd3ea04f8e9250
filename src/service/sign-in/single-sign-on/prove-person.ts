import type { AuditSource } from '../../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../../domain/organizations/organization-scope.ts';
import { hashToken } from '../../../domain/people/session.ts';
import { recordAudit } from '../../../store/audit/audit.ts';
import { recordProof } from '../../../store/people/sessions.ts';
import { findSsoUser } from '../../../store/people/sso-identities.ts';
import type { SsoSignInRecord } from '../../../store/people/sso-sign-ins.ts';
import { lockUser } from '../../../store/people/users.ts';
import { type Database, transaction } from '../../../store/sql/database.ts';
import { findSessionByHash } from '../../../store/unscoped/people.ts';
import { type Person, provedAtOf } from './claims.ts';
import {
  BY_SINGLE_SIGN_ON,
  LOST,
  type Lost,
  type NotProven,
  type NotProvenReason,
  type ProvenByProvider,
} from './completion.ts';
import { CLOCK_SECONDS } from './provider-access.ts';
import { type Connection, shareConnection } from './scope.ts';

type Proving = {
  readonly person: Person;
  readonly signIn: SsoSignInRecord;
  /** Of the browser's session; `null` if it has none. */
  readonly token: string | null;
  readonly now: Date;
};

/** Whether the person is the user of the browser's session, whose proof is then as old as their sign-in there. */
export async function provePerson(
  db: Database,
  connection: Connection,
  { person, signIn, token, now }: Proving,
): Promise<ProvenByProvider | NotProven | Lost> {
  const { scope } = connection;
  const notProven = (reason: NotProvenReason): NotProven => ({ kind: 'not-proven', reason });
  const at = provedAtOf(person, now);
  if (at === null) return notProven('no-time');
  if (at.getTime() < signIn.createdAt.getTime() - CLOCK_SECONDS * 1000) return notProven('not-anew');
  const tokenHash = hashToken(token ?? '');
  return transaction(db, async (tx) => {
    const userId = await findSsoUser(tx, scope, person);
    if (userId === null || tokenHash === null) return notProven('other-session');
    await lockUser(tx, scope, userId);
    if ((await shareConnection(tx, connection)) === null) return LOST;
    const isProven = await recordProof(tx, scope, { userId, tokenHash, at });
    return isProven ? { kind: 'proven' } : notProven('other-session');
  });
}

/** With the user of the browser's session, if it still has one in this organization. */
export async function recordFailedProof(
  db: Database,
  scope: OrganizationScope,
  { token, why, auditSource }: { token: string | null; why: string; auditSource: AuditSource },
): Promise<void> {
  const tokenHash = hashToken(token ?? '');
  const session = tokenHash === null ? null : await findSessionByHash(db, tokenHash);
  const userId = session?.organizationId === scope.organizationId ? session.userId : null;
  const detail = { with: BY_SINGLE_SIGN_ON, why };
  const event = {
    action: 'user.proof_failed',
    actorUserId: userId,
    targetUserId: userId,
    detail,
    auditSource,
  } as const;
  await transaction(db, (tx) => recordAudit(tx, scope, event));
}
