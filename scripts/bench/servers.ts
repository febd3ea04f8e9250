import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { root } from '../tool.ts';
import { ENCRYPTION_KEY } from './data.ts';

/**
 * The time limit for the start of a server, in seconds. A server with a contract of 1,000 operations starts slowly on a busy
 * machine.
 */
const START_SECONDS = 180;
const STOP_SECONDS = 5;

export type Program = {
  /** The path relative to the root of the checkout. */
  readonly script: string;
  readonly databaseUrl: string;
  /** The process id of the server's PostgreSQL. */
  readonly postgresPid: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** The file for the server's output. Reading a pipe would cost the load generator CPU time. */
  readonly logFile: string;
};

export type RunningServer = {
  readonly origin: string;
  readonly pid: number;
  readonly postgresPid: number;
  stop(): Promise<void>;
};

/** Limits that no case reaches. The server still counts each request. */
const HIGH_LIMITS = { RATE_LIMIT_PER_KEY: '100000', RATE_LIMIT_PER_ORGANIZATION: '100000' };

/** Allows the servers to deliver webhooks to a receiver in this process. */
const WEBHOOKS_TO_THIS_MACHINE = { WEBHOOKS_ALLOW_HTTP: 'true', WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.1' };

/**
 * Starts a server in its own process. Resolves when the server listens. Of this process's environment, the server gets only PATH,
 * so that it has the default settings. MALLOC_ARENA_MAX is set as in scripts/dist/deploy/Dockerfile. The server exits when its IPC
 * channel closes, even if this process is killed.
 */
export async function startServer(program: Program): Promise<RunningServer> {
  const { script, databaseUrl, postgresPid, settings = {}, logFile } = program;
  const port = await freePort();
  const log = await open(logFile, 'w');
  const env = {
    PATH: process.env['PATH'],
    NODE_ENV: 'production',
    MALLOC_ARENA_MAX: '2',
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY,
    ...HIGH_LIMITS,
    ...WEBHOOKS_TO_THIS_MACHINE,
    ...settings,
  };
  const parameters = ['--disable-warning=ExperimentalWarning', join(root, script)];
  const child = spawn(process.execPath, parameters, { env, stdio: ['ignore', log.fd, log.fd, 'ipc'] });
  await log.close();
  const origin = `http://127.0.0.1:${port}`;
  try {
    await untilListening(origin, child);
  } catch (cause) {
    await stop(child);
    throw new Error(`${script} does not respond. Its output:\n${await readFile(logFile, 'utf8')}`, { cause });
  }
  return { origin, pid: child.pid ?? 0, postgresPid, stop: () => stop(child) };
}

async function untilListening(origin: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_SECONDS * 1000;
  while (Date.now() < deadline && isRunning(child)) {
    // Any response shows that the server listens, whatever its status.
    if (await fetch(origin).catch(() => null)) return;
    await delay(5);
  }
  throw new Error('It ended, or did not respond in time.');
}

async function stop(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const deadline = setTimeout(() => child.kill('SIGKILL'), STOP_SECONDS * 1000);
  await ended;
  clearTimeout(deadline);
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('No port is free.');
  return address.port;
}

// Functions that read /proc, in which Linux reports about processes. On other systems, the results are NaN.

const TICKS_PER_SECOND = 100;

/** Returns the CPU seconds that a server and all processes of PostgreSQL have used since their start. */
export async function readCpuSeconds({ pid, postgresPid }: Pick<RunningServer, 'pid' | 'postgresPid'>) {
  const ids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const stats = (await Promise.all(ids.map(readStat))).filter((stat) => stat !== null);
  const family = stats.filter((stat) => [stat.pid, stat.parent].includes(postgresPid));
  // The kernel adds the CPU time of ended child processes to that of their parent.
  const postgres = family.reduce((sum, stat) => sum + stat.own + (stat.pid === postgresPid ? stat.ended : 0), 0);
  return { server: stats.find((stat) => stat.pid === pid)?.own ?? Number.NaN, postgres: postgres || Number.NaN };
}

/** Returns the CPU times of a process; `null` if the process has ended. */
async function readStat(pid: string) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the process can contain any character, so only the fields after it are read. The CPU times are fields 14 to 17
  // (proc_pid_stat(5)).
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map((i) => fields[i]);
  const [own, ended] = [(user + system) / TICKS_PER_SECOND, (endedUser + endedSystem) / TICKS_PER_SECOND];
  return text === '' ? null : { pid: Number(pid), parent, own, ended };
}

/** Returns the physical memory of a process, in bytes. */
export async function residentBytes({ pid }: Pick<RunningServer, 'pid'>): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Returns the memory that a process does not share with other processes, in bytes. */
export async function privateBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  const kibibytes = [...text.matchAll(/^Private_\w+: +(\d+) kB$/gm)].map(([, number]) => Number(number));
  return kibibytes.length === 0 ? Number.NaN : kibibytes.reduce((sum, each) => sum + each, 0) * 1024;
}
