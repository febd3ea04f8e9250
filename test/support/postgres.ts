import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { until } from './wait.ts';

/** The database that every test's own is copied from: empty, with every migration applied. */
export const TEMPLATE = 'charter_template';

/** The PostgreSQL of this run, which `set-up.ts` started. */
export function serverUrl(database = 'postgres'): string {
  const url = new URL(process.env['CHARTER_TEST_POSTGRES'] ?? '');
  url.pathname = `/${database}`;
  return url.href;
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

/** Until so many statements of the client's database wait for a lock. */
export function untilWaiting(
  client: pg.Pool | pg.Client,
  count: number,
  patience: { seconds?: number } = {},
): Promise<true> {
  const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const isSo = async () => (await client.query(waits)).rowCount === count;
  return until(`${count} statements that wait for a lock`, isSo, patience);
}

export type ScratchDatabase = { readonly url: string; drop(): Promise<void> };

/** A database of the test's own; empty of tables where `template` is "template0". */
export async function createScratchDatabase(template = TEMPLATE): Promise<ScratchDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await withClient(serverUrl(), (client) => client.query(`create database ${name} template ${template}`));
  return {
    url: serverUrl(name),
    drop: () =>
      withClient(serverUrl(), async (client) => void (await client.query(`drop database ${name} with (force)`))),
  };
}

/** The same for as long as the work takes. */
export async function withScratchDatabase<T>(work: (url: string) => Promise<T>, template = TEMPLATE): Promise<T> {
  const scratch = await createScratchDatabase(template);
  try {
    return await work(scratch.url);
  } finally {
    await scratch.drop();
  }
}
