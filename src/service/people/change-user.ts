import type { Actor } from '../../domain/audit/actor.ts';
import { shownEmail } from '../../domain/people/email.ts';
import { isAbove, type Role } from '../../domain/people/role.ts';
import { revokeApiKeysOf } from '../../store/keys/api-keys.ts';
import { lockOrganization } from '../../store/organizations/organizations.ts';
import { voidAccessLinksOf } from '../../store/people/access-links.ts';
import { endSessionsOf } from '../../store/people/sessions.ts';
import { changeUser } from '../../store/people/users.ts';
import type { Database } from '../../store/sql/database.ts';
import { checkNotRemoved, checkReplaceable, lockToManage, requireMayManage } from '../authority/people.ts';
import { type HandOver, handOver, planHandOver } from '../integrations/hand-over.ts';
import {
  type Conflict,
  catchInvalid,
  conflict,
  DONE,
  type Done,
  type Invalid,
  recordAct,
  runAction,
} from '../outcome.ts';
import { parseRole } from './people.ts';

/**
 * Changes the role of a user. The user's keys and sessions have the permissions of the new role from their next request on. To
 * demote an owner of integrations, `newOwner` must be the e-mail of the next owner, who may be the demoted user.
 */
export async function changeRole(
  db: Database,
  actor: Actor,
  { userId, role, newOwner }: { userId: string; role: string; newOwner?: string | undefined },
): Promise<Done | Invalid | Conflict> {
  const parsedRole = catchInvalid(() => parseRole(role));
  if (parsedRole.kind === 'invalid') return parsedRole;
  const next = parsedRole.value;
  return runAction(db, async (tx) => {
    await lockOrganization(tx, actor.scope);
    const found = await planHandOver(tx, actor, { userId, newOwner, mayStay: true });
    const { current, target } = await lockToManage(tx, actor, userId, idsOf(found));
    requireMayManage(current.role, next);
    if (target.role === next) return DONE;
    const refusal = next === 'administrator' ? null : await checkReplaceable(tx, actor.scope, target);
    if (refusal !== null) return refusal;
    if (isAbove(target.role, next)) {
      if (found?.kind === 'invalid') return found;
      const changed = await handOver(tx, actor, { userId: target.id, found });
      if (changed !== null) return changed;
    }
    await changeUser(tx, actor.scope, target.id, { role: next });
    // The attack: an intruder has one of the user's sessions, for example by a reset link that the intruder created, and would
    // gain the permissions of the higher role.
    if (isAbove(next, target.role)) await endSessionsOf(tx, actor.scope, target.id);
    await recordAct(tx, actor, {
      action: 'user.role_changed',
      targetUserId: target.id,
      detail: { before: target.role, after: next } satisfies Record<string, Role>,
    });
    return DONE;
  });
}

/**
 * Ends every key, session and access link of the user, in one transaction. If the user owns integrations, `newOwner` must be the
 * e-mail of their next owner. The integrations keep their keys.
 */
export async function deactivateUser(
  db: Database,
  actor: Actor,
  { userId, newOwner, now = new Date() }: { userId: string; newOwner?: string | undefined; now?: Date },
): Promise<Done | Invalid | Conflict> {
  const { scope } = actor;
  return runAction(db, async (tx) => {
    await lockOrganization(tx, scope);
    const found = await planHandOver(tx, actor, { userId, newOwner, mayStay: false });
    const { current, target } = await lockToManage(tx, actor, userId, idsOf(found));
    if (target.deactivatedAt !== null) return conflict(`${shownEmail(target.email)} is deactivated already.`);
    const refusal = await checkReplaceable(tx, scope, target);
    if (refusal !== null) return refusal;
    if (found?.kind === 'invalid') return found;
    const changed = await handOver(tx, actor, { userId: target.id, found });
    if (changed !== null) return changed;
    await changeUser(tx, scope, target.id, { deactivatedAt: now });
    await endSessionsOf(tx, scope, target.id);
    await voidAccessLinksOf(tx, scope, target.id);
    const targetUserId = target.id;
    await recordAct(tx, actor, { action: 'user.deactivated', targetUserId });
    const ending = { userId: target.id, at: now, byUserId: current.id };
    for (const { id, name } of await revokeApiKeysOf(tx, scope, ending)) {
      const detail = { name, why: 'user deactivated' };
      await recordAct(tx, actor, { action: 'key.revoked', targetUserId, keyId: id, detail });
    }
    return DONE;
  });
}

function idsOf(found: HandOver | Invalid | null): readonly string[] {
  return found?.kind === 'hand-over' ? [...found.integrationIds, found.ownerId] : [];
}

/**
 * Lets the user sign in again, with the same password. Does not restore the keys, sessions and links that the deactivation ended.
 */
export async function reactivateUser(
  db: Database,
  actor: Actor,
  { userId }: { userId: string },
): Promise<Done | Conflict> {
  return runAction(db, async (tx) => {
    await lockOrganization(tx, actor.scope);
    const { target } = await lockToManage(tx, actor, userId);
    if (target.deactivatedAt === null) return conflict(`${shownEmail(target.email)} is active.`);
    const refusal = checkNotRemoved(target);
    if (refusal !== null) return refusal;
    await changeUser(tx, actor.scope, target.id, { deactivatedAt: null });
    await recordAct(tx, actor, { action: 'user.reactivated', targetUserId: target.id });
    return DONE;
  });
}
