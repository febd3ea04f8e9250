import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { codeOf, StartUpError } from '../domain/errors.ts';
import { type Cluster, findCluster, getCluster } from './embedded-cluster.ts';
import { findPort, type Settings, START_SECONDS, startServer, stopServer } from './embedded-server.ts';

export type EmbeddedPostgres = {
  /** The URL of the server. It contains the password, so it must not be logged. */
  url: string;
  /** Ends this process's use of the server. The last process that leaves stops the server. Never throws. */
  leave(): Promise<void>;
};

export type EmbeddedPostgresOptions = { dataDir: string; postgresSettings?: Settings };

/**
 * The advisory lock that every process that uses the server holds in shared mode. A process that gets the lock in exclusive mode
 * may stop the server.
 */
const LIFETIME_LOCK = 7_240_112;
const MAX_FAILED_STARTS = 5;
const RETRY_MS = 100;
const REJOIN_MS = 1000;

/**
 * Connects this process to the PostgreSQL of `dataDir`, which is created and started if necessary. Any number of processes may do
 * this at the same time.
 */
export async function joinEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  const membership = await join(dataDir, options.postgresSettings ?? {});
  rejoinWhenLost(membership);
  const { cluster, port } = membership;
  let leaving: Promise<void> | undefined;
  return {
    url: `postgresql://postgres:${cluster.password}@127.0.0.1:${port}/charter`,
    leave: () => {
      leaving ??= leave(membership);
      return leaving;
    },
  };
}

type Membership = {
  cluster: Cluster;
  settings: Settings;
  port: number;
  /** The connection that holds the lifetime lock; `null` while there is no such connection. */
  client: pg.Client | null;
  hasLeft: boolean;
};

async function join(dataDir: string, settings: Settings): Promise<Membership> {
  const giveUpAt = Date.now() + START_SECONDS * 1000;
  for (let failedStarts = 0; Date.now() < giveUpAt; await delay(RETRY_MS)) {
    const cluster = (await findCluster(dataDir)) ?? (await getCluster(dataDir, settings.fsync !== 'off'));
    let port = await findPort(cluster.dir);
    if (port === null) {
      const outcome = await startServer(cluster, settings);
      port = await findPort(cluster.dir);
      if (port === null && ++failedStarts >= MAX_FAILED_STARTS) throw doesNotStart(cluster, outcome.output);
    }
    const client = port === null ? null : await connectAndLock(cluster, port);
    if (port !== null && client !== null) return { cluster, settings, port, client, hasLeft: false };
  }
  throw new StartUpError(
    `The PostgreSQL of ${dataDir} has not answered for ${START_SECONDS} seconds.`,
    'Read the logs in postgres/log in that folder. If no PostgreSQL is running, delete postgres/postmaster.pid and try again.',
  );
}

function doesNotStart({ dir }: Cluster, output: string): StartUpError {
  const remedy = `Fix the reported problem (see also ${dir}/log), or set DATABASE_URL to use your own PostgreSQL.`;
  return new StartUpError(`The embedded PostgreSQL does not start:\n${output}`, remedy);
}

/** Returns a connection that holds the lifetime lock; `null` if the server is starting, stopping or stopped. */
async function connectAndLock(cluster: Cluster, port: number): Promise<pg.Client | null> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password: cluster.password,
    database: 'postgres',
    application_name: 'charter-lifetime',
    connectionTimeoutMillis: 5000,
  });
  // The server may stop at any time. Without a listener, the error event would end this process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    // If the last process is stopping the server, this query waits until the server closes the connection.
    await client.query('SELECT pg_advisory_lock_shared($1)', [LIFETIME_LOCK]);
    await ensureDatabase(client);
    return client;
  } catch (error) {
    disconnect(client);
    if (isTemporary(error)) return null;
    if (codeOf(error) !== '28P01') throw error;
    const remedy = `Restore the original file postgres-password beside ${cluster.dir}.`;
    throw new StartUpError('The embedded PostgreSQL refuses the password in the data folder.', remedy, {
      cause: error,
    });
  }
}

async function ensureDatabase(client: pg.Client): Promise<void> {
  const found = await client.query(`SELECT FROM pg_database WHERE datname = 'charter'`);
  if (found.rowCount !== 0) return;
  await client.query('CREATE DATABASE charter').catch((error: unknown) => {
    // Another process created the database, before this statement (duplicate_database) or during it (unique_violation).
    if (codeOf(error) !== '42P04' && codeOf(error) !== '23505') throw error;
  });
}

function isTemporary(error: unknown): boolean {
  if (/^(57P0[123]|ECONNREFUSED|ECONNRESET|EPIPE|53300)$/.test(codeOf(error))) return true;
  return error instanceof Error && /Connection terminated|timeout expired/.test(error.message);
}

function disconnect(client: pg.Client): void {
  client.end().catch(() => undefined);
}

/**
 * Acquires the lock again when its connection ends, for example after a crash, because another process would otherwise stop the
 * server.
 */
function rejoinWhenLost(membership: Membership): void {
  membership.client?.once('end', () => {
    membership.client = null;
    void rejoin(membership);
  });
}

async function rejoin(membership: Membership): Promise<void> {
  while (!membership.hasLeft) {
    await delay(REJOIN_MS, undefined, { ref: false });
    const client = membership.hasLeft ? null : await lockIfRunning(membership.cluster);
    // Nothing else restarts a server that has crashed. If several processes try, PostgreSQL lets only one of them succeed.
    if (client === null && !membership.hasLeft) await restart(membership);
    if (client === null) continue;
    if (membership.hasLeft) return disconnect(client);
    membership.client = client;
    return rejoinWhenLost(membership);
  }
}

/** Starts the server again, on its previous port if that port is free, because `url` contains the port. */
async function restart({ cluster, settings }: Membership): Promise<void> {
  if ((await findPort(cluster.dir)) === null) await startServer(cluster, settings).catch(() => undefined);
}

async function lockIfRunning(cluster: Cluster): Promise<pg.Client | null> {
  const port = await findPort(cluster.dir);
  return port === null ? null : connectAndLock(cluster, port).catch(() => null);
}

async function leave(membership: Membership): Promise<void> {
  membership.hasLeft = true;
  const client = membership.client ?? (await lockIfRunning(membership.cluster));
  if (client === null) return;
  try {
    await client.query('SELECT pg_advisory_unlock_shared($1)', [LIFETIME_LOCK]);
    const alone = await client.query<{ got: boolean }>('SELECT pg_try_advisory_lock($1) AS got', [LIFETIME_LOCK]);
    // The server stops while this process holds the lock, so that no other process can join in the meantime.
    if (alone.rows[0]?.got === true) await stopServer(membership.cluster);
  } catch {
    // The server has stopped or is stopping, as intended.
  } finally {
    disconnect(client);
  }
}
