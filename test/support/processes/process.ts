import { type ChildProcess, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { ENCRYPTION_KEY } from '../postgres/postgres.ts';
import { until } from '../wait.ts';
import { watchOutput } from './secrecy.ts';

const ROOT = join(import.meta.dirname, '../../..');

const INHERITED = {
  PATH: process.env['PATH'],
  TZ: process.env['TZ'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
};

/** Options of spawn() with a time limit, so that a process that hangs does not stay forever. */
export const LIMITED = { timeout: 3_600_000, killSignal: 'SIGKILL' } as const;

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type Running = {
  readonly child: ChildProcess;
  readonly printed: { stdout: string; stderr: string };
  /** Resolves when the process has ended and all its output has arrived. */
  readonly ended: Promise<Ended>;
} & AsyncDisposable;

/**
 * Makes Node load a file of this folder before the program. The file is given by URL, because Node splits NODE_OPTIONS at spaces.
 */
export function preloading(file: string): { NODE_OPTIONS: string } {
  return { NODE_OPTIONS: `--import=${new URL(file, import.meta.url).href}` };
}

/**
 * Runs a file with this Node. `file` is an absolute path, or a path from the root of the checkout. The environment contains only
 * `env`, PATH, and variables of the test run such as its time zone.
 */
export function startFile(file: string, parameters: readonly string[], env: Record<string, string> = {}): Running {
  const command = ['--disable-warning=ExperimentalWarning', resolve(ROOT, file), ...parameters];
  const child = spawn(process.execPath, command, {
    cwd: ROOT,
    env: { ...INHERITED, ...keyOf(env), ...env },
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    ...LIMITED,
  });
  return runningOf(child);
}

/**
 * Runs `npm start` in a folder. The environment contains only `env`, PATH, and variables of the test run such as its time zone.
 */
export function startNpm(folder: string, env: Record<string, string>): Running {
  const child = spawn('npm', ['start'], {
    cwd: folder,
    env: { ...INHERITED, ...keyOf(env), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...LIMITED,
  });
  return runningOf(child);
}

/** Collects the output of a process, whose standard output and standard error must be pipes. */
export function runningOf(child: ChildProcess): Running {
  const printed = { stdout: '', stderr: '' };
  // Decodes correctly even characters that are split between two chunks.
  child.stdout?.setEncoding('utf8').on('data', (chunk) => {
    printed.stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk) => {
    printed.stderr += chunk;
  });
  const running = { child, printed, ended: untilEnded(child, printed), [Symbol.asyncDispose]: () => kill(running) };
  return running;
}

/** Returns the encryption key of the test databases if there is a DATABASE_URL. A data folder has its own key. */
function keyOf({ DATABASE_URL }: Record<string, string>): Record<string, string> {
  return DATABASE_URL === undefined ? {} : { ENCRYPTION_KEY };
}

/**
 * Resolves when the process has exited and closed its output. Does not wait for the event "close", which never fires once this
 * side has closed the IPC channel.
 */
async function untilEnded(child: ChildProcess, printed: { stdout: string; stderr: string }): Promise<Ended> {
  const closed = [child.stdout, child.stderr].map((stream) => new Promise((resolve) => stream?.once('close', resolve)));
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  await Promise.all(closed);
  watchOutput(child.spawnargs.join(' '), printed);
  return { code, ...printed };
}

export function runFile(file: string, parameters: readonly string[], env?: Record<string, string>): Promise<Ended> {
  return startFile(file, parameters, env).ended;
}

/** Waits for output that matches the pattern. If the process ends first, throws an error with all its output. */
export async function untilPrinted({ child, printed }: Running, pattern: RegExp): Promise<RegExpExecArray> {
  const ask = () => {
    // The last output of a process may arrive after its end.
    const hasEnded = (child.exitCode !== null || child.signalCode !== null) && child.stdout?.closed !== false;
    const found = pattern.exec(printed.stdout);
    if (found === null && hasEnded)
      throw new Error(`Ended early (${child.exitCode ?? child.signalCode}):\n${printed.stdout}${printed.stderr}`);
    return found;
  };
  return until(`${pattern} to be printed`, ask);
}

/** Waits until a program is ready. If the program ends first, throws an error with its output. */
export async function untilReady(
  { child, printed }: Running,
  { name, isReady }: { readonly name: string; readonly isReady: () => Promise<boolean> },
): Promise<void> {
  await until(`${name} to be ready`, () => {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${name} does not start: ${printed.stdout}${printed.stderr}`);
    return isReady();
  });
}

/** Kills the process like a crash, if it still runs. */
export async function kill({ child, ended }: Pick<Running, 'child' | 'ended'>): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}
