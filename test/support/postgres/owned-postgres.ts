import { chmod, mkdtemp, readdir, readlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../../../src/domain/errors.ts';
import { type Cluster, findCluster, getBinariesFor, getCluster } from '../../../src/postgres/embedded-cluster.ts';
import { findPort, startServer } from '../../../src/postgres/embedded-server.ts';
import { run } from '../../../src/postgres/system-user.ts';
import { until } from '../wait.ts';
import { withClient } from './postgres.ts';

/** A PostgreSQL that only one test uses, and that the test may stop. */
export type OwnedPostgres = {
  /** Returns the URL of the database `postgres`, for a superuser. */
  url(): Promise<string>;
  start(): Promise<void>;
  /** Stops PostgreSQL. `fast` closes all connections first; `immediate` works like a crash. */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  /** Restarts PostgreSQL as a standby without a primary. PostgreSQL stays a standby until it is promoted. */
  restartAsStandby(): Promise<void>;
  /** Resolves when PostgreSQL accepts connections again, after the test or the server has started it. */
  untilRunning(): Promise<void>;
  /** Suspends all processes of PostgreSQL, as in a frozen virtual machine. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
};

/**
 * Creates a folder that PostgreSQL can enter, even if the tests run as root and PostgreSQL therefore as another user. The caller
 * removes the folder.
 */
export async function createDataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-postgres-'));
  await chmod(folder, 0o755);
  return folder;
}

/** Creates a cluster in the folder and starts it. */
export async function startOwnedPostgres(dataDir: string): Promise<OwnedPostgres> {
  const owned = ownPostgres(await getCluster(dataDir, false));
  await owned.start();
  return owned;
}

/** Returns the running PostgreSQL of the server with this DATA_DIR. */
export async function getOwnedPostgres(dataDir: string): Promise<OwnedPostgres> {
  return ownPostgres(await until('the cluster to exist', () => findCluster(dataDir)));
}

function ownPostgres(cluster: Cluster): OwnedPostgres {
  const signal = async (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of await processesIn(cluster.dir)) signalIfRunning(pid, name);
  };
  const control = async (...parameters: string[]) => {
    const { pgCtl } = await getBinariesFor(cluster);
    return run(pgCtl, [...parameters, '--pgdata', cluster.dir], cluster.user);
  };
  const url = async () => `postgresql://postgres:${cluster.password}@127.0.0.1:${await findPort(cluster.dir)}/postgres`;
  const start = async () => {
    const { ok, output } = await startServer(cluster, { fsync: 'off' });
    if (!ok) throw new Error(output);
  };
  const stop = async (mode: 'fast' | 'immediate') => {
    const { ok, output } = await control('stop', '--mode', mode, '--wait');
    if (!ok) throw new Error(output);
  };
  return {
    url,
    start,
    stop,
    async restartAsStandby() {
      await stop('fast');
      await writeFile(join(cluster.dir, 'standby.signal'), '');
      await start();
    },
    async untilRunning() {
      await until('PostgreSQL to accept connections', async () => {
        if ((await findPort(cluster.dir)) === null) return false;
        return withClient(await url(), (client) => client.query('select 1')).catch(() => null);
      });
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
  };
}

export function signalIfRunning(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

/** Returns the ids of a PostgreSQL's processes, whose working directory is the data folder. */
export async function processesIn(folder: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => null)));
  return pids.filter((_, i) => folders[i] === folder).map(Number);
}
