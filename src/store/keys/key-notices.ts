import type { HolderKind } from '../../domain/keys/api-key.ts';
import {
  type ActionKind,
  type KeyNotice,
  MAX_SHOWN_NOTICES,
  type NoticeKind,
  type ShownKind,
} from '../../domain/keys/key-notice.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { DAY_MS } from '../../domain/time.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database, Transaction } from '../sql/database.ts';
import { isActive } from './key-row.ts';

// Notices about keys. Each row is one message to one recipient, and is written in the transaction of its cause. All times come
// from the database's clock, which all processes share.

const COLUMNS =
  'organization_id, id, key_id, user_id, kind, occasion, is_for_address, ends_at, by_user_id, detail, mail_due_at';

/**
 * Returns the SQL that inserts a notice for each row of `wanted`, and a second notice if the key's integration has an address,
 * unless the notices exist. The rows have the columns organization_id, key_id, user_id, kind, occasion, ends_at, by_user_id and
 * detail.
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
  /** The user or integration that has the key. */
  readonly userId: string;
  readonly kind: ActionKind;
  /** The user who performed the action; `null` for an operator. */
  readonly byUserId: string | null;
  readonly detail: string;
};

/** Inserts a notice about a user's action on a key of another holder. */
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

/**
 * The SQL condition that the organization of the row `d` is not moving. While an organization moves, the database to which it
 * moves sends the notices.
 */
export const STAYS = 'not exists (select from organization_moves m where m.organization_id = d.organization_id)';

/** How long notices are kept; no notice is useful for longer. */
const DAYS_KEPT = 90;

/** Deletes in chunks, for all organizations, the notices that are older than 90 days. Returns the number of deleted notices. */
export async function deleteOldKeyNotices(db: Database, deletion: Deletion): Promise<number> {
  const before = new Date(deletion.now.getTime() - DAYS_KEPT * DAY_MS);
  return deleteInChunks(
    deletion,
    () => db.prisma.$executeRaw`
      delete from key_notices where (organization_id, id) in (
        select organization_id, id from key_notices where created_at < ${before}
        limit ${CHUNK_ROWS}::int for update skip locked)`,
  );
}

/**
 * SQL for the open notices as JSON: notices about the keys of the user of the session `s`, and about the keys of the integrations
 * that the user owns. The notice with the next end comes first, and only the latest notice of each kind is included for a key.
 * Notices whose cause no longer exists are omitted.
 */
export const OPEN_NOTICES = `
  (select json_agg(json_build_array(n.id, n.kind, n.key_id, n.name, n.key_prefix, n.user_id, n.holder, n.holder_kind,
                                    n.ends_at, n.created_at))
   from (select * from (
     select distinct on (n.key_id, n.kind) n.id, n.kind, n.key_id, k.name, k.key_prefix, n.user_id, h.name as holder,
            h.kind as holder_kind, n.ends_at, n.created_at
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
         when 'expires' then ${isActive('k', 'now()')} and k.expires_at = n.ends_at
         when 'unused' then ${isActive('k', 'now()')} and coalesce(k.last_used_at <= n.created_at, true)
         when 'limited' then ${isActive('k', 'now()')} and n.created_at > now() - interval '7 days'
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
  holderKind: HolderKind,
  endsAt: string | null,
  createdAt: string,
];

/** Parses the notices that OPEN_NOTICES selects; `json` is `null` if there are no notices. */
export function noticesFrom(json: readonly NoticeJson[] | null): readonly KeyNotice[] {
  return (json ?? []).map(
    ([id, kind, keyId, keyName, keyPrefix, holderId, holderName, holderKind, endsAt, createdAt]) => ({
      id,
      kind,
      keyId,
      keyName,
      keyPrefix,
      holder: { id: holderId, kind: holderKind, name: holderName },
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
 * Dismisses a notice about a key of the user, or of an integration that the user owns, and earlier notices of the same kind about
 * that key. Returns `false` if there is no such notice.
 */
export async function dismissKeyNotice(
  db: Database,
  { organizationId }: OrganizationScope,
  { id, userId }: { readonly id: string; readonly userId: string },
): Promise<boolean> {
  return (await db.pool.query({ ...DISMISS, values: [organizationId, id, userId] })).rowCount !== 0;
}

/** The number of minutes from each attempt to send a mail to the next one. */
export const RETRY_MINUTES: readonly number[] = [5, 15, 60, 240, 720];
/** The maximum number of attempts to send one mail. */
export const MAIL_ATTEMPTS = RETRY_MINUTES.length + 1;
/** A mail that could not be sent for this many days is not sent at all, because such a late mail would be confusing. */
const MAIL_DAYS = 3;

const CLAIM_MAILS = {
  name: 'claim_key_notices',
  // A claim also schedules the next attempt, which another process makes if this process no longer runs by then.
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
           h.id as "holderId", h.name as "holderName", h.kind as "holderKind",
           o.name as "organizationName",
           case when not n.is_for_address then coalesce(owner.name, stand_in.name, h.name) end as "recipientName",
           stand_in.email is not null as "isForStandIn",
           case
             when n.created_at < now() - ${MAIL_DAYS} * interval '1 day' then null
             when n.kind in ('expires', 'unused') and (k.rotated_at is not null or k.revoked_at is not null
               or k.user_id <> n.user_id) then null
             when n.kind = 'expires' and k.expires_at is distinct from n.ends_at then null
             when n.kind = 'unused' and k.last_used_at > n.created_at then null
             when n.is_for_address then nullif(nullif(h.notice_email, owner.email), '')
             when h.kind = 'integration' then coalesce(owner.email, stand_in.email)
             when h.deactivated_at is null then h.email
           end as email
    from claimed n
    join api_keys k on k.organization_id = n.organization_id and k.id = n.key_id
    join organizations o on o.id = n.organization_id
    join users h on h.organization_id = n.organization_id and h.id = n.user_id
    left join users owner
      on owner.organization_id = h.organization_id and owner.id = h.owner_user_id and owner.deactivated_at is null
    left join lateral (
      select a.name, a.email from users a
      where a.organization_id = h.organization_id and a.kind = 'person' and a.role = 'administrator'
        and a.deactivated_at is null and a.id is distinct from n.by_user_id
      order by a.created_at, a.id limit 1) stand_in
      on h.kind = 'integration' and owner.id is null and h.notice_email = ''
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
  /** The name of the user who performed the action; `null` for an operator, or for Charter itself. */
  readonly byName: string | null;
  readonly holderId: string;
  readonly holderName: string;
  readonly holderKind: HolderKind;
  readonly organizationName: string;
  /** The name of the recipient; `null` for the address of an integration, because the address may belong to a team. */
  readonly recipientName: string | null;
  /** Whether the mail goes to an administrator, because the integration has neither an active owner nor an address. */
  readonly isForStandIn: boolean;
  /** The address of the mail; `null` if the notice no longer needs to be sent. */
  readonly email: string | null;
};

/**
 * Claims notices whose mail is due, of any organizations. No other process claims these notices until their next attempt is due.
 */
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

/** Records that the notice's mail was sent, or no longer needs to be sent. */
export async function markMailed(
  db: Database,
  { organizationId, id }: Pick<ClaimedNotice, 'organizationId' | 'id'>,
): Promise<void> {
  await db.pool.query({ ...MARK_MAILED, values: [organizationId, id] });
}
