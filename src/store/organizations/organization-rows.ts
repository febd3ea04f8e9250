import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { CHUNK_ROWS } from '../sql/chunks.ts';
import type { Query, TenantTable } from '../sql/tenant-tables.ts';

// All rows of an organization, whatever the table. A row is one line of JSON as PostgreSQL writes and reads it, which keeps
// every value of every type. Most triggers are off meanwhile (`silenceTriggers`).

/** Rows per statement, so that memory does not depend on the size of an organization. The largest rows have a megabyte. */
const ROWS = 200;

export type RowsOfTable = { readonly table: string; readonly rows: readonly string[] };

/** Call it in the transaction of `beginSnapshot`. Unless it is `withSecrets`, the columns with secrets are left out. */
export async function* readRows(
  query: Query,
  { organizationId }: OrganizationScope,
  { tables, withSecrets }: { readonly tables: readonly TenantTable[]; readonly withSecrets: boolean },
): AsyncGenerator<RowsOfTable> {
  for (const { name, owner, columns, secretColumns } of tables) {
    const shown = columns.filter((column) => withSecrets || !secretColumns.includes(column));
    // A line break within JSON, where a type keeps its text, is white space.
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

/** Inserts those rows that belong to the organization. Returns how many. */
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

/** Deletes at most CHUNK_ROWS rows of the organization. Returns how many. */
export async function deleteRows(
  query: Query,
  { organizationId }: OrganizationScope,
  { name, owner }: TenantTable,
): Promise<number> {
  // The organization also in the outer condition, because rows of two partitions may have the same ctid.
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
