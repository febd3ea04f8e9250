import type { Actor } from '../../../domain/audit/actor.ts';
import { shownEmail } from '../../../domain/people/email.ts';
import { hashToken } from '../../../domain/people/session.ts';
import { lockOrganization } from '../../../store/organizations/organizations.ts';
import { endSessionsByWay, endSsoSessionsOf, hasSession } from '../../../store/people/sessions.ts';
import {
  deleteSsoIdentity,
  listSsoDomains,
  lockSsoConnection,
  setSsoEnforced,
} from '../../../store/people/single-sign-on.ts';
import { getWaysIn } from '../../../store/people/users.ts';
import type { Database } from '../../../store/sql/database.ts';
import { checkUnlinking, lockToGovern, lockToManage } from '../../authority/people.ts';
import {
  type Conflict,
  conflict,
  DONE,
  type Done,
  type Invalid,
  invalid,
  recordAct,
  runAction,
} from '../../outcome.ts';
import { NO_CONNECTION } from './settings.ts';

/**
 * Requires all users except the break-glass administrator to sign in by single sign-on, and ends all other sessions. The actor
 * must have signed in by the connection, which shows that the connection works. Call this function again to choose another
 * break-glass administrator.
 */
export async function requireSingleSignOn(
  db: Database,
  actor: Actor,
  { token, breakGlass, now }: { readonly token: string; readonly breakGlass: string; readonly now: Date },
): Promise<Done | Invalid | Conflict> {
  const { scope } = actor;
  const tokenHash = hashToken(token);
  return runAction(db, async (tx) => {
    const { current, holders } = await lockToGovern(tx, actor, [breakGlass]);
    const connection = await lockSsoConnection(tx, scope);
    if (connection === null) return conflict(NO_CONNECTION);
    const domains = await listSsoDomains(tx, scope);
    if (!domains.some(({ verifiedAt }) => verifiedAt !== null)) return conflict('Verify a domain first.');
    if (tokenHash === null || !(await hasSession(tx, scope, { userId: current.id, tokenHash, isSso: true })))
      return conflict('Sign out, and in again by single sign-on. That shows that it works.');
    const chosen = holders.get(breakGlass);
    const ways = chosen?.kind === 'person' ? await getWaysIn(tx, scope, chosen.id) : null;
    const canSignIn =
      chosen?.kind === 'person' &&
      ways !== null &&
      chosen.deactivatedAt === null &&
      chosen.role === 'administrator' &&
      ways.hasPassword &&
      ways.passkeys > 0;
    if (!canSignIn) return invalid('break_glass', 'must be an active administrator with a password and a passkey.');
    if (connection.breakGlassUserId === chosen.id) return DONE;
    await setSsoEnforced(tx, scope, { enforcedAt: connection.enforcedAt ?? now, breakGlassUserId: chosen.id });
    await endSessionsByWay(tx, scope, 'password');
    await recordAct(tx, actor, { action: 'sso.required', detail: { 'break-glass administrator': chosen.email } });
    return DONE;
  });
}

/** Unlinks a user from the person at the provider, so that the user can be linked again, for example to a new account there. */
export async function unlinkUser(
  db: Database,
  actor: Actor,
  { userId }: { readonly userId: string },
): Promise<Done | Conflict> {
  const { scope } = actor;
  return runAction(db, async (tx) => {
    await lockOrganization(tx, scope);
    const { target } = await lockToManage(tx, actor, userId);
    const refusal = await checkUnlinking(tx, scope, target);
    if (refusal !== null) return refusal;
    if (!(await deleteSsoIdentity(tx, scope, target.id)))
      return conflict(`${shownEmail(target.email)} is not linked for single sign-on.`);
    await endSsoSessionsOf(tx, scope, { userId: target.id });
    await recordAct(tx, actor, { action: 'user.sso_unlinked', targetUserId: target.id });
    return DONE;
  });
}
