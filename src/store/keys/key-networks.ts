import { DAY_MS } from '../../domain/duration.ts';
import { ONE_NETWORK_DAYS } from '../../domain/keys/key-notice.ts';
import type { Database } from '../sql/database.ts';
import { BATCH_ROWS, type Deletion, deleteInBatches } from '../sql/delete-in-batches.ts';
import { insertNoticesOf } from './key-notices.ts';
import type { KeyUse } from './key-uses.ts';

/** More within 30 days would not change whether a key is used from one network. It bounds the rows of a key that is used from thousands. */
const MAX_NETWORKS = 5;
const DAYS_KEPT = 2 * ONE_NETWORK_DAYS;

const NOTE = {
  name: 'note_networks',
  text: `
    with seen as (
      select organization_id, key_id, network, max(at) as at
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[]) as seen (organization_id, key_id, network, at)
      group by organization_id, key_id, network),
    watched as materialized (
      select k.organization_id, k.id as key_id, k.user_id, seen.network, seen.at, past.is_known, past.recent, past.first_seen_at,
             row_number() over (partition by k.organization_id, k.id, past.is_known order by seen.network) as place
      from seen
      join organizations o on o.id = seen.organization_id and o.tells_new_networks
      join api_keys k on k.organization_id = seen.organization_id and k.id = seen.key_id
      cross join lateral (
        select coalesce(bool_or(n.network = seen.network), false) as is_known,
               count(*) filter (where n.last_seen_at > seen.at - ${ONE_NETWORK_DAYS} * interval '1 day') as recent,
               min(n.first_seen_at) filter (where n.last_seen_at > seen.at - ${ONE_NETWORK_DAYS} * interval '1 day')
                 as first_seen_at
        from key_networks n where n.organization_id = k.organization_id and n.key_id = k.id) past),
    kept as (
      insert into key_networks as n (organization_id, key_id, network, first_seen_at, last_seen_at)
      select organization_id, key_id, network, at, at from watched where is_known or recent + place <= ${MAX_NETWORKS}
      order by organization_id, key_id, network
      on conflict (organization_id, key_id, network) do update set last_seen_at = excluded.last_seen_at
        where n.last_seen_at < excluded.last_seen_at - interval '1 hour'),
    wanted as (
      select organization_id, key_id, user_id, 'new_network'::key_notice_kind as kind, (at at time zone 'UTC')::date::text as occasion,
             null::timestamptz as ends_at, null::uuid as by_user_id, network as detail
      from watched
      where not is_known and place = 1 and recent = 1
        and first_seen_at <= at - ${ONE_NETWORK_DAYS} * interval '1 day')
    ${insertNoticesOf('wanted')}`,
};

/**
 * Notes the networks of the keys whose organization wants to know of new ones. Writes a notice where a key was used from only one
 * network for 30 days, and now from one that it was not used from before; at most one a day.
 */
export async function noteNetworks(db: Database, uses: readonly KeyUse[]): Promise<void> {
  const seen = uses.flatMap(({ organizationId, keyId, networks, lastUsedAt }) =>
    lastUsedAt === null
      ? []
      : [...networks.keys()].map((network) => ({ organizationId, keyId, network, at: lastUsedAt.toISOString() })),
  );
  if (seen.length === 0) return;
  const values = [
    seen.map(({ organizationId }) => organizationId),
    seen.map(({ keyId }) => keyId),
    seen.map(({ network }) => network),
    seen.map(({ at }) => at),
  ];
  await db.pool.query({ ...NOTE, values });
}

/** Deletes the networks of all organizations from which a key was not used for 60 days, in batches. Returns how many. */
export async function deleteOldKeyNetworks(db: Database, deletion: Deletion): Promise<number> {
  const before = new Date(deletion.now.getTime() - DAYS_KEPT * DAY_MS);
  return deleteInBatches(
    deletion,
    () => db.prisma.$executeRaw`
      delete from key_networks where (organization_id, key_id, network) in (
        select organization_id, key_id, network from key_networks where last_seen_at < ${before}
        limit ${BATCH_ROWS}::int for update skip locked)`,
  );
}
