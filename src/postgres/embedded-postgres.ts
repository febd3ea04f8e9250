import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { StartUpError } from '../domain/start-up-error.ts';
import { codeOf } from '../store/error-code.ts';
import { type Cluster, findCluster, getCluster } from './embedded-cluster.ts';
import { findPort, type Settings, START_SECONDS, startServer, stopServer } from './embedded-server.ts';

export type EmbeddedPostgres = {
  /** Holds the password: never to be logged. */
  url: string;
  /** Says that this process needs the server no more; the last one to say so stops it. Never throws. */
  leave(): Promise<void>;
};

export type EmbeddedPostgresOptions = { dataDir: string; postgresSettings?: Settings };

/**
 * Every process that uses the server holds it shared; whoever gets it alone may stop the server. The number says
 * nothing.
 */
const LIFETIME_LOCK = 7_240_112;
const FAILED_STARTS = 5;
const RETRY_MS = 100;
const REGAIN_MS = 1000;

/** Joins the PostgreSQL of `dataDir`: makes it and starts it where need be, in as many processes at once as like. */
export async function joinEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  const membership = await enter(dataDir, options.postgresSettings ?? {});
  stayMember(membership);
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

type Membership = { cluster: Cluster; settings: Settings; port: number; client: pg.Client | null; hasLeft: boolean };

async function enter(dataDir: string, settings: Settings): Promise<Membership> {
  const giveUpAt = Date.now() + START_SECONDS * 1000;
  for (let failedStarts = 0; Date.now() < giveUpAt; await delay(RETRY_MS)) {
    const cluster = (await findCluster(dataDir)) ?? (await getCluster(dataDir, settings.fsync !== 'off'));
    let port = await findPort(cluster.dir);
    if (port === null) {
      const outcome = await startServer(cluster, settings);
      port = await findPort(cluster.dir);
      if (port === null && ++failedStarts >= FAILED_STARTS) throw doesNotStart(cluster, outcome.output);
    }
    const client = port === null ? null : await hold(cluster, port);
    if (port !== null && client !== null) return { cluster, settings, port, client, hasLeft: false };
  }
  throw new StartUpError(
    `The PostgreSQL of ${dataDir} has not answered for ${START_SECONDS} seconds.`,
    'Look into the folder postgres/log there; if no PostgreSQL runs, remove postgres/postmaster.pid there and try again.',
  );
}

function doesNotStart({ dir }: Cluster, output: string): StartUpError {
  const remedy = `Mend what it names (more may stand in ${dir}/log), or set DATABASE_URL to a PostgreSQL of yours.`;
  return new StartUpError(`The embedded PostgreSQL does not start:\n${output}`, remedy);
}

/** A connection that holds the lifetime lock; null where the server is starting, stopping or gone. */
async function hold(cluster: Cluster, port: number): Promise<pg.Client | null> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password: cluster.password,
    database: 'postgres',
    application_name: 'charter-lifetime',
    connectionTimeoutMillis: 5000,
  });
  // The server may stop under us at any time; without a listener that would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    // While the last member stops the server this waits, until the server ends the connection.
    await client.query('SELECT pg_advisory_lock_shared($1)', [LIFETIME_LOCK]);
    await ensureDatabase(client);
    return client;
  } catch (error) {
    disconnect(client);
    if (isPassing(error)) return null;
    if (codeOf(error) !== '28P01') throw error;
    const remedy = `Bring back the file postgres-password beside ${cluster.dir} that was written with it.`;
    throw new StartUpError('The embedded PostgreSQL refuses the password in the data folder.', remedy, {
      cause: error,
    });
  }
}

async function ensureDatabase(client: pg.Client): Promise<void> {
  const found = await client.query(`SELECT FROM pg_database WHERE datname = 'charter'`);
  if (found.rowCount !== 0) return;
  await client.query('CREATE DATABASE charter').catch((error: unknown) => {
    // Another process made it at the same moment: known by now (duplicate_database), or not yet (unique_violation).
    if (codeOf(error) !== '42P04' && codeOf(error) !== '23505') throw error;
  });
}

function isPassing(error: unknown): boolean {
  if (/^(57P0[123]|ECONNREFUSED|ECONNRESET|EPIPE|53300)$/.test(codeOf(error))) return true;
  return error instanceof Error && /Connection terminated|timeout expired/.test(error.message);
}

function disconnect(client: pg.Client): void {
  client.end().catch(() => undefined);
}

/**
 * A member whose connection was lost (a crash inside of PostgreSQL ends them all) would have the server stopped by
 * others.
 */
function stayMember(membership: Membership): void {
  membership.client?.once('end', () => {
    membership.client = null;
    void regain(membership);
  });
}

async function regain(membership: Membership): Promise<void> {
  while (!membership.hasLeft) {
    await delay(REGAIN_MS, undefined, { ref: false });
    const client = membership.hasLeft ? null : await holdRunning(membership.cluster);
    // Nobody else brings back a server of ours that died; of several members that try, PostgreSQL lets one succeed.
    if (client === null && !membership.hasLeft) await startAgain(membership);
    if (client === null) continue;
    if (membership.hasLeft) return disconnect(client);
    membership.client = client;
    return stayMember(membership);
  }
}

/** On the port of last time, where it is still free: the address that this process has given out. */
async function startAgain({ cluster, settings }: Membership): Promise<void> {
  if ((await findPort(cluster.dir)) === null) await startServer(cluster, settings).catch(() => undefined);
}

async function holdRunning(cluster: Cluster): Promise<pg.Client | null> {
  const port = await findPort(cluster.dir);
  return port === null ? null : hold(cluster, port).catch(() => null);
}

async function leave(membership: Membership): Promise<void> {
  membership.hasLeft = true;
  const client = membership.client ?? (await holdRunning(membership.cluster));
  if (client === null) return;
  try {
    await client.query('SELECT pg_advisory_unlock_shared($1)', [LIFETIME_LOCK]);
    const alone = await client.query<{ got: boolean }>('SELECT pg_try_advisory_lock($1) AS got', [LIFETIME_LOCK]);
    // Holding the lock, so that nobody joins a server that is about to stop.
    if (alone.rows[0]?.got === true) await stopServer(membership.cluster);
  } catch {
    // The server stopped before us, or is stopping now: which is all that was wanted.
  } finally {
    disconnect(client);
  }
}
