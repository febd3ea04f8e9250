import type { Pool, PoolClient } from 'pg';
import type { Database } from '../../../src/store/sql/database.ts';

type Statement = {
  /** The name of the prepared statement; empty if the statement is not prepared. */
  readonly name: string;
  /** The SQL; empty for a transaction, which counts as one statement. */
  readonly text: string;
  /** The SQL of the statements in a transaction, without BEGIN, COMMIT and ROLLBACK. */
  readonly transaction: readonly string[];
};

/**
 * Statements that a timer sends every few seconds or minutes, not a request: leases of rate limits, and uses of keys and
 * sessions.
 */
const BY_THE_CLOCK = [
  ...['lease_tokens', 'write_key_uses', 'note_networks', 'touch_session'],
  ...['write_key_requests', 'delete_surplus_key_requests_of_keys'],
];

/**
 * Returns the number of statements that the pool runs during `work`. Each call through Prisma counts as at least one statement.
 */
export async function countStatements(
  db: Database,
  work: () => Promise<unknown>,
  leftOut: readonly string[] = BY_THE_CLOCK,
): Promise<number> {
  return (await recordStatements(db, work, leftOut)).length;
}

/**
 * Returns the statements that the pool runs during `work`, except those with a name in `leftOut`. By default, leaves out the
 * statements that a timer sends.
 */
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

/** Called with the arguments of each call of query(). The first argument is the statement. */
type OnStatement = (parameters: readonly unknown[]) => void;

type Interceptor = {
  readonly onStatement: OnStatement;
  /** Returns the function to call for each statement on a connection, until the connection goes back to the pool. */
  readonly onConnection: () => OnStatement;
};

/** Calls the interceptor before each statement of the pool. Returns a function that stops these calls. */
export function intercept(pool: Pool, { onStatement, onConnection }: Interceptor): () => void {
  const { query, connect } = pool;
  Object.assign(pool, {
    query: (...parameters: unknown[]) => {
      onStatement(parameters);
      return Reflect.apply(query, pool, parameters);
    },
    connect: (...parameters: unknown[]) => {
      const connected = Reflect.apply(connect, pool, parameters);
      // The pool's own query() checks out a connection with a callback. A caller that keeps a connection passes no callback.
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

/** Returns the name and the text of the statement in the parameters of query(). The first parameter is a string or an object. */
export function statementOf([first]: readonly unknown[]): { readonly name: string; readonly text: string } {
  const { name = '', text = '' } = Object(typeof first === 'string' ? { text: first } : first);
  return { name, text };
}
