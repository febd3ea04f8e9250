import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A contract of 1,000 operations takes a while, the more on a busy machine. */
const START_SECONDS = 180;
const STOP_SECONDS = 5;

export type Program = {
  readonly script: string;
  readonly databaseUrl: string;
  /** Of the PostgreSQL behind it. */
  readonly postgresPid: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** What it prints goes to a file: a pipe would have this process read it, which is to make the load. */
  readonly logFile: string;
};

export type RunningServer = {
  readonly origin: string;
  readonly pid: number;
  readonly postgresPid: number;
  stop(): Promise<void>;
};

/**
 * Runs a server as its own process. Nothing of our environment reaches it, so that it runs on its defaults. It ends when
 * the channel to this process closes, should we be killed.
 */
export async function startServer(program: Program): Promise<RunningServer> {
  const { script, databaseUrl, postgresPid, settings = {}, logFile } = program;
  const port = await freePort();
  const log = await open(logFile, 'w');
  const env = {
    ...{ PATH: process.env['PATH'], NODE_ENV: 'production', DATABASE_URL: databaseUrl, PORT: String(port) },
    ...settings,
  };
  const parameters = ['--disable-warning=ExperimentalWarning', script];
  const child = spawn(process.execPath, parameters, { env, stdio: ['ignore', log.fd, log.fd, 'ipc'] });
  await log.close();
  const origin = `http://127.0.0.1:${port}`;
  try {
    await untilAnswers(origin, child);
  } catch (cause) {
    await stop(child);
    throw new Error(`${script} does not serve. It printed:\n${await readFile(logFile, 'utf8')}`, { cause });
  }
  return { origin, pid: child.pid ?? 0, postgresPid, stop: () => stop(child) };
}

async function untilAnswers(origin: string, child: ChildProcess): Promise<void> {
  const giveUpAt = Date.now() + START_SECONDS * 1000;
  while (Date.now() < giveUpAt && isRunning(child)) {
    // Any status will do: it listens.
    if (await fetch(origin).catch(() => null)) return;
    await delay(5);
  }
  throw new Error('It ended, or did not answer in time.');
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
