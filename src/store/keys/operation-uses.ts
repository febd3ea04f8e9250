import { firstShown, type ResultCounts } from '../../domain/keys/key-usage.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { TimeSpan } from '../../domain/time.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database } from '../sql/database.ts';
import { isInSpan } from './key-uses.ts';

// The numbers of requests with each key to each operation, by day (UTC). They are written with the other uses of keys.

/** The requests to one operation in a number of days. */
export type OperationUse = ResultCounts & { readonly operation: string };

/** `keyIds` is `null` for all keys of the organization. Without `from` and `to`, the span is all days that pages can show. */
type UsesOf = { readonly now: Date; readonly keyIds: readonly string[] | null } & Partial<TimeSpan>;

const IS_COUNTED = `u.organization_id = $1 and u.starts_at >= $2 and ${isInSpan('$3', '$4')}
      and ($5::uuid[] is null or u.key_id = any($5))`;

function valuesOf({ organizationId }: OrganizationScope, { now, keyIds, from = null, to = null }: UsesOf) {
  return [organizationId, firstShown('day', now), from, to, keyIds];
}

const SUM = {
  name: 'sum_operation_uses',
  text: `
    select u.operation, sum(u.successful)::float8 as successful, sum(u.refused)::float8 as refused, sum(u.failed)::float8 as failed
    from key_operation_uses u
    where ${IS_COUNTED}
    group by u.operation
    order by sum(u.successful + u.refused + u.failed) desc, u.operation`,
};

/** Sums the requests with keys of the organization by operation, in descending order of requests. */
export async function sumOperationUses(
  { pool }: Database,
  scope: OrganizationScope,
  uses: UsesOf,
): Promise<OperationUse[]> {
  return (await pool.query<OperationUse>({ ...SUM, values: valuesOf(scope, uses) })).rows;
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
    where ${IS_COUNTED} and ($6::text is null or u.operation = $6)
      and ($7::uuid is null or (u.key_id, u.operation, u.starts_at) > ($7, $8, $9::timestamptz))
    order by u.key_id, u.operation, u.starts_at limit $10`,
};

/**
 * Lists the counts of one operation, or of all if `operation` is `null`, ordered by key, operation and day. The list starts after
 * the row `after`, or with the first row if `after` is `null`.
 */
export async function listOperationUses(
  { pool }: Database,
  scope: OrganizationScope,
  {
    operation,
    after,
    limit,
    ...uses
  }: UsesOf & { operation: string | null; after: KeyOperationUse | null; limit: number },
): Promise<KeyOperationUse[]> {
  const position = [after?.keyId, after?.operation, after?.startsAt].map((each) => each ?? null);
  const values = [...valuesOf(scope, uses), operation, ...position, limit];
  return (await pool.query<KeyOperationUse>({ ...LIST, values })).rows;
}

/** Deletes in chunks, for all organizations, the counts of days that are no longer shown. Returns the number of deleted rows. */
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
