import type { Actor } from '../../domain/actor.ts';
import { MAX_LIFE_DAYS } from '../../domain/api-key.ts';
import { ForbiddenError } from '../../domain/errors.ts';
import { formatCount } from '../../domain/format.ts';
import { type KeyPolicy, mayGovern, type Role } from '../../domain/role.ts';
import { recordAudit } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import { getOrganization, lockOrganization, type OrganizationRecord, setPolicy } from '../../store/organizations.ts';
import { DONE, type Done, type Invalid, invalid, runAction } from '../outcome.ts';
import { lockActor } from './people-authority.ts';

/** The organization with its policy and its state, for administrators. */
export async function getPolicy(db: Database, actor: Actor): Promise<OrganizationRecord> {
  refuseToGovern(actor.role);
  return getOrganization(db.prisma, actor.scope);
}

/** Changes the policy for new keys; existing keys keep their expiry. */
export async function updatePolicy(db: Database, actor: Actor, policy: KeyPolicy): Promise<Done | Invalid> {
  const { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys } = policy;
  if (!Number.isInteger(maxKeyLifeDays) || maxKeyLifeDays < 1 || maxKeyLifeDays > MAX_LIFE_DAYS)
    return invalid('max_key_life_days', `must be an integer from 1 to ${MAX_LIFE_DAYS}.`);
  return runAction(db, async (tx) => {
    const before = (await lockOrganization(tx, actor.scope)).policy;
    const current = await lockActor(tx, actor);
    refuseToGovern(current.role);
    const after = { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys };
    const detail = changesIn(before, after);
    if (Object.keys(detail).length === 0) return DONE;
    await setPolicy(tx, actor.scope, after);
    await recordAudit(tx, actor.scope, {
      action: 'organization.policy_changed',
      actorUserId: current.id,
      detail,
      auditSource: actor.auditSource,
    });
    return DONE;
  });
}

export function refuseToGovern(role: Role): void {
  if (!mayGovern(role))
    throw new ForbiddenError("You may not see or change your organization's settings. Contact an administrator.");
}

/** "before -> after" by setting, for the audit log. */
function changesIn(before: KeyPolicy, after: KeyPolicy): Record<string, string> {
  const [old, changed] = [wordsOf(before), wordsOf(after)];
  const changes = Object.entries(changed).filter(([name, words]) => old[name] !== words);
  return Object.fromEntries(changes.map(([name, words]) => [name, `${old[name] ?? ''} -> ${words}`]));
}

function wordsOf({ membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys }: KeyPolicy): Record<string, string> {
  return {
    'members may create keys': membersMayCreateKeys ? 'yes' : 'no',
    'longest key life': formatCount(maxKeyLifeDays, 'day'),
    'keys that never expire': allowsUnendingKeys ? 'allowed' : 'not allowed',
  };
}
