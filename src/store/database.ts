import { Socket } from 'node:net';
import { isNativeError } from 'node:util/types';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { type Prisma, PrismaClient } from '../../generated/prisma/client.ts';
import { codeOf, memberOf } from './error-code.ts';

export type Transaction = Prisma.TransactionClient;

/** One pool, two ways in: Prisma for what is written, prepared statements of `pg` for the few hot reads. */
export type Database = {
  readonly prisma: PrismaClient;
  readonly pool: pg.Pool;
  /** True while so many requests wait for a connection that one more would only wait in vain. */
  isOverloaded(): boolean;
  close(): Promise<void>;
};

export type DatabaseOptions = {
  url: string;
  /** Connections at most, 1 to 1000. */
  poolSize: number;
  /** For what happens on a connection that nobody is using, such as its end when PostgreSQL stops. */
  onIdleError: (error: Error) => void;
};

/** Requests that may wait for each connection of the pool. */
const WAITING_PER_CONNECTION = 50;
const CONNECT_SECONDS = 5;
const STATEMENT_SECONDS = 15;

/**
 * Instants and whole rows are read as text (see instant.ts, parent-programs.ts), so their form must not depend on the
 * server's settings.
 */
const SERVER_SETTINGS = [
  'TimeZone=UTC',
  'DateStyle=ISO',
  `statement_timeout=${STATEMENT_SECONDS}s`,
  'idle_in_transaction_session_timeout=30s',
  // Or what waits for a lock when its connection is lost would be done all the same, later. On Windows, where the
  // embedded PostgreSQL runs on ours, there is no such thing.
  ...(process.platform === 'win32' ? [] : ['client_connection_check_interval=500ms']),
  // As on today's disks. With the default, a page by its index looks so dear that no plan of it is ever kept.
  'random_page_cost=1.1',
];

export function openDatabase({ url, poolSize, onIdleError }: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: withOptions(url, SERVER_SETTINGS),
    max: poolSize,
    application_name: 'charter',
    connectionTimeoutMillis: CONNECT_SECONDS * 1000,
    stream: openSocket,
    keepAlive: true,
  });
  pool.on('error', onIdleError);
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, { statementNameGenerator: createNames() }),
    errorFormat: 'minimal',
    transactionOptions: { maxWait: CONNECT_SECONDS * 1000, timeout: STATEMENT_SECONDS * 1000 },
  });
  return {
    prisma,
    pool,
    isOverloaded: () => pool.waitingCount >= poolSize * WAITING_PER_CONNECTION,
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

/** Prisma's statements on these tables find a row by its key: one plan is right for all values, which is not so of the others. */
const PREPARED = /\b(parent_programs|idempotency_keys)\b/;

/** Of Prisma's statements, those that a connection prepares once: to parse and plan them takes longer than to execute them. */
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

/** Added to what the address itself sets, of which pg would otherwise take nothing but that; the last one counts. */
function withOptions(url: string, settings: readonly string[]): string {
  const address = new URL(url);
  const options = [address.searchParams.get('options') ?? '', ...settings.map((setting) => `-c ${setting}`)];
  address.searchParams.set('options', options.join(' ').trim());
  return address.href;
}

/**
 * The server ends a long statement; the client gives up a little later, should the server be out of reach. One timer a
 * connection, which is only pushed back: pg's own query_timeout makes and clears one a statement, a tenth of a page's cost.
 */
function openSocket(): Socket {
  const socket = new Socket();
  return socket.setTimeout((STATEMENT_SECONDS + 2) * 1000, () => socket.destroy(new Error('Query read timeout')));
}

/** Names of pg's and Node's own errors, and the SQLSTATE classes, that mean "not now" rather than "a bug". */
const OUTAGE = [
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/,
  /^08/, // connection exception
  /^53/, // insufficient resources
  /^57P0/, // shutting down, crashed, starting
  /^57014$/, // statement_timeout
  /^(28|3D)/, // lets this server in no more: the password or the database was changed under it
  /^25006$/, // read-only: a standby after a failover
  /^40(001|P01)$/, // serialization failure, deadlock
  /^P(1001|1002|1008|1017|2024|2028|2034|2037)$/, // the same in Prisma's words
];
const OUTAGE_MESSAGE =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|Can't reach database/i;

/** True where the database could not be asked, or could not answer in time; false for a bug. */
export function isOutage(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  const codes = [codeOf(error), String(memberOf(error.cause, 'originalCode'))];
  if (OUTAGE.some((pattern) => codes.some((code) => pattern.test(code))) || OUTAGE_MESSAGE.test(error.message))
    return true;
  const several = memberOf(error, 'errors');
  // Of a raw statement's failure Prisma says P2010, and what it was only further inside.
  const within = [error.cause, adapterErrorOf(error)];
  return [...within, ...(Array.isArray(several) ? several : [])].some((each) => each !== error && isOutage(each));
}

/** True where a write met a unique index. */
export function isUniqueViolation(error: unknown): boolean {
  // PostgreSQL's own code: Prisma's is another one where the statement was ours.
  return memberOf(memberOf(adapterErrorOf(error), 'cause'), 'originalCode') === '23505';
}

/** What PostgreSQL said, inside of what Prisma says. */
function adapterErrorOf(error: unknown): unknown {
  return memberOf(memberOf(error, 'meta'), 'driverAdapterError');
}
