import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Keyring } from '../../../src/domain/keyring.ts';
import type { OrganizationScope } from '../../../src/domain/organizations/organization-scope.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import { placeOfTotpSecret } from '../../../src/store/sql/secrets.ts';
import { sharedUrl } from '../runner/shared.ts';
import { until } from '../wait.ts';

/** The time zone of the tests' processes and databases. */
export const TIME_ZONE = 'Asia/Kolkata';

/** Returns the URL of a database in the PostgreSQL of this run. */
export async function serverUrl(database = 'postgres'): Promise<string> {
  return Object.assign(new URL(await sharedUrl('postgres')), { pathname: `/${database}` }).href;
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Waits until `count` statements in the client's database wait for a lock. If `count` is an array, any of its numbers is enough.
 */
export function untilWaiting(
  client: pg.Pool | pg.Client,
  count: number | readonly number[],
  limit: { seconds?: number } = {},
): Promise<true> {
  const counts = [count].flat();
  const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const isSo = async () => counts.includes((await client.query(waits)).rowCount ?? 0);
  return until(`${counts.join(' or ')} statements that wait for a lock`, isSo, limit);
}

type ScratchDatabase = { readonly url: string; drop(): Promise<void> } & AsyncDisposable;

/** Creates a database for the tests of a file, and drops the database after them. */
export async function useScratchDatabase(): Promise<ScratchDatabase> {
  const scratch = await createScratchDatabase();
  afterAll(() => scratch.drop());
  return scratch;
}

let administration: Promise<pg.Pool> | undefined;

/**
 * Opens the connection that this process uses to create and drop databases for all files that it runs. The open connection does
 * not keep the process from ending.
 */
async function openAdministration(): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: await serverUrl(), max: 1, allowExitOnIdle: true });
  // PostgreSQL may stop before this process ends. That is not an error.
  pool.on('error', () => {});
  return pool;
}

/** Creates a database that is empty or has every migration applied. The caller drops the database. */
export async function createScratchDatabase(contents: 'migrated' | 'empty' = 'migrated'): Promise<ScratchDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const template = contents === 'empty' ? 'template0' : new URL(await sharedUrl('postgres')).pathname.slice(1);
  administration ??= openAdministration();
  const pool = await administration;
  // Copies files, because PostgreSQL would otherwise also write each page to its WAL.
  await pool.query(`create database ${name} template ${template} strategy file_copy`);
  await pool.query(`alter database ${name} set timezone = '${TIME_ZONE}'`);
  const drop = async () => void (await pool.query(`drop database ${name} with (force)`));
  return { url: await serverUrl(name), drop, [Symbol.asyncDispose]: drop };
}

export async function withScratchDatabase<T>(
  work: (url: string) => Promise<T>,
  contents: 'migrated' | 'empty' = 'migrated',
): Promise<T> {
  await using scratch = await createScratchDatabase(contents);
  return await work(scratch.url);
}

export const KEY = Buffer.alloc(32, 'test');

/** The key that encrypts the secrets in all test databases, as the value of the environment variable ENCRYPTION_KEY. */
export const ENCRYPTION_KEY = KEY.toString('base64');
export const KEYRING = new Keyring([KEY]);

/** Returns the secret of a second factor as it is stored. */
export function encryptedSecret({ scope, userId }: { scope: OrganizationScope; userId: string }) {
  const { organizationId } = scope;
  return KEYRING.encrypt(Buffer.alloc(20), placeOfTotpSecret({ organizationId, id: userId }));
}

/** Calls `work` in a transaction, and rolls back at the end unless `work` commits. */
export async function inTransaction<T>({ pool }: Database, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    // The server's limit of ten seconds is meant for its own transactions. This transaction may have to wait longer for the test
    // on a busy machine.
    await client.query('set local idle_in_transaction_session_timeout = 0');
    return await work(client);
  } finally {
    // A broken connection cannot roll back. It must go back to the pool nevertheless, because the pool would otherwise never
    // close.
    const failed = await client.query('rollback').then(
      () => false,
      () => true,
    );
    client.release(failed);
  }
}

// Inserts rows of any table by SQL.

type Place = { readonly organizationId: string; readonly table: string };

/**
 * Runs a statement that writes many rows, however long it takes. Uses its own connection, because the limits of the server's
 * pool, such as 15 seconds for a statement, do not apply there.
 */
export async function writeRows({ pool }: Database, text: string, values: readonly unknown[]): Promise<void> {
  const { connectionString } = pool.options;
  if (connectionString === undefined) throw new Error('The pool has no URL.');
  await withClient(connectionString, async (client) => {
    await client.query('set statement_timeout = 0');
    await client.query(text, [...values]);
  });
}

/**
 * Inserts rows from items as the API shows them. The fields of the items have the names of the columns. The items may refer to
 * rows that do not exist.
 */
export async function insertItems(db: Database, { organizationId, table }: Place, items: readonly object[]) {
  await inTransaction(db, async (client) => {
    await client.query('set local session_replication_role = replica');
    const rows = items.map((item) => ({ ...item, organization_id: organizationId }));
    // Unlike JSONB, JSON keeps the order of members.
    await client.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1::json)`, [
      JSON.stringify(rows),
    ]);
    await client.query('commit');
  });
}

/**
 * Returns SQL that inserts `$2` copies of a row of the organization `$1`. The copies have new ids, and `null` in columns that
 * must be unique.
 */
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

export async function copyRow(db: Database, { organizationId, table }: Place, count: number): Promise<void> {
  await writeRows(db, await copyStatement(db, table), [organizationId, count]);
}

/** A URL for a stopped database: nothing listens on this port. */
export const STOPPED_URL = 'postgresql://charter:secret-of-the-database@127.0.0.1:1/charter';

/** Calls `work` while the table is missing. No other test notices, because the tests of a file run one after another. */
export async function withoutTable<T>({ pool }: Database, table: string, work: () => Promise<T>): Promise<T> {
  await pool.query(`alter table ${table} rename to away`);
  try {
    return await work();
  } finally {
    await pool.query(`alter table away rename to ${table}`);
  }
}
