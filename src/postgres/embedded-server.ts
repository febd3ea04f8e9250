import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { codeOf } from '../domain/errors.ts';
import { type Cluster, getBinariesFor } from './embedded-cluster.ts';
import { type ProgramResult, run } from './system-user.ts';

export type Settings = Readonly<Record<string, string>>;

/** The maximum time for a start, including the recovery from a crash during heavy writes. */
export const START_SECONDS = 120;

const SETTINGS: Settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  TimeZone: 'UTC',
  log_timezone: 'UTC',
  // The log has one file for each weekday, which is overwritten a week later.
  logging_collector: 'on',
  log_directory: 'log',
  log_filename: 'postgresql-%a.log',
  log_rotation_age: '1d',
  log_rotation_size: '0',
  log_truncate_on_rotation: 'on',
};

/** Returns the port of the server that is running or starting on the folder; `null` if there is no such server. */
export async function findPort(clusterDir: string): Promise<number | null> {
  const lines = (await readPidFile(clusterDir)).split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!(pid > 0) || !(port > 0) || !(await isServer(pid, clusterDir))) return null;
  return port;
}

/**
 * Starts the server. If several processes start it at the same time, only one succeeds, because of PostgreSQL's own lock file.
 */
export async function startServer(cluster: Cluster, settings: Settings): Promise<ProgramResult> {
  const { pgCtl } = await getBinariesFor(cluster);
  await deleteStalePidFile(cluster.dir);
  const log = join(cluster.dir, 'start.log');
  await rm(log, { force: true });
  const port = String((await previousPortIfFree(cluster.dir)) ?? (await freePort(0)));
  const options = Object.entries({ ...SETTINGS, port, ...settings })
    .map(asOption)
    .join(' ');
  const parameters = ['start', '--pgdata', cluster.dir, '--wait', '--timeout', String(START_SECONDS), '--log', log];
  const outcome = await run(pgCtl, [...parameters, '--options', options], cluster.user);
  return outcome.ok
    ? outcome
    : { ok: false, output: `${outcome.output}\n${await readFile(log, 'utf8').catch(() => '')}` };
}

export async function stopServer(cluster: Cluster): Promise<ProgramResult> {
  const { pgCtl } = await getBinariesFor(cluster);
  return run(pgCtl, ['stop', '--pgdata', cluster.dir, '--mode', 'fast', '--wait'], cluster.user);
}

/**
 * Returns a setting as an option for the server. pg_ctl passes options through a shell, so characters that are special in a shell
 * are refused.
 */
function asOption([name, value]: [string, string]): string {
  if (!/^[A-Za-z_.]+$/.test(name) || !/^[\w .,:/%+-]*$/.test(value))
    throw new Error(`Invalid setting: ${name}=${value}`);
  return `-c "${name}=${value}"`;
}

function readPidFile(clusterDir: string): Promise<string> {
  return readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => '');
}

/**
 * Returns whether the process is the cluster's server. After a crash or in a new container, the process id may belong to another
 * program.
 */
async function isServer(pid: number, clusterDir: string): Promise<boolean> {
  if (process.platform === 'linux') return (await workingDir(pid)) === clusterDir;
  return isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** Returns a process's working directory, which is the data folder if the process is PostgreSQL; `null` if it is unknown. */
function workingDir(pid: number | string): Promise<string | null> {
  return readlink(`/proc/${pid}/cwd`).catch(() => null);
}

/**
 * Deletes PostgreSQL's lock file if it is stale. PostgreSQL does not start if the file names a running process, even another
 * program. The file is deleted only if no process has the folder as its working directory. A file that names no running process
 * is left to PostgreSQL's own checks.
 */
async function deleteStalePidFile(clusterDir: string): Promise<void> {
  const content = await readPidFile(clusterDir);
  const pid = Number(content.split('\n')[0]);
  if (process.platform !== 'linux' || !(pid > 0) || !isAlive(pid)) return;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const dirs = await Promise.all(pids.map(workingDir));
  const isUnchanged = content === (await readPidFile(clusterDir));
  if (isUnchanged && !dirs.includes(clusterDir)) await rm(join(clusterDir, 'postmaster.pid'), { force: true });
}

/**
 * Returns the previous port, or `null` if that port is not free. The previous port is preferred so that processes that outlive a
 * restart of the server can still use their URLs.
 */
async function previousPortIfFree(clusterDir: string): Promise<number | null> {
  const lastStart = await readFile(join(clusterDir, 'postmaster.opts'), 'utf8').catch(() => '');
  const port = /port=(\d+)/.exec(lastStart)?.[1];
  return port === undefined ? null : freePort(Number(port)).catch(() => null);
}

function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen({ port: wanted, host: '127.0.0.1' }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : wanted));
    });
  });
}
