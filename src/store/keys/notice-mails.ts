import type { HolderKind } from '../../domain/keys/holder.ts';
import type { NoticeKind } from '../../domain/keys/key-notice.ts';
import type { Database } from '../sql/database.ts';
import { STAYS } from './key-notices.ts';

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
  /** `null` for an operator and for Charter itself. */
  readonly byName: string | null;
  readonly holderId: string;
  readonly holderName: string;
  readonly holderKind: HolderKind;
  readonly organizationName: string;
  /** `null` for the address of an integration, which may be that of a team. */
  readonly recipientName: string | null;
  /** The integration has neither an active owner nor an address, so the mail goes to an administrator. */
  readonly isForStandIn: boolean;
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
