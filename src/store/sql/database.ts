import { Socket } from 'node:net';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { Prisma, PrismaClient } from '../../../generated/prisma/client.ts';
import { MovingError } from '../../domain/errors.ts';
import type { Keyring } from '../../domain/keyring.ts';
import { isRefusedByMove } from './database-errors.ts';
import { KEEP_ALIVE_SETTINGS, SESSION_SETTINGS, STATEMENT_SECONDS, withSettings } from './session-settings.ts';

export type Transaction = Prisma.TransactionClient;

/** One connection pool, used by Prisma for transactions, and by `pg` for most reads and for writes of a single statement. */
export type Database = {
  readonly prisma: PrismaClient;
  readonly pool: pg.Pool;
  /** Encrypts and decrypts secrets. */
  readonly keyring: Keyring;
  /** Maximum number of connections. */
  readonly poolSize: number;
  close(): Promise<void>;
};

/**
 * A connection pooler between this process and PostgreSQL, such as PgBouncer in transaction mode. Each transaction may run in
 * another session of PostgreSQL, whose settings are those of the database user.
 */
export type Pooler = {
  /** Whether a prepared statement can be used again in another session. */
  readonly keepsStatements: boolean;
};

export type DatabaseOptions = {
  url: string;
  /** `null`, the default, if `url` is PostgreSQL itself. */
  pooler?: Pooler | null;
  /** Maximum number of connections, 1 to 1000. */
  poolSize: number;
  /** How long a statement or a transaction waits for a connection; 5 by default. */
  connectSeconds?: number;
  keyring: Keyring;
  /** Called when an idle connection fails, for example because PostgreSQL stops. */
  onIdleError: (error: Error) => void;
};

const CONNECT_SECONDS = 5;
/** The first requests after an idle period need no new connection: opening one and preparing its statements takes about 30 ms. */
export const KEPT_CONNECTIONS = 2;
/** Further connections are closed after this many idle seconds. */
export const CONNECTION_IDLE_SECONDS = 5 * 60;
/** Firewalls forget a connection that is silent for some minutes, and a request would wait for its timeout. */
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
  // A client in use has no listener of the pool's, and one that ends between two statements of a transaction would end the
  // process. The next statement fails instead.
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
 * Runs `work` in one transaction, which is rolled back if it throws. Every statement in it must be sent by `tx`. It waits at
 * most 5 seconds for a connection, lasts at most 15, and is idle between two statements for at most 10. Throws a MovingError if
 * it changes what must stay while the organization moves.
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

/** Whether the database responds to a statement. */
export async function isReachable({ pool }: Database): Promise<boolean> {
  return pool.query('select 1').then(
    () => true,
    () => false,
  );
}

/**
 * Marks a statement that Prisma sends, as a part of it. Each connection prepares the statement once, because parsing and planning
 * it takes longer than executing it. Such a statement finds rows by their keys only, so that one plan is right for all values.
 */
export const PREPARED = Prisma.raw('/* prepared */');

/** Returns a function that gives each marked statement a name, and all others an empty one. */
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

/** Removes the names of statements, because the next one may get another session from the pooler, which has not prepared them. */
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
 * PostgreSQL cancels a long statement. If PostgreSQL cannot be reached, this timeout ends the connection a little later, unless
 * it is idle in the pool. A socket's timer is cheap: pg's query_timeout creates a timer for each statement, which is a tenth of
 * the cost of a list page.
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
    // Reported by PostgreSQL 14 and newer while they accept the connection, so it takes no statement. PgBouncer does not report it,
    // and has a query of its own for it (deploy/pgbouncer.ini).
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: Status) => {
      if (parameterName === 'in_hot_standby') this.#isStandby = parameterValue === 'on';
    });
  }

  /**
   * A standby can be behind its primary. During a failover, a load balancer may choose the new primary before it has applied
   * all changes, and a read would miss some of them.
   */
  refuseStandby(): void {
    if (this.#isStandby) throw new Error('The PostgreSQL is a standby');
  }
}

type Status = { readonly parameterName: string; readonly parameterValue: string };
