import type { Database } from '../../../src/store/sql/database.ts';

/** Nothing listens on this port, as if the database were stopped. */
export const STOPPED_URL = 'postgresql://charter:secret-of-the-database@127.0.0.1:1/charter';

/** Runs the work while the table is missing. The tests of a file run one after another, so no other test notices. */
export async function withoutTable<T>({ pool }: Database, table: string, work: () => Promise<T>): Promise<T> {
  await pool.query(`alter table ${table} rename to away`);
  try {
    return await work();
  } finally {
    await pool.query(`alter table away rename to ${table}`);
  }
}
