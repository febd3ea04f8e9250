import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { sharedUrl } from '../runner/shared.ts';
import { until } from '../wait.ts';

/** The time zone of the tests' processes and databases. */
export const TIME_ZONE = 'Asia/Kolkata';

/** A database in the PostgreSQL of this run. */
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

/** Waits until this many statements of the client's database wait for a lock. Several numbers: until it is one of them. */
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

export type ScratchDatabase = { readonly url: string; drop(): Promise<void> } & AsyncDisposable;

/** A database for the tests of a file, dropped after them. */
export async function useScratchDatabase(): Promise<ScratchDatabase> {
  const scratch = await createScratchDatabase();
  afterAll(() => scratch.drop());
  return scratch;
}

let administration: Promise<pg.Pool> | undefined;

/** One connection of this process for all files that it runs. It does not keep the process from ending. */
async function openAdministration(): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: await serverUrl(), max: 1, allowExitOnIdle: true });
  // PostgreSQL may end first.
  pool.on('error', () => {});
  return pool;
}

/** A new database: with every migration applied, or empty. The caller drops it. */
export async function createScratchDatabase(contents: 'migrated' | 'empty' = 'migrated'): Promise<ScratchDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const template = contents === 'empty' ? 'template0' : new URL(await sharedUrl('postgres')).pathname.slice(1);
  administration ??= openAdministration();
  const pool = await administration;
  // Copies the files. By default, PostgreSQL writes each page to its log as well.
  await pool.query(`create database ${name} template ${template} strategy file_copy`);
  await pool.query(`alter database ${name} set timezone = '${TIME_ZONE}'`);
  const drop = async () => void (await pool.query(`drop database ${name} with (force)`));
  return { url: await serverUrl(name), drop, [Symbol.asyncDispose]: drop };
}

/** Creates such a database, runs the work and drops it. */
export async function withScratchDatabase<T>(
  work: (url: string) => Promise<T>,
  contents: 'migrated' | 'empty' = 'migrated',
): Promise<T> {
  await using scratch = await createScratchDatabase(contents);
  return await work(scratch.url);
}
