import type { HolderKind } from '../../domain/keys/holder.ts';
import { type KeyNotice, MAX_SHOWN_NOTICES, type ShownKind } from '../../domain/keys/key-notice.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Database } from '../sql/database.ts';
import { isActive } from './api-keys.ts';

/**
 * The open notices about the keys of the user of the session `s`, and about those of the integrations that the user owns, as JSON,
 * the next end first, and of each key and kind only the latest. Notices whose cause has gone are left out.
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

/** `json` is `null` if there are none. */
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
