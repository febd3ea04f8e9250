import { firstShown, type ResultCounts } from '../../domain/keys/key-usage.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database } from '../sql/database.ts';

// The numbers of requests with each key to each operation, by day (UTC). They are written with the other uses of keys.

/** The requests to one operation in the days that pages show. */
export type OperationUse = ResultCounts & { readonly operation: string };

/** `keyIds` is `null` for all keys of the organization. */
type UsesOf = { readonly now: Date; readonly keyIds: readonly string[] | null };

const SUM = {
  name: 'sum_operation_uses',
  text: `
    select u.operation, sum(u.successful)::float8 as successful, sum(u.refused)::float8 as refused, sum(u.failed)::float8 as failed
    from key_operation_uses u
    where u.organization_id = $1 and u.starts_at >= $2 and ($3::uuid[] is null or u.key_id = any($3))
    group by u.operation
    order by sum(u.successful + u.refused + u.failed) desc, u.operation`,
};

/** Sums the requests with keys of the organization by operation, in descending order of requests. */
export async function sumOperationUses(
  { pool }: Database,
  { organizationId }: OrganizationScope,
  { now, keyIds }: UsesOf,
): Promise<OperationUse[]> {
  const values = [organizationId, firstShown('day', now), keyIds];
  return (await pool.query<OperationUse>({ ...SUM, values })).rows;
}

/** The requests with a key to one operation in one day. */
export type KeyOperationUse = OperationUse & {
  readonly startsAt: Date;
  readonly keyId: string;
  readonly keyName: string;
  readonly keyPrefix: string;
};

const LIST = {
  name: 'list_operation_uses',
  text: `
    select u.starts_at as "startsAt", u.key_id as "keyId", k.name as "keyName", k.key_prefix as "keyPrefix", u.operation,
           u.successful::float8, u.refused::float8, u.failed::float8
    from key_operation_uses u join api_keys k on k.organization_id = u.organization_id and k.id = u.key_id
    where u.organization_id = $1 and u.starts_at >= $2 and ($3::uuid[] is null or u.key_id = any($3))
      and ($4::uuid is null or (u.key_id, u.operation, u.starts_at) > ($4, $5, $6::timestamptz))
    order by u.key_id, u.operation, u.starts_at limit $7`,
};

/**
 * Lists the counts of the shown days, ordered by key, operation and day. The list starts after the row `after`, or with the first
 * row if `after` is `null`.
 */
export async function listOperationUses(
  { pool }: Database,
  { organizationId }: OrganizationScope,
  { now, keyIds, after, limit }: UsesOf & { after: KeyOperationUse | null; limit: number },
): Promise<KeyOperationUse[]> {
  const position = [after?.keyId, after?.operation, after?.startsAt].map((each) => each ?? null);
  const values = [organizationId, firstShown('day', now), keyIds, ...position, limit];
  return (await pool.query<KeyOperationUse>({ ...LIST, values })).rows;
}

/** Deletes the counts of days that are no longer shown, of all organizations, in chunks. Returns the number of deleted rows. */
export async function deleteOldOperationUses(db: Database, deletion: Deletion): Promise<number> {
  const before = firstShown('day', deletion.now);
  return deleteInChunks(
    deletion,
    () => db.prisma.$executeRaw`
      delete from key_operation_uses where (organization_id, key_id, operation, starts_at) in (
        select organization_id, key_id, operation, starts_at from key_operation_uses where starts_at < ${before}
        limit ${CHUNK_ROWS}::int for update skip locked)`,
  );
}
