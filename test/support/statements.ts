import type { Database } from '../../src/store/database.ts';

/** `name` is empty for a statement that is not prepared. */
export type Statement = { readonly name: string; readonly text: string };

/** The number of statements that the pool runs during the work. Each call through Prisma counts at least once as well. */
export async function countStatements(db: Database, work: () => Promise<unknown>): Promise<number> {
  return (await recordStatements(db, work)).length;
}

/**
 * The statements that the pool runs during the work. The text of one on a connection of its own, as in a transaction, is empty.
 * Leases of the rate limits are left out: many requests share one, and it begins after them, at a time of its own.
 */
export async function recordStatements(db: Database, work: () => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const { pool } = db;
  const { query, connect } = pool;
  Object.assign(pool, {
    query: (...parameters: unknown[]) => {
      const [first] = parameters;
      const { name = '', text = '' } = Object(typeof first === 'string' ? { text: first } : first);
      statements.push({ name, text });
      return Reflect.apply(query, pool, parameters);
    },
    connect: (...parameters: unknown[]) => {
      // The pool's own query() checks out a connection with a callback; a caller that keeps a connection does not.
      if (parameters.length === 0) statements.push({ name: '', text: '' });
      return Reflect.apply(connect, pool, parameters);
    },
  });
  try {
    await work();
  } finally {
    Object.assign(pool, { query, connect });
  }
  return statements.filter(({ name }) => name !== 'lease_tokens');
}
