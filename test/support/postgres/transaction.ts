import type { PoolClient } from 'pg';
import type { Database } from '../../../src/store/database.ts';

/** Rolls back at the end unless the work commits. */
export async function inTransaction<T>({ pool }: Database, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    return await work(client);
  } finally {
    await client.query('rollback');
    client.release();
  }
}
