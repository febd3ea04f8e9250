import type { Actor } from '../../domain/audit/actor.ts';
import { MAX_LIFE_DAYS } from '../../domain/keys/api-key.ts';
import { MAX_UNUSED_DAYS, MIN_UNUSED_DAYS, type NoticeSettings } from '../../domain/keys/key-notice.ts';
import type { KeyPolicy } from '../../domain/people/role.ts';
import { formatCount } from '../../domain/text.ts';
import { scheduleKeyChecks } from '../../store/keys/key-checks.ts';
import {
  getOrganization,
  type OrganizationRecord,
  setNoticeSettings,
  setPolicy,
} from '../../store/organizations/organizations.ts';
import type { Database } from '../../store/sql/database.ts';
import { changesBetween } from '../audit/audit-log.ts';
import { lockToGovern } from '../authority/people.ts';
import { requireRight } from '../authority/rights.ts';
import { DONE, type Done, type Invalid, invalid, recordAct, runAction } from '../outcome.ts';

export async function getPolicy(db: Database, actor: Actor): Promise<OrganizationRecord> {
  requireRight(actor, 'govern');
  return getOrganization(db.prisma, actor.scope);
}

/** Changes the policy for new keys. Existing keys keep their expiry, and stay valid even without allowed addresses. */
export async function changePolicy(db: Database, actor: Actor, policy: KeyPolicy): Promise<Done | Invalid> {
  const { maxKeyLifeDays } = policy;
  if (!Number.isInteger(maxKeyLifeDays) || maxKeyLifeDays < 1 || maxKeyLifeDays > MAX_LIFE_DAYS)
    return invalid('max_key_life_days', `must be an integer from 1 to ${MAX_LIFE_DAYS}.`);
  return runAction(db, async (tx) => {
    const { organization } = await lockToGovern(tx, actor);
    const detail = changesBetween(wordsOf(organization.policy), wordsOf(policy));
    if (Object.keys(detail).length === 0) return DONE;
    await setPolicy(tx, actor.scope, policy);
    await recordAct(tx, actor, { action: 'organization.policy_changed', detail });
    return DONE;
  });
}

/**
 * Changes whether unused keys are ended, and whether holders are notified when a key is used from a new network. If the maximum
 * time without a use changes, all keys of the organization are checked soon, but no key ends within a week after that time was
 * set or shortened.
 */
export async function changeNoticeSettings(
  db: Database,
  actor: Actor,
  { endsUnusedAfterDays, tellsNewNetworks }: NoticeSettings,
): Promise<Done | Invalid> {
  if (endsUnusedAfterDays !== null && !isUnusedDays(endsUnusedAfterDays))
    return invalid(
      'ends_unused_after_days',
      `must be an integer from ${MIN_UNUSED_DAYS} to ${MAX_UNUSED_DAYS}, or empty.`,
    );
  return runAction(db, async (tx) => {
    const { organization } = await lockToGovern(tx, actor);
    const before = organization.notices;
    const after = { endsUnusedAfterDays, tellsNewNetworks };
    const detail = changesBetween(noticeWordsOf(before), noticeWordsOf(after));
    if (Object.keys(detail).length === 0) return DONE;
    const isShorter = (endsUnusedAfterDays ?? Infinity) < (before.endsUnusedAfterDays ?? Infinity);
    await setNoticeSettings(tx, actor.scope, { ...after, ...(isShorter && { endsUnusedSince: new Date() }) });
    if (endsUnusedAfterDays !== before.endsUnusedAfterDays) await scheduleKeyChecks(tx, actor.scope);
    await recordAct(tx, actor, { action: 'organization.policy_changed', detail });
    return DONE;
  });
}

function isUnusedDays(days: number): boolean {
  return Number.isInteger(days) && days >= MIN_UNUSED_DAYS && days <= MAX_UNUSED_DAYS;
}

function noticeWordsOf({ endsUnusedAfterDays, tellsNewNetworks }: NoticeSettings): Record<string, string> {
  return {
    'unused keys': endsUnusedAfterDays === null ? 'do not end' : `end after ${formatCount(endsUnusedAfterDays, 'day')}`,
    'mail about new networks': tellsNewNetworks ? 'yes' : 'no',
  };
}

function wordsOf(policy: KeyPolicy): Record<string, string> {
  const { membersMayCreateKeys, maxKeyLifeDays, allowsUnendingKeys, requiresAddresses } = policy;
  return {
    'members may create keys': membersMayCreateKeys ? 'yes' : 'no',
    'longest key life': formatCount(maxKeyLifeDays, 'day'),
    'keys that never expire': allowsUnendingKeys ? 'allowed' : 'not allowed',
    'allowed addresses of keys that may write': requiresAddresses ? 'required' : 'optional',
  };
}
