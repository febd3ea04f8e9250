import type { Actor } from '../domain/actor.ts';
import { MAX_LIFE_DAYS } from '../domain/api-key.ts';
import { ForbiddenError, invalidField } from '../domain/errors.ts';
import { type KeyPolicy, mayGovern, type Role } from '../domain/role.ts';
import { count } from '../domain/words.ts';
import { recordAudit } from '../store/audit.ts';
import { type Database, transaction } from '../store/database.ts';
import { getOrganization, lockOrganization, type OrganizationRecord, setPolicy } from '../store/organizations.ts';
import { lockActor } from './people-authority.ts';

export { listAdministrators } from '../store/users.ts';
export type { OrganizationRecord };

/** The organization with its policy and whether it is suspended; for administrators. */
export async function getPolicy(db: Database, actor: Actor): Promise<OrganizationRecord> {
  refuseToGovern(actor.role);
  return getOrganization(db.prisma, actor.scope);
}

/** Holds for keys made from now on; keys that there are keep their life. */
export async function updatePolicy(db: Database, actor: Actor, policy: KeyPolicy): Promise<void> {
  const { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys } = policy;
  if (!Number.isInteger(maxKeyLifeDays) || maxKeyLifeDays < 1 || maxKeyLifeDays > MAX_LIFE_DAYS)
    throw invalidField('max_key_life_days', `must be an integer from 1 to ${MAX_LIFE_DAYS}.`);
  await transaction(db, async (tx) => {
    const before = (await lockOrganization(tx, actor.scope)).policy;
    const by = await lockActor(tx, actor);
    refuseToGovern(by.role);
    const after = { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys };
    const detail = changesIn(before, after);
    if (Object.keys(detail).length === 0) return;
    await setPolicy(tx, actor.scope, after);
    await recordAudit(tx, actor.scope, {
      ...{ act: 'organization.policy_changed', actorUserId: by.id, detail, trace: actor.trace },
    });
  });
}

export function refuseToGovern(role: Role): void {
  if (!mayGovern(role))
    throw new ForbiddenError("You may not see or change your organization's settings. Contact an administrator.");
}

function changesIn(before: KeyPolicy, after: KeyPolicy): Record<string, string> {
  const [old, fresh] = [wordsOf(before), wordsOf(after)];
  const changed = Object.entries(fresh).filter(([name, words]) => old[name] !== words);
  return Object.fromEntries(changed.map(([name, words]) => [name, `${old[name] ?? ''} -> ${words}`]));
}

function wordsOf({ membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys }: KeyPolicy): Record<string, string> {
  return {
    'members may create keys': membersMayCreateKeys ? 'yes' : 'no',
    'longest key life': count(maxKeyLifeDays, 'day'),
    'keys that never expire': allowsUnendingKeys ? 'allowed' : 'not allowed',
  };
}
