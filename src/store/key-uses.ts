import type { Database } from './database.ts';

/** The uses of one key since the last write. */
export type KeyUse = {
  readonly organizationId: string;
  readonly keyId: string;
  /** Null: all uses were refused. */
  readonly lastUsedAt: Date | null;
  /** Number of uses refused because the key was rotated or revoked. */
  readonly refusedUses: number;
};

const WRITE = {
  name: 'write_key_uses',
  // Locks rows in the order of their ids, so that processes that write at the same time cannot deadlock.
  text: `
    with seen as (
      select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::int[])
        as seen (organization_id, id, last_used_at, refused_uses)),
    held as (
      select k.organization_id, k.id from api_keys k join seen on seen.organization_id = k.organization_id and seen.id = k.id
      order by k.organization_id, k.id for no key update of k)
    update api_keys k
    set last_used_at = greatest(k.last_used_at, seen.last_used_at),
        refused_uses = least(k.refused_uses::bigint + seen.refused_uses, 2147483647)::int
    from held join seen on seen.organization_id = held.organization_id and seen.id = held.id
    where k.organization_id = held.organization_id and k.id = held.id
      and (seen.refused_uses > 0 or k.last_used_at is null or seen.last_used_at > k.last_used_at)`,
};

/** Writes the uses of keys of all organizations in one statement. `lastUsedAt` only moves forward. */
export async function writeKeyUses(db: Database, uses: readonly KeyUse[]): Promise<void> {
  const values = [
    uses.map(({ organizationId }) => organizationId),
    uses.map(({ keyId }) => keyId),
    uses.map(({ lastUsedAt }) => lastUsedAt?.toISOString() ?? null),
    uses.map(({ refusedUses }) => refusedUses),
  ];
  await db.pool.query({ ...WRITE, values });
}
