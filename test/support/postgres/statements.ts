import type { Pool, PoolClient } from 'pg';
import type { Database } from '../../../src/store/sql/database.ts';

type Statement = {
  /** Empty for a statement that is not prepared. */
  readonly name: string;
  /** Empty for a transaction, which counts as one statement. */
  readonly text: string;
  /** The texts of the statements of a transaction, without those that begin and end it. */
  readonly transaction: readonly string[];
};

/** They come by the clock, not with each request: leases of the rate limits, uses of keys and of sessions, each minute. */
const BY_THE_CLOCK = ['lease_tokens', 'write_key_uses', 'note_networks', 'touch_session'];

/** The number of statements that the pool runs during the work. Each call through Prisma counts at least once as well. */
export async function countStatements(
  db: Database,
  work: () => Promise<unknown>,
  leftOut: readonly string[] = BY_THE_CLOCK,
): Promise<number> {
  return (await recordStatements(db, work, leftOut)).length;
}

/** The statements that the pool runs during the work. `leftOut`: names; by default those that come by the clock. */
export async function recordStatements(
  db: Database,
  work: () => Promise<unknown>,
  leftOut: readonly string[] = BY_THE_CLOCK,
): Promise<Statement[]> {
  const statements: Statement[] = [];
  const stop = intercept(db.pool, {
    onStatement: (parameters) => statements.push({ ...statementOf(parameters), transaction: [] }),
    onConnection() {
      const transaction: string[] = [];
      statements.push({ name: '', text: '', transaction });
      return (parameters) => {
        const { text } = statementOf(parameters);
        if (!BEGINS_OR_ENDS.test(text)) transaction.push(text);
      };
    },
  });
  try {
    await work();
  } finally {
    stop();
  }
  return statements.filter(({ name }) => !leftOut.includes(name));
}

const BEGINS_OR_ENDS = /^(BEGIN|COMMIT|ROLLBACK)$/;

/** Gets the parameters of query(). */
type OnStatement = (parameters: readonly unknown[]) => void;

type Interceptor = {
  readonly onStatement: OnStatement;
  /** Returns what gets the statements of a connection until the pool has it back. */
  readonly onConnection: () => OnStatement;
};

/** Calls the interceptor before each statement of the pool. Returns a function that ends this. */
export function intercept(pool: Pool, { onStatement, onConnection }: Interceptor): () => void {
  const { query, connect } = pool;
  Object.assign(pool, {
    query: (...parameters: unknown[]) => {
      onStatement(parameters);
      return Reflect.apply(query, pool, parameters);
    },
    connect: (...parameters: unknown[]) => {
      const connected = Reflect.apply(connect, pool, parameters);
      // The pool's own query() checks out a connection with a callback; a caller that keeps a connection does not.
      if (parameters.length > 0) return connected;
      const onNext = onConnection();
      return connected.then((client: PoolClient) => interceptUntilRelease(client, onNext));
    },
  });
  return () => Object.assign(pool, { query, connect });
}

function interceptUntilRelease(client: PoolClient, onStatement: OnStatement): PoolClient {
  const { query, release } = client;
  return Object.assign(client, {
    query: (...parameters: unknown[]) => {
      onStatement(parameters);
      return Reflect.apply(query, client, parameters);
    },
    release: (...parameters: unknown[]) => {
      Object.assign(client, { query, release });
      return Reflect.apply(release, client, parameters);
    },
  });
}

/** The name and the text in the parameters of query(), whose first one is a text or an object. */
export function statementOf([first]: readonly unknown[]): { readonly name: string; readonly text: string } {
  const { name = '', text = '' } = Object(typeof first === 'string' ? { text: first } : first);
  return { name, text };
}
