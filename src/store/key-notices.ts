import { DAY_MS } from '../domain/duration.ts';
import {
  type ActionKind,
  type KeyNotice,
  MAX_SHOWN_NOTICES,
  NOTICE_DAYS,
  type NoticeKind,
  type ShownKind,
  UNUSED_GRACE_DAYS,
  USED_WITHIN_DAYS,
} from '../domain/key-notice.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Database, Transaction } from './database.ts';
import { BATCH_ROWS, type Deletion, deleteInBatches } from './delete-in-batches.ts';

// Notices about keys. A row is what one recipient is told once; it is written in the transaction of its cause. All times are
// those of the database's clock, which all processes share.

const COLUMNS =
  'organization_id, id, key_id, user_id, kind, occasion, is_for_address, ends_at, by_user_id, detail, mail_due_at';

/**
 * Inserts a notice for each row of `wanted`, and another one for the address of an integration, unless they exist. The rows have
 * organization_id, key_id, user_id, kind, occasion, ends_at, by_user_id and detail.
 */
export function insertNoticesOf(wanted: string): string {
  return `
    insert into key_notices (${COLUMNS})
    select w.organization_id, gen_random_uuid(), w.key_id, w.user_id, w.kind, w.occasion, r.is_for_address, w.ends_at,
           w.by_user_id, w.detail, date_trunc('milliseconds', now())
    from ${wanted} w
    join users h on h.organization_id = w.organization_id and h.id = w.user_id
    cross join (values (false), (true)) as r (is_for_address)
    where not r.is_for_address or h.notice_email <> ''
    on conflict do nothing`;
}

export type ActionNotice = {
  readonly keyId: string;
  /** The user or the integration whose key it is. */
  readonly userId: string;
  readonly kind: ActionKind;
  /** `null` for an operator. */
  readonly byUserId: string | null;
  readonly detail: string;
};

/** A notice of what somebody did with a key of somebody else. */
export async function insertActionNotice(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { keyId, userId, kind, byUserId, detail }: ActionNotice,
): Promise<void> {
  await tx.$executeRawUnsafe(
    `with wanted as (
       select $1::uuid as organization_id, $2::uuid as key_id, $3::uuid as user_id, $4::key_notice_kind as kind,
              ''::text as occasion, null::timestamptz as ends_at, $5::uuid as by_user_id, $6::text as detail)
     ${insertNoticesOf('wanted')}`,
    organizationId,
    keyId,
    userId,
    kind,
    byUserId,
    detail,
  );
}

/** The row `d` is not of an organization that moves: the database to which it moves tells the holders of its keys. */
const STAYS = 'not exists (select from organization_moves m where m.organization_id = d.organization_id)';

const ALL_DAYS = `unnest(array[${NOTICE_DAYS.join(', ')}]) as days`;
const DAY = "interval '1 day'";

function textOfEnd(end: string): string {
  return `to_char(${end} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')`;
}

/** Distinguishes the notices of one end and a number of days before it. */
function occasionOf(end: string, days: string): string {
  return `${textOfEnd(end)} || ', ' || ${days}`;
}

/** When a key ends unless it is used; null if the policy does not end it. Of `k` with its organization `o` and its holder `h`. */
const UNUSED_END = `
  case when o.ends_unused_after_days is not null and o.suspended_at is null and h.deactivated_at is null
  then greatest(coalesce(k.last_used_at, k.created_at) + o.ends_unused_after_days * ${DAY},
                o.ends_unused_since + ${UNUSED_GRACE_DAYS} * ${DAY}) end`;

/**
 * Processes keep uses in memory for a minute. A key is ended this much later, and not before a day after its last notice, whether
 * or not a server was running when that was due.
 */
const UNWRITTEN = "interval '1 hour'";
const AFTER_LAST_NOTICE = DAY;

const CHECK = {
  name: 'check_keys',
  // A process that finds keys locked leaves them to the other, so that none waits. Uses and ends of keys are read from the locked
  // rows.
  text: `
    with due as materialized (
      select d.organization_id, d.id, d.user_id, d.created_at, d.expires_at, d.last_used_at
      from api_keys d
      where d.next_check_at <= now() and d.rotated_at is null and d.revoked_at is null and ${STAYS}
      order by d.next_check_at limit $1 for no key update skip locked),
    keys as (
      select k.*, o.ends_unused_after_days as unused_days, ${UNUSED_END} as unused_end
      from due k
      join organizations o on o.id = k.organization_id
      join users h on h.organization_id = k.organization_id and h.id = k.user_id),
    staged as (
      select k.*,
        (select min(days) from ${ALL_DAYS}
         where k.expires_at > now() and k.expires_at <= now() + days * ${DAY} and k.expires_at - k.created_at > days * ${DAY}
           and k.last_used_at > now() - ${USED_WITHIN_DAYS} * ${DAY}) as expiry_stage,
        (select min(days) from ${ALL_DAYS}
         where k.unused_end <= now() + days * ${DAY} and k.unused_days > days
           and (k.expires_at is null or k.expires_at > greatest(k.unused_end, now()))) as unused_stage
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
    scheduled as (
      update api_keys k
      set next_check_at = least(
        (select min(at) from ${ALL_DAYS} cross join lateral (values (p.expires_at - days * ${DAY})) as e (at) where at > now()),
        (select min(at) from ${ALL_DAYS} cross join lateral (values (p.unused_end - days * ${DAY})) as e (at)
         where at > now() and p.unused_days > days),
        case when p.ends_at is not null then greatest(p.ends_at, now() + interval '10 minutes') end,
        case when p.unused_days is not null and p.unused_end is null then now() + ${DAY} end)
      from planned p where k.organization_id = p.organization_id and k.id = p.id)
    select organization_id as "organizationId", id, coalesce(ends_at <= now(), false) as "isOver" from planned`,
};

export type CheckedKey = {
  readonly organizationId: string;
  readonly id: string;
  /** The key was not used for so long that it is to be ended. */
  readonly isOver: boolean;
};

/**
 * Checks keys of any organizations whose next check is due, at most `limit`: writes the notices of their ends, once each, and sets
 * the time of the next check. If notices were missed, only the most urgent one is written. Notices of ends that the policy no longer
 * sets are deleted.
 */
export async function checkDueKeys(
  db: Database,
  { limit }: { readonly limit: number },
): Promise<readonly CheckedKey[]> {
  return (await db.pool.query<CheckedKey>({ ...CHECK, values: [limit] })).rows;
}

/** The reason in the audit log. */
export const UNUSED = 'not used';

const END_UNUSED = {
  name: 'end_unused_keys',
  // Decides again from the rows that it locks: first the organizations, as every change that ends a key does, then the keys in the
  // same order as writeKeyUses.
  text: `
    with asked as (select * from unnest($1::uuid[], $2::uuid[]) as asked (organization_id, id)),
    organization as materialized (
      select * from organizations where id = any($1::uuid[]) and ends_unused_after_days is not null
      order by id for no key update),
    held as materialized (
      select k.organization_id, k.id, o.ends_unused_after_days as days
      from asked
      join organization o on o.id = asked.organization_id
      join api_keys k on k.organization_id = asked.organization_id and k.id = asked.id
      join users h on h.organization_id = k.organization_id and h.id = k.user_id
      where k.rotated_at is null and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
        and ${UNUSED_END} + ${UNWRITTEN} <= now()
        and exists (
          select 1 from key_notices n
          where n.organization_id = k.organization_id and n.key_id = k.id and n.user_id = k.user_id and n.kind = 'unused'
            and n.occasion = ${occasionOf(UNUSED_END, '1')} and n.created_at + ${AFTER_LAST_NOTICE} <= now())
      order by k.organization_id, k.id for no key update of k),
    ended as (
      update api_keys k set revoked_at = now(), is_unused = true from held
      where k.organization_id = held.organization_id and k.id = held.id and k.rotated_at is null and k.revoked_at is null
      returning k.organization_id, k.id, k.user_id, k.name, k.key_prefix, held.days),
    recorded as (
      insert into audit_events (organization_id, id, act, target_user_id, key_id, detail)
      select ended.organization_id, event.id, 'key.revoked', ended.user_id, ended.id, jsonb_build_object(
               'name', ended.name, 'prefix', ended.key_prefix, 'why', '${UNUSED}', 'days', ended.days::text)
      from ended join unnest($2::uuid[], $3::uuid[]) as event (key_id, id) on event.key_id = ended.id),
    wanted as (
      select organization_id, id as key_id, user_id, 'ended'::key_notice_kind as kind, '' as occasion,
             null::timestamptz as ends_at, null::uuid as by_user_id, days::text as detail
      from ended),
    noticed as (${insertNoticesOf('wanted')})
    select organization_id as "organizationId", id from ended`,
};

/**
 * Revokes those of the keys that are still not used for longer than their organization allows, with an event in the audit log and
 * a notice. Once it has returned, no request with them is accepted. `eventIds`: one for each key.
 */
export async function endUnusedKeys(
  db: Database,
  keys: readonly Pick<CheckedKey, 'organizationId' | 'id'>[],
  eventIds: readonly string[],
): Promise<readonly Pick<CheckedKey, 'organizationId' | 'id'>[]> {
  const values = [keys.map(({ organizationId }) => organizationId), keys.map(({ id }) => id), eventIds];
  return (await db.pool.query<Pick<CheckedKey, 'organizationId' | 'id'>>({ ...END_UNUSED, values })).rows;
}

/** Has all keys of the organization checked soon, after a change of its policy. */
export async function checkKeysSoon(tx: Transaction, { organizationId }: OrganizationScope): Promise<void> {
  // Locks rows in the same order as writeKeyUses, to avoid a deadlock.
  await tx.$executeRaw`
    with held as materialized (
      select id from api_keys
      where organization_id = ${organizationId}::uuid and rotated_at is null and revoked_at is null
      order by id for no key update)
    update api_keys k set next_check_at = now() from held
    where k.organization_id = ${organizationId}::uuid and k.id = held.id`;
}

/** After the first attempt to send a mail, the second and so on: how many minutes later another one is made. */
export const RETRY_MINUTES: readonly number[] = [5, 15, 60, 240, 720];
/** The attempts to send one mail, at most. */
export const MAIL_ATTEMPTS = RETRY_MINUTES.length + 1;
/** A mail that could not be sent for so long, or for which there was no mail server, would only confuse. */
const MAIL_DAYS = 3;

const CLAIM_MAILS = {
  name: 'claim_key_notices',
  // A claim is also the wait until the next attempt, which another process may make if this one is gone by then.
  text: `
    with due as materialized (
      select organization_id, id from key_notices d where mail_due_at <= now() and ${STAYS}
      order by mail_due_at limit $1 for no key update skip locked),
    claimed as (
      update key_notices n
      set attempts = n.attempts + 1,
          mail_due_at = now() + (array[${RETRY_MINUTES.join(', ')}])[n.attempts + 1] * interval '1 minute'
      from due where n.organization_id = due.organization_id and n.id = due.id
      returning n.*)
    select n.organization_id as "organizationId", n.id, n.kind, n.key_id as "keyId", k.name as "keyName",
           k.key_prefix as "keyPrefix", n.ends_at as "endsAt", n.detail, n.created_at as "createdAt",
           by_user.name as "byName",
           h.id as "holderId", h.name as "holderName", h.kind = 'integration' as "isOfIntegration",
           o.name as "organizationName",
           case when n.is_for_address then h.name else coalesce(owner.name, h.name) end as "recipientName",
           case
             when n.created_at < now() - ${MAIL_DAYS} * ${DAY} then null
             when n.kind in ('expires', 'unused') and (k.rotated_at is not null or k.revoked_at is not null
               or k.user_id <> n.user_id) then null
             when n.kind = 'expires' and k.expires_at is distinct from n.ends_at then null
             when n.kind = 'unused' and k.last_used_at > n.created_at then null
             when n.is_for_address then nullif(nullif(h.notice_email, owner.email), '')
             when h.kind = 'integration' then owner.email
             when h.deactivated_at is null then h.email
           end as email
    from claimed n
    join api_keys k on k.organization_id = n.organization_id and k.id = n.key_id
    join organizations o on o.id = n.organization_id
    join users h on h.organization_id = n.organization_id and h.id = n.user_id
    left join users owner
      on owner.organization_id = h.organization_id and owner.id = h.owner_user_id and owner.deactivated_at is null
    left join users by_user on by_user.organization_id = n.organization_id and by_user.id = n.by_user_id`,
};

export type ClaimedNotice = {
  readonly organizationId: string;
  readonly id: string;
  readonly kind: NoticeKind;
  readonly keyId: string;
  readonly keyName: string;
  readonly keyPrefix: string;
  readonly endsAt: Date | null;
  readonly detail: string;
  readonly createdAt: Date;
  /** `null` for an operator and for Charter itself. */
  readonly byName: string | null;
  readonly holderId: string;
  readonly holderName: string;
  readonly isOfIntegration: boolean;
  readonly organizationName: string;
  readonly recipientName: string;
  /** `null` if nobody has to be told any more. */
  readonly email: string | null;
};

/** Claims notices of any organizations whose mail is due. Until the next attempt is due, no other process claims them. */
export async function claimNoticeMails(
  db: Database,
  { limit }: { readonly limit: number },
): Promise<readonly ClaimedNotice[]> {
  return (await db.pool.query<ClaimedNotice>({ ...CLAIM_MAILS, values: [limit] })).rows;
}

const MARK_MAILED = {
  name: 'mark_key_notice_mailed',
  text: 'update key_notices set mail_due_at = null where organization_id = $1 and id = $2',
};

/** The mail of the notice is sent, or will not be. */
export async function markMailed(
  db: Database,
  { organizationId, id }: Pick<ClaimedNotice, 'organizationId' | 'id'>,
): Promise<void> {
  await db.pool.query({ ...MARK_MAILED, values: [organizationId, id] });
}

/**
 * The open notices about the keys of the user of the session `s`, and about those of the integrations that the user owns, as JSON,
 * the next end first, and of each key and kind only the latest. Notices whose cause has gone are left out.
 */
export const OPEN_NOTICES = `
  (select json_agg(json_build_array(n.id, n.kind, n.key_id, n.name, n.key_prefix, n.user_id, n.holder, n.is_integration,
                                    n.ends_at, n.created_at))
   from (select * from (
     select distinct on (n.key_id, n.kind) n.id, n.kind, n.key_id, k.name, k.key_prefix, n.user_id, h.name as holder,
            h.kind = 'integration' as is_integration, n.ends_at, n.created_at
     from key_notices n
     join api_keys k on k.organization_id = n.organization_id and k.id = n.key_id and k.user_id = n.user_id
     join users h on h.organization_id = n.organization_id and h.id = n.user_id
     where n.organization_id = s.organization_id
       and n.user_id = any(array(
         select s.user_id
         union all
         select i.id from users i where i.organization_id = s.organization_id and i.owner_user_id = s.user_id))
       and n.dismissed_at is null and not n.is_for_address and n.kind in ('expires', 'unused', 'ended', 'limited')
       and case n.kind
         when 'expires' then k.rotated_at is null and k.revoked_at is null and k.expires_at = n.ends_at
           and k.expires_at > now()
         when 'unused' then k.rotated_at is null and k.revoked_at is null
           and coalesce(k.last_used_at <= n.created_at, true)
         when 'limited' then k.rotated_at is null and k.revoked_at is null and n.created_at > now() - interval '7 days'
         else n.created_at > now() - interval '30 days' end
     order by n.key_id, n.kind, n.created_at desc) latest
     order by ends_at, created_at desc, id limit ${MAX_SHOWN_NOTICES}) n)`;

export type NoticeJson = readonly [
  id: string,
  kind: ShownKind,
  keyId: string,
  keyName: string,
  keyPrefix: string,
  holderId: string,
  holderName: string,
  isIntegration: boolean,
  endsAt: string | null,
  createdAt: string,
];

/** `json` is `null` if there are none. */
export function noticesFrom(json: readonly NoticeJson[] | null): readonly KeyNotice[] {
  return (json ?? []).map(
    ([id, kind, keyId, keyName, keyPrefix, holderId, holderName, isIntegration, endsAt, createdAt]) => ({
      id,
      kind,
      keyId,
      keyName,
      keyPrefix,
      holder: { id: holderId, name: holderName, isIntegration },
      endsAt: endsAt === null ? null : new Date(endsAt),
      createdAt: new Date(createdAt),
    }),
  );
}

const DISMISS = {
  name: 'dismiss_key_notice',
  text: `
    update key_notices n set dismissed_at = now()
    from key_notices closed
    join users h on h.organization_id = closed.organization_id and h.id = closed.user_id
    where closed.organization_id = $1 and closed.id = $2 and (h.id = $3 or h.owner_user_id = $3)
      and n.organization_id = $1 and n.key_id = closed.key_id and n.user_id = closed.user_id and n.kind = closed.kind
      and n.created_at <= closed.created_at and n.dismissed_at is null`,
};

/**
 * Closes a notice about a key of the user, or of an integration that the user owns, and earlier ones of the same kind about the
 * same key. Returns false if there is none.
 */
export async function dismissKeyNotice(
  db: Database,
  { organizationId }: OrganizationScope,
  { id, userId }: { readonly id: string; readonly userId: string },
): Promise<boolean> {
  return (await db.pool.query({ ...DISMISS, values: [organizationId, id, userId] })).rowCount !== 0;
}

/** Longer than any notice is of use. */
const DAYS_KEPT = 90;

/** Deletes notices of all organizations that are older than 90 days, in batches. Returns how many. */
export async function deleteOldKeyNotices(db: Database, deletion: Deletion): Promise<number> {
  const before = new Date(deletion.now.getTime() - DAYS_KEPT * DAY_MS);
  return deleteInBatches(
    deletion,
    () => db.prisma.$executeRaw`
      delete from key_notices where (organization_id, id) in (
        select organization_id, id from key_notices where created_at < ${before}
        limit ${BATCH_ROWS}::int for update skip locked)`,
  );
}
