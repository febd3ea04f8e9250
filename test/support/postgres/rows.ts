// Rows of any table, inserted by SQL.
import type { Database } from '../../../src/store/sql/database.ts';
import { withClient } from './postgres.ts';
import { inTransaction } from './transaction.ts';

type Place = { readonly organizationId: string; readonly table: string };

/**
 * Runs a statement that writes many rows, however long it takes. The server's limit of 15 seconds is for its own statements, and so
 * is the end of a connection that is silent for a little longer. This connection is not from its pool.
 */
export async function writeRows({ pool }: Database, text: string, values: readonly unknown[]): Promise<void> {
  const { connectionString } = pool.options;
  if (connectionString === undefined) throw new Error('The pool has no URL.');
  await withClient(connectionString, async (client) => {
    await client.query('set statement_timeout = 0');
    await client.query(text, [...values]);
  });
}

/** Inserts items as the API shows them, whose fields are named like the columns. They may refer to rows that do not exist. */
export async function insertItems(db: Database, { organizationId, table }: Place, items: readonly object[]) {
  await inTransaction(db, async (client) => {
    await client.query('set local session_replication_role = replica');
    const rows = items.map((item) => ({ ...item, organization_id: organizationId }));
    // JSON, not JSONB, keeps the order of members.
    await client.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1::json)`, [
      JSON.stringify(rows),
    ]);
    await client.query('commit');
  });
}

/** SQL that inserts `$2` copies of a row of the organization `$1`, with new ids and without the values that must be unique. */
export async function copyStatement(db: Database, table: string): Promise<string> {
  const { rows } = await db.pool.query<{ column: string }>(
    `select distinct a.attname as column from pg_index i
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
     where i.indrelid = $1::regclass and i.indisunique and a.attname not in ('organization_id', 'id')`,
    [table],
  );
  const others = JSON.stringify(Object.fromEntries(rows.map(({ column }) => [column, null])));
  return `insert into ${table}
    select (jsonb_populate_record(original, jsonb_build_object('id', gen_random_uuid()) || '${others}')).*
    from (select own as original from ${table} own where organization_id = $1 limit 1) picked, generate_series(1, $2::int)`;
}

/** Inserts so many copies of a row of the organization. */
export async function copyRow(db: Database, { organizationId, table }: Place, count: number): Promise<void> {
  await writeRows(db, await copyStatement(db, table), [organizationId, count]);
}
