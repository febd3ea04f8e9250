import { Socket } from 'node:net';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { Prisma, PrismaClient } from '../../../generated/prisma/client.ts';
import { MovingError } from '../../domain/errors.ts';
import type { Keyring } from '../../domain/keyring.ts';
import { isRefusedByMove } from './database-errors.ts';
import { KEEP_ALIVE_SETTINGS, SESSION_SETTINGS, STATEMENT_SECONDS, withSettings } from './session-settings.ts';

export type Transaction = Prisma.TransactionClient;

/**
 * The database, with one connection pool. Prisma uses the pool for transactions, and `pg` for most reads and for writes with a
 * single SQL statement.
 */
export type Database = {
  readonly prisma: PrismaClient;
  readonly pool: pg.Pool;
  readonly keyring: Keyring;
  readonly poolSize: number;
  close(): Promise<void>;
};

/**
 * A connection pooler between this process and PostgreSQL, such as PgBouncer in transaction mode. Each transaction may run in
 * another PostgreSQL session, whose settings are those of the database user.
 */
export type Pooler = {
  /** Whether a prepared statement can be used again in another session. */
  readonly keepsStatements: boolean;
};

export type DatabaseOptions = {
  url: string;
  /** The connection pooler at `url`. Default: `null`, which means that `url` leads to PostgreSQL itself. */
  pooler?: Pooler | null;
  /** The maximum number of connections, from 1 to 1000. */
  poolSize: number;
  /** How long a statement or a transaction waits for a connection. Default: 5. */
  connectSeconds?: number;
  keyring: Keyring;
  /** Called when an idle connection fails, for example because PostgreSQL stops. */
  onIdleError: (error: Error) => void;
};

const CONNECT_SECONDS = 5;
/**
 * The number of connections that stay open, so that the first requests after an idle period need not open a connection and
 * prepare its statements, which takes about 30 ms.
 */
export const KEPT_CONNECTIONS = 2;
/** The number of seconds after which other idle connections are closed. */
export const CONNECTION_IDLE_SECONDS = 5 * 60;
/**
 * The number of seconds after which a silent connection sends TCP keepalives. Firewalls forget a connection that is silent for
 * some minutes, and a request on it would wait for its timeout.
 */
const KEEP_ALIVE_SECONDS = 60;

export function openDatabase({
  url,
  pooler = null,
  poolSize,
  connectSeconds = CONNECT_SECONDS,
  keyring,
  onIdleError,
}: DatabaseOptions): Database {
  const pool = new pg.Pool({
    Client: PrimaryClient,
    onConnect(client) {
      if (client instanceof PrimaryClient) client.refuseStandby();
    },
    connectionString: pooler === null ? withSettings(url, { ...SESSION_SETTINGS, ...KEEP_ALIVE_SETTINGS }) : url,
    max: poolSize,
    min: KEPT_CONNECTIONS,
    idleTimeoutMillis: CONNECTION_IDLE_SECONDS * 1000,
    application_name: 'charter',
    connectionTimeoutMillis: connectSeconds * 1000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_SECONDS * 1000,
  });
  limitSilence(pool);
  pool.on('error', onIdleError);
  // The pool does not listen for errors of a client in use. If such a client's connection ended between two statements of a
  // transaction, the error event would end the process. With this listener, the next statement fails instead.
  pool.on('connect', (client) => client.on('error', () => {}));
  if (pooler?.keepsStatements === false) pool.on('connect', sendUnnamed);
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, { statementNameGenerator: createNames() }),
    errorFormat: 'minimal',
    transactionOptions: { maxWait: connectSeconds * 1000, timeout: STATEMENT_SECONDS * 1000 },
  });
  return {
    prisma,
    pool,
    keyring,
    poolSize,
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/**
 * Runs `work` in one transaction, which is rolled back if `work` throws. All statements of the transaction must be sent through
 * `tx`. The transaction waits at most 5 seconds for a connection, takes at most `timeoutSeconds`, and may be idle between two
 * statements for at most 10 seconds. Throws a MovingError if the transaction changes data that must not change while the
 * organization moves.
 */
export async function transaction<T>(
  db: Database,
  work: (tx: Transaction) => Promise<T>,
  { timeoutSeconds = STATEMENT_SECONDS }: { timeoutSeconds?: number } = {},
): Promise<T> {
  try {
    return await db.prisma.$transaction(work, { timeout: timeoutSeconds * 1000 });
  } catch (error) {
    throw isRefusedByMove(error) ? new MovingError() : error;
  }
}

export async function isReachable({ pool }: Database): Promise<boolean> {
  return pool.query('select 1').then(
    () => true,
    () => false,
  );
}

/**
 * A comment that marks an SQL statement sent through Prisma as prepared: each connection prepares the statement only once,
 * because parsing and planning it takes longer than executing it. A marked statement must find rows only by their keys, so that
 * one plan is suitable for all values.
 */
export const PREPARED = Prisma.raw('/* prepared */');

/** Returns a function that returns a name for each marked statement, and an empty string for all others. */
function createNames(): (statement: { sql: string }) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const name = names.get(sql);
    if (name !== undefined) return name;
    if (!sql.includes(PREPARED.sql)) return '';
    const next = `prisma_${names.size + 1}`;
    names.set(sql, next);
    return next;
  };
}

/**
 * Removes the names of statements, because the pooler may run the next statement in another session, which has not prepared it.
 */
function sendUnnamed(client: pg.PoolClient): void {
  client.query = new Proxy(client.query, {
    apply: (query, self, [statement, ...others]: unknown[]) =>
      Reflect.apply(query, self, [withoutName(statement), ...others]),
  });
}

function withoutName(statement: unknown): unknown {
  const isNamed = typeof statement === 'object' && statement !== null && 'name' in statement;
  return isNamed ? { ...statement, name: undefined } : statement;
}

/**
 * Ends connections on which PostgreSQL no longer responds. PostgreSQL itself cancels a long statement; if PostgreSQL cannot be
 * reached, this timeout ends the connection a little later, unless it is idle in the pool. A socket's timer is cheap, whereas
 * pg's query_timeout creates a timer for each statement, which costs a tenth of a list page.
 */
function limitSilence(pool: pg.Pool): void {
  const idle = new WeakSet<pg.PoolClient>();
  pool.on('acquire', (client) => idle.delete(client));
  pool.on('release', (_, client) => idle.add(client));
  pool.on('connect', (client) => {
    const { stream } = client.connection;
    if (!(stream instanceof Socket)) return;
    stream.setTimeout((STATEMENT_SECONDS + 2) * 1000);
    stream.on('timeout', () => {
      if (!idle.has(client)) stream.destroy(new Error('Query read timeout'));
    });
  });
}

/** A connection that is refused if its PostgreSQL is a standby. */
class PrimaryClient extends pg.Client {
  #isStandby = false;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // PostgreSQL 14 and later report this parameter when they accept a connection, so no query is necessary. PgBouncer does not
    // report it, but has its own query for this purpose (see scripts/dist/deploy/pgbouncer.ini).
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: Status) => {
      if (parameterName === 'in_hot_standby') this.#isStandby = parameterValue === 'on';
    });
  }

  /**
   * Throws if PostgreSQL is a standby, because a standby can be behind its primary. During a failover, a load balancer may choose
   * the new primary while it is still a standby that has not applied all changes, so a read would miss some changes.
   */
  refuseStandby(): void {
    if (this.#isStandby) throw new Error('The PostgreSQL is a standby');
  }
}

type Status = { readonly parameterName: string; readonly parameterValue: string };
