import { Socket } from 'node:net';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { type Prisma, PrismaClient } from '../../generated/prisma/client.ts';
import type { Keyring } from '../domain/keyring.ts';

export type Transaction = Prisma.TransactionClient;

/** One connection pool, used by Prisma for writes and by prepared statements of `pg` for the few hot reads. */
export type Database = {
  readonly prisma: PrismaClient;
  readonly pool: pg.Pool;
  /** Encrypts and decrypts secrets. */
  readonly keyring: Keyring;
  /** Maximum number of connections. */
  readonly poolSize: number;
  close(): Promise<void>;
};

export type DatabaseOptions = {
  url: string;
  /** Maximum number of connections, 1 to 1000. */
  poolSize: number;
  keyring: Keyring;
  /** Called when an idle connection fails, for example because PostgreSQL stops. */
  onIdleError: (error: Error) => void;
};

const CONNECT_SECONDS = 5;
const STATEMENT_SECONDS = 15;
/** The first requests after an idle period need no new connection: opening one and preparing its statements takes about 30 ms. */
export const KEPT_CONNECTIONS = 2;
/** Connections beyond those are closed after so many idle seconds. */
export const IDLE_SECONDS = 5 * 60;
/** Firewalls forget a connection that is silent for some minutes, and a request would wait for its timeout. */
const KEEP_ALIVE_SECONDS = 60;

/** Timestamps and whole rows are read as text (instant.ts, parent-programs.ts), so their format must not depend on the server. */
const SERVER_SETTINGS = [
  'TimeZone=UTC',
  'DateStyle=ISO',
  `statement_timeout=${STATEMENT_SECONDS}s`,
  'idle_in_transaction_session_timeout=30s',
  // Otherwise a statement that waits for a lock when its connection is lost would still be executed. Not supported on
  // Windows, where the embedded PostgreSQL may run.
  ...(process.platform === 'win32' ? [] : ['client_connection_check_interval=500ms']),
  // For SSDs. With the default, index scans look so expensive that no generic plan of a list page is used.
  'random_page_cost=1.1',
];

export function openDatabase({ url, poolSize, keyring, onIdleError }: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: withOptions(url, SERVER_SETTINGS),
    max: poolSize,
    min: KEPT_CONNECTIONS,
    idleTimeoutMillis: IDLE_SECONDS * 1000,
    application_name: 'charter',
    connectionTimeoutMillis: CONNECT_SECONDS * 1000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_SECONDS * 1000,
  });
  limitSilence(pool);
  pool.on('error', onIdleError);
  // A client in use has no listener of the pool's, and one that ends between two statements of a transaction would end the
  // process. The next statement fails instead.
  pool.on('connect', (client) => client.on('error', () => {}));
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, { statementNameGenerator: createNames() }),
    errorFormat: 'minimal',
    transactionOptions: { maxWait: CONNECT_SECONDS * 1000, timeout: STATEMENT_SECONDS * 1000 },
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
 * most 5 seconds for a connection and lasts at most 15.
 */
export async function transaction<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return db.prisma.$transaction(work);
}

/** The writes of the API. They find rows by their keys only, so that one plan is right for all values. */
const PREPARED = /\b(key_of_write|idempotency_keys)\b/;

/** Names the statements that each connection prepares once, because parsing and planning them takes longer than executing. */
function createNames(): (statement: { sql: string }) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const name = names.get(sql);
    if (name !== undefined) return name;
    if (!PREPARED.test(sql)) return '';
    const next = `prisma_${names.size + 1}`;
    names.set(sql, next);
    return next;
  };
}

/** Adds settings to the "options" of the URL; pg ignores its own parameter if the URL has one. The last setting counts. */
function withOptions(url: string, settings: readonly string[]): string {
  const address = new URL(url);
  const options = [address.searchParams.get('options') ?? '', ...settings.map((setting) => `-c ${setting}`)];
  address.searchParams.set('options', options.join(' ').trim());
  return address.href;
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
