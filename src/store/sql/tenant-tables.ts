import { Socket } from 'node:net';
import type pg from 'pg';
import type { Transaction } from './database.ts';

/** Sends an SQL statement on one connection, and returns its rows. */
export type Query = <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>;

/** Returns a function that sends SQL statements in a Prisma transaction. */
export function queryIn(tx: Transaction): Query {
  return (text, values = []) => tx.$queryRawUnsafe(text, ...values);
}

/** A table with rows of organizations: `organizations` itself, or a table with a column organization_id. */
export type TenantTable = {
  readonly name: string;
  /** The column that contains the id of the organization. */
  readonly owner: 'id' | 'organization_id';
  readonly columns: readonly string[];
  /**
   * The columns that contain a secret or the hash of a secret. They are recognized by their types or names. All binary columns
   * count as secret.
   */
  readonly secretColumns: readonly string[];
};

type TableRow = Omit<TenantTable, 'owner'> & { readonly references: readonly string[] };

// The tables are read from PostgreSQL's catalog, so that the list includes the tables of later migrations.
const LIST = `
  select t.relname::text as name,
         (select array_agg(quote_ident(attname) order by attnum) from pg_attribute
          where attrelid = t.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
         (select coalesce(array_agg(quote_ident(attname)), '{}') from pg_attribute
          where attrelid = t.oid and attnum > 0 and not attisdropped and attgenerated = ''
            and (atttypid in ('bytea'::regtype, 'bytea[]'::regtype) or attname ~ '(^|_)(hash|secret|token)$')) as "secretColumns",
         (select coalesce(array_agg(distinct other.relname::text), '{}') from pg_constraint c
          join pg_class other on other.oid = c.confrelid
          where c.conrelid = t.oid and c.contype = 'f' and c.confrelid <> t.oid) as references
  from pg_class t
  where t.relnamespace = current_schema()::regnamespace and t.relkind in ('r', 'p') and not t.relispartition
    and (t.relname = 'organizations'
      or exists (select from pg_attribute where attrelid = t.oid and attname = 'organization_id' and not attisdropped))
  order by t.relname`;

/** Lists the tables in an order in which every table follows the tables that it references. */
export async function listTenantTables(query: Query): Promise<TenantTable[]> {
  const waiting = await query<TableRow>(LIST);
  const ordered: TableRow[] = [];
  while (waiting.length > 0) {
    const isWaiting = (name: string) => waiting.some((each) => each.name === name);
    const next = waiting.findIndex(({ references }) => !references.some(isWaiting));
    if (next === -1)
      throw new Error(`These tables reference each other: ${waiting.map(({ name }) => name).join(', ')}.`);
    ordered.push(...waiting.splice(next, 1));
  }
  return ordered.map(({ name, columns, secretColumns }) => {
    return { name, owner: name === 'organizations' ? 'id' : 'organization_id', columns, secretColumns };
  });
}

/** Lists the names of the migrations that have been applied to this database, in their order. */
export async function listMigrations(query: Query): Promise<string[]> {
  const rows = await query<{ name: string }>(
    'select migration_name as name from _prisma_migrations where finished_at is not null and rolled_back_at is null order by 1',
  );
  return rows.map(({ name }) => name);
}

/** Prevents migrations until the transaction ends. */
export async function lockMigrations(query: Query): Promise<void> {
  await query('lock table _prisma_migrations in share mode');
}

/** Runs work that may take long on a connection without timeouts, and closes the connection afterwards. */
export async function withOwnConnection<T>(pool: pg.Pool, work: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  const { stream } = client.connection;
  try {
    if (stream instanceof Socket) stream.setTimeout(0);
    await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0');
    return await work(async (text, values) => (await client.query(text, values)).rows);
  } finally {
    client.release(true);
  }
}

/** Begins a read-only transaction in which all reads use the same snapshot. */
export async function beginSnapshot(query: Query): Promise<void> {
  await query('begin transaction isolation level repeatable read, read only');
}

/**
 * Disables most triggers, for tools that copy data: rows are written unchanged, without events, deliveries or foreign key checks,
 * and audit events can be deleted. Organizations still get new versions. With `isLocal`, the triggers are disabled only until the
 * transaction ends.
 */
export async function silenceTriggers(query: Query, { isLocal = false } = {}): Promise<void> {
  await query(`set ${isLocal ? 'local ' : ''}session_replication_role = replica`);
}

/** Removes the timeouts for the rest of the transaction. */
export async function removeTimeouts(query: Query): Promise<void> {
  await query('set local statement_timeout = 0');
  await query('set local idle_in_transaction_session_timeout = 0');
}
