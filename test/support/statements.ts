import type { Database } from '../../src/store/database.ts';

/** The statements that the pool runs during the work. Each call through Prisma counts at least once as well. */
export async function countStatements(db: Database, work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const { pool } = db;
  const { query, connect } = pool;
  Object.assign(pool, {
    query: (...parameters: unknown[]) => {
      count += 1;
      return Reflect.apply(query, pool, parameters);
    },
    connect: (...parameters: unknown[]) => {
      // The pool's own query() checks out a connection with a callback; a caller that keeps a connection does not.
      if (parameters.length === 0) count += 1;
      return Reflect.apply(connect, pool, parameters);
    },
  });
  try {
    await work();
  } finally {
    Object.assign(pool, { query, connect });
  }
  return count;
}
