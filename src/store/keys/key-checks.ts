import { Prisma } from '../../../generated/prisma/client.ts';
import type { KeyRecord } from '../../domain/keys/api-key.ts';
import { NOTICE_DAYS, UNUSED_GRACE_DAYS, USED_WITHIN_DAYS } from '../../domain/keys/key-notice.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { insertKeyEvents } from '../audit/audit.ts';
import type { Database, Transaction } from '../sql/database.ts';
import { insertNoticesOf, STAYS } from './key-notices.ts';
import { isActive, isCurrent, isUnexpired } from './key-row.ts';

// Notices about keys that end soon, and the end of unused keys. All times come from the database's clock, which all processes
// share.

const ALL_DAYS = `unnest(array[${NOTICE_DAYS.join(', ')}]) as days`;
const DAY = "interval '1 day'";

function textOfEnd(end: string): string {
  return `to_char(${end} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')`;
}

/** Returns SQL for a string that identifies a notice by the end of the key and the number of days before that end. */
function occasionOf(end: string, days: string): string {
  return `${textOfEnd(end)} || ', ' || ${days}`;
}

/**
 * SQL for the time at which the key `k` of the organization `o` and the holder `h` ends unless it is used; null if the
 * organization's policy does not end the key.
 */
const UNUSED_END = `
  case when o.ends_unused_after_days is not null and o.suspended_at is null and h.deactivated_at is null
  then greatest(coalesce(k.last_used_at, k.created_at) + o.ends_unused_after_days * ${DAY},
                o.ends_unused_since + ${UNUSED_GRACE_DAYS} * ${DAY}) end`;

/**
 * How much later than UNUSED_END a key is ended, because processes keep uses in memory for up to a minute. A key is also kept
 * until a day after its last notice, which may be late because no server was running.
 */
const UNWRITTEN = "interval '1 hour'";
const AFTER_LAST_NOTICE = DAY;

const CHECK = {
  name: 'check_keys',
  // A process skips keys that another process has locked, so that no process waits. Uses and ends of keys are read from the
  // locked rows.
  text: `
    with due as materialized (
      select d.organization_id, d.id, d.user_id, d.created_at, d.expires_at, d.last_used_at,
             ${isUnexpired('d', 'now()')} as is_unexpired
      from api_keys d
      where d.next_check_at <= now() and ${isCurrent('d')} and ${STAYS}
      order by d.next_check_at limit $1 for no key update skip locked),
    keys as (
      select k.*, o.ends_unused_after_days as unused_days, ${UNUSED_END} as unused_end
      from due k
      join organizations o on o.id = k.organization_id
      join users h on h.organization_id = k.organization_id and h.id = k.user_id),
    staged as (
      select k.*,
        (select min(days) from ${ALL_DAYS}
         where k.is_unexpired and k.expires_at <= now() + days * ${DAY} and k.expires_at - k.created_at > days * ${DAY}
           and k.last_used_at > now() - ${USED_WITHIN_DAYS} * ${DAY}) as expiry_stage,
        (select min(days) from ${ALL_DAYS}
         where k.unused_end <= now() + days * ${DAY} and k.unused_days > days
           and k.is_unexpired and (k.expires_at is null or k.expires_at > k.unused_end)) as unused_stage
      from keys k),
    planned as materialized (
      select k.*,
        case when k.unused_stage = 1 then greatest(k.unused_end + ${UNWRITTEN}, ${AFTER_LAST_NOTICE} + coalesce(
          (select n.created_at from key_notices n
           where n.organization_id = k.organization_id and n.key_id = k.id and n.user_id = k.user_id and n.kind = 'unused'
             and n.occasion = ${occasionOf('k.unused_end', '1')} and not n.is_for_address), now())) end as ends_at
      from staged k),
    wanted as (
      select organization_id, id as key_id, user_id, 'expires'::key_notice_kind as kind, expires_at as ends_at,
             ${occasionOf('expires_at', 'expiry_stage')} as occasion, null::uuid as by_user_id, '' as detail
      from planned where expiry_stage is not null
      union all
      select organization_id, id, user_id, 'unused', coalesce(ends_at, unused_end), ${occasionOf('unused_end', 'unused_stage')},
             null, unused_days::text
      from planned where unused_stage is not null),
    noticed as (${insertNoticesOf('wanted')} returning organization_id, key_id, kind, occasion, is_for_address),
    replaced as (
      update key_notices n set dismissed_at = now(), mail_due_at = null from noticed w
      where n.organization_id = w.organization_id and n.key_id = w.key_id and n.kind = w.kind and n.occasion <> w.occasion
        and not w.is_for_address and n.dismissed_at is null),
    -- The policy has changed, or the organization or the integration is suspended. A later end needs a notice of its own.
    withdrawn as (
      delete from key_notices n using planned p
      where n.organization_id = p.organization_id and n.key_id = p.id and n.kind = 'unused'
        and coalesce(p.last_used_at <= n.created_at, true)
        and starts_with(n.occasion, ${textOfEnd('p.unused_end')}) is not true),
    -- An expired key, which may have been found expired before the clock was set back, is checked only once.
    scheduled as (
      update api_keys k
      set next_check_at = case when p.is_unexpired then least(
        (select min(at) from ${ALL_DAYS} cross join lateral (values (p.expires_at - days * ${DAY})) as e (at) where at > now()),
        (select min(at) from ${ALL_DAYS} cross join lateral (values (p.unused_end - days * ${DAY})) as e (at)
         where at > now() and p.unused_days > days),
        case when p.ends_at is not null then greatest(p.ends_at, now() + interval '10 minutes') end,
        case when p.unused_days is not null and p.unused_end is null then now() + ${DAY} end) end
      from planned p where k.organization_id = p.organization_id and k.id = p.id)
    select organization_id as "organizationId", id, coalesce(ends_at <= now(), false) as "mustEnd" from planned`,
};

export type CheckedKey = Pick<KeyRecord, 'organizationId' | 'id'> & {
  /** Whether the key must be ended because it was not used for too long. */
  readonly mustEnd: boolean;
};

/**
 * Checks at most `limit` keys whose next check is due, of any organizations: writes the notices about the ends of the keys, each
 * only once, and sets the time of the next check. If several notices were missed, only the most urgent one is written. Deletes
 * notices about ends that the policy no longer requires.
 */
export async function writeDueKeyNotices(
  db: Database,
  { limit }: { readonly limit: number },
): Promise<readonly CheckedKey[]> {
  return (await db.pool.query<CheckedKey>({ ...CHECK, values: [limit] })).rows;
}

/** The reason for revoking an unused key, as recorded in the audit log. */
export const UNUSED = 'not used';

const END_UNUSED = {
  name: 'end_unused_keys',
  // The statement decides again whether each key must be ended, from the rows that it locks: first the organizations, like every
  // change that ends a key, then the keys in the same order as writeKeyUses.
  text: `
    with asked as (
      select * from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as asked (organization_id, id, event_id)),
    organization as materialized (
      select * from organizations where id = any($1::uuid[]) and ends_unused_after_days is not null
      order by id for no key update),
    held as materialized (
      select k.organization_id, k.id, o.ends_unused_after_days as days, asked.event_id
      from asked
      join organization o on o.id = asked.organization_id
      join api_keys k on k.organization_id = asked.organization_id and k.id = asked.id
      join users h on h.organization_id = k.organization_id and h.id = k.user_id
      where ${isActive('k', 'now()')} and ${UNUSED_END} + ${UNWRITTEN} <= now()
        and exists (
          select 1 from key_notices n
          where n.organization_id = k.organization_id and n.key_id = k.id and n.user_id = k.user_id and n.kind = 'unused'
            and n.occasion = ${occasionOf(UNUSED_END, '1')} and n.created_at + ${AFTER_LAST_NOTICE} <= now())
      order by k.organization_id, k.id for no key update of k),
    ended as (
      update api_keys k set revoked_at = now(), is_unused = true from held
      where k.organization_id = held.organization_id and k.id = held.id and ${isCurrent('k')}
      returning k.organization_id, k.id, k.user_id, k.name, k.key_prefix, held.days, held.event_id),
    recorded as (${insertKeyEvents({
      action: 'key.revoked',
      from: 'ended',
      detail: `'name', name, 'prefix', key_prefix, 'why', '${UNUSED}', 'days', days::text`,
    })}),
    wanted as (
      select organization_id, id as key_id, user_id, 'ended'::key_notice_kind as kind, '' as occasion,
             null::timestamptz as ends_at, null::uuid as by_user_id, days::text as detail
      from ended),
    noticed as (${insertNoticesOf('wanted')})
    select organization_id as "organizationId", id from ended`,
};

/**
 * Revokes each of the given keys that is still unused for longer than its organization allows. Records an audit event and a
 * notice for each revoked key. As soon as this function has returned, no request with these keys is accepted. `eventIds` has one
 * id for each key.
 */
export async function endUnusedKeys(
  db: Database,
  keys: readonly Pick<CheckedKey, 'organizationId' | 'id'>[],
  eventIds: readonly string[],
): Promise<readonly Pick<CheckedKey, 'organizationId' | 'id'>[]> {
  const values = [keys.map(({ organizationId }) => organizationId), keys.map(({ id }) => id), eventIds];
  return (await db.pool.query<Pick<CheckedKey, 'organizationId' | 'id'>>({ ...END_UNUSED, values })).rows;
}

/** Makes all keys of the organization due for a check soon, because the organization's policy has changed. */
export async function scheduleKeyChecks(tx: Transaction, { organizationId }: OrganizationScope): Promise<void> {
  // Locks the rows in the same order as writeKeyUses to avoid a deadlock.
  await tx.$executeRaw`
    with held as materialized (
      select id from api_keys
      where organization_id = ${organizationId}::uuid and ${Prisma.raw(isCurrent('api_keys'))}
      order by id for no key update)
    update api_keys k set next_check_at = now() from held
    where k.organization_id = ${organizationId}::uuid and k.id = held.id`;
}
