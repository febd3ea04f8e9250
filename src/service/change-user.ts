import type { Actor } from '../domain/actor.ts';
import { DomainError } from '../domain/errors.ts';
import { isAbove, type Role } from '../domain/role.ts';
import { voidAccessLinksOf } from '../store/access-links.ts';
import { revokeApiKeysOf } from '../store/api-keys.ts';
import { recordAudit } from '../store/audit.ts';
import { type Database, type Transaction, transaction } from '../store/database.ts';
import { lockOrganization } from '../store/organizations.ts';
import { endSessionsOf } from '../store/sessions.ts';
import { changeUser, countOtherAdministrators, type LockedUser } from '../store/users.ts';
import { parseRole } from './people.ts';
import { lockToManage, refuseToManage } from './people-authority.ts';

/** Counts from the next request on: what the user's keys and sessions may do follows the role as it is then. */
export async function changeRole(
  db: Database,
  actor: Actor,
  { userId, role }: { userId: string; role: string },
): Promise<void> {
  const next = parseRole(role);
  await transaction(db, async (tx) => {
    const { by, target } = await lockToDemote(tx, actor, userId);
    refuseToManage(by.role, next);
    if (target.role === next) return;
    if (next !== 'administrator') await refuseLastAdministrator(tx, actor, target);
    await changeUser(tx, actor.scope, target.id, { role: next });
    // Who got into the account while it was worth less, by a link that they made, does not rise with it.
    if (isAbove(next, target.role)) await endSessionsOf(tx, actor.scope, target.id);
    await recordAudit(tx, actor.scope, {
      ...{ act: 'user.role_changed', actorUserId: by.id, targetUserId: target.id, trace: actor.trace },
      detail: { before: target.role, after: next } satisfies Record<string, Role>,
    });
  });
}

/** At once and together: no key, no session and no link of the user's works any more. */
export async function deactivateUser(
  db: Database,
  actor: Actor,
  { userId, now = new Date() }: { userId: string; now?: Date },
): Promise<void> {
  await transaction(db, async (tx) => {
    const { scope, trace } = actor;
    const { by, target } = await lockToDemote(tx, actor, userId);
    if (target.deactivatedAt !== null) throw new DomainError('conflict', `${target.email} is deactivated already.`);
    await refuseLastAdministrator(tx, actor, target);
    await changeUser(tx, scope, target.id, { deactivatedAt: now });
    await endSessionsOf(tx, scope, target.id);
    await voidAccessLinksOf(tx, scope, target.id);
    const act = { actorUserId: by.id, targetUserId: target.id, trace };
    await recordAudit(tx, scope, { act: 'user.deactivated', ...act });
    for (const { id, name } of await revokeApiKeysOf(tx, scope, { userId: target.id, at: now, byUserId: by.id })) {
      await recordAudit(tx, scope, {
        act: 'key.revoked',
        ...act,
        keyId: id,
        detail: { name, why: 'user deactivated' },
      });
    }
  });
}

/** The user may sign in again, with the password as it was. What deactivation ended stays ended. */
export async function reactivateUser(db: Database, actor: Actor, { userId }: { userId: string }): Promise<void> {
  await transaction(db, async (tx) => {
    const { actor: by, target } = await lockToManage(tx, actor, userId);
    if (target.deactivatedAt === null) throw new DomainError('conflict', `${target.email} is active.`);
    await changeUser(tx, actor.scope, target.id, { deactivatedAt: null });
    await recordAudit(tx, actor.scope, {
      ...{ act: 'user.reactivated', actorUserId: by.id, targetUserId: target.id, trace: actor.trace },
    });
  });
}

/** The organization first: of two administrators that each take the other's power, the second finds what the first has left. */
async function lockToDemote(tx: Transaction, actor: Actor, userId: string) {
  await lockOrganization(tx, actor.scope);
  const { actor: by, target } = await lockToManage(tx, actor, userId);
  return { by, target };
}

/** One who never set a password is no administrator to rely on, unless it is such a one that goes. */
async function refuseLastAdministrator(tx: Transaction, { scope }: Actor, target: LockedUser): Promise<void> {
  if (target.role !== 'administrator' || target.deactivatedAt !== null) return;
  const withPassword = target.passwordHash !== null;
  if ((await countOtherAdministrators(tx, scope, { id: target.id, withPassword })) > 0) return;
  throw new DomainError(
    'conflict',
    `${target.email} is the last active administrator. Make somebody else an administrator first.`,
  );
}
