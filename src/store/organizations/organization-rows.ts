import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { CHUNK_ROWS } from '../sql/chunks.ts';
import type { Query, TenantTable } from '../sql/tenant-tables.ts';

// All rows of an organization, in any table. A row is one line of JSON as PostgreSQL writes and reads it, which preserves the
// values of all types. Most triggers are disabled while rows are copied (`silenceTriggers`).

/**
 * The number of rows in each chunk, so that the memory used does not depend on the size of an organization. The largest rows have
 * one megabyte.
 */
const ROWS = 200;

export type RowsOfTable = { readonly table: string; readonly rows: readonly string[] };

/**
 * Reads the rows of the tables in chunks. The caller must have called `beginSnapshot` in this transaction. Columns with secrets
 * are omitted unless `withSecrets` is set.
 */
export async function* readRows(
  query: Query,
  { organizationId }: OrganizationScope,
  { tables, withSecrets }: { readonly tables: readonly TenantTable[]; readonly withSecrets: boolean },
): AsyncGenerator<RowsOfTable> {
  for (const { name, owner, columns, secretColumns } of tables) {
    const shown = columns.filter((column) => withSecrets || !secretColumns.includes(column));
    // Columns of type json keep the text that was written, so its line breaks are replaced. In JSON, line breaks occur only
    // outside of strings, where they are white space.
    await query(
      `declare organization_rows no scroll cursor for
       select translate(row_to_json(shown)::text, E'\\r\\n', '  ') as row
       from (select ${shown.join(', ')} from ${name} where ${owner} = $1::uuid) shown`,
      [organizationId],
    );
    for (;;) {
      const rows = await query<{ row: string }>(`fetch ${ROWS} from organization_rows`);
      if (rows.length === 0) break;
      yield { table: name, rows: rows.map(({ row }) => row) };
    }
    await query('close organization_rows');
  }
}

/** Inserts only the rows that belong to the organization. Returns the number of inserted rows. */
export async function insertRows(
  query: Query,
  { organizationId }: OrganizationScope,
  { table: { name, owner, columns }, rows }: { readonly table: TenantTable; readonly rows: readonly string[] },
): Promise<number> {
  const list = columns.join(', ');
  const [inserted] = await query<{ count: number }>(
    `with inserted as (
       insert into ${name} (${list})
       select ${list} from json_populate_recordset(null::${name}, $1::json) where ${owner} = $2::uuid
       returning 1)
     select count(*)::int as count from inserted`,
    [`[${rows.join(',')}]`, organizationId],
  );
  return inserted?.count ?? 0;
}

/** Deletes at most CHUNK_ROWS rows of the organization. Returns the number of deleted rows. */
export async function deleteRows(
  query: Query,
  { organizationId }: OrganizationScope,
  { name, owner }: TenantTable,
): Promise<number> {
  // The outer condition also contains the organization, because rows of two partitions may have the same ctid.
  const [deleted] = await query<{ count: number }>(
    `with deleted as (
       delete from ${name} where ${owner} = $1::uuid
         and ctid = any(array(select ctid from ${name} where ${owner} = $1::uuid limit ${CHUNK_ROWS}))
       returning 1)
     select count(*)::int as count from deleted`,
    [organizationId],
  );
  return deleted?.count ?? 0;
}
