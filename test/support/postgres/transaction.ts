import type { PoolClient } from 'pg';
import type { Database } from '../../../src/store/sql/database.ts';

/** Rolls back at the end unless the work commits. */
export async function inTransaction<T>({ pool }: Database, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    // The server's limit of ten seconds is for its own transactions. This one waits for the test, however busy the machine is.
    await client.query('set local idle_in_transaction_session_timeout = 0');
    return await work(client);
  } finally {
    // A connection that has failed cannot roll back. The pool must have it back, or it would never close.
    const failed = await client.query('rollback').then(
      () => false,
      () => true,
    );
    client.release(failed);
  }
}
