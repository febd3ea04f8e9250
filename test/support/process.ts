import { type ChildProcess, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { until } from './wait.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Some serve all tests of a file, which a slow machine takes minutes for. */
const LIFE_SECONDS = 900;

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type Running = {
  readonly child: ChildProcess;
  /** What it has printed so far. */
  readonly printed: { stdout: string; stderr: string };
  /** Resolves when it has ended and all that it printed has arrived. */
  readonly ended: Promise<Ended>;
};

/** Runs a file, ours or by its absolute path, with this very Node, in an environment of nothing but `env` and the path. */
export function startFile(
  file: string,
  parameters: readonly string[],
  env: Record<string, string> = {},
  { lifeSeconds = LIFE_SECONDS }: { lifeSeconds?: number } = {},
): Running {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', resolve(ROOT, file), ...parameters], {
    cwd: ROOT,
    // What a copy of the tree compiles would stay in node_modules, which copies share.
    env: { PATH: process.env['PATH'], NODE_DISABLE_COMPILE_CACHE: '1', ...env },
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    // A test that has failed by its own limit must not leave a process behind.
    ...{ timeout: lifeSeconds * 1000, killSignal: 'SIGKILL' },
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => {
    printed.stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    printed.stderr += chunk;
  });
  return { child, printed, ended: endOf(child, printed) };
}

/** Not the event "close", which never comes once the channel to the process was closed from here. */
async function endOf(child: ChildProcess, printed: { stdout: string; stderr: string }): Promise<Ended> {
  const closed = [child.stdout, child.stderr].map((stream) => new Promise((resolve) => stream?.once('close', resolve)));
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  await Promise.all(closed);
  return { code, ...printed };
}

export function runFile(file: string, parameters: readonly string[], env?: Record<string, string>): Promise<Ended> {
  return startFile(file, parameters, env).ended;
}

/** Waits for something to be printed; fails with all that was printed should the process end before. */
export async function untilPrinted({ child, printed }: Running, pattern: RegExp): Promise<RegExpExecArray> {
  const ask = () => {
    const found = pattern.exec(printed.stdout);
    if (found === null && child.exitCode !== null) throw new Error(`Ended early:\n${printed.stdout}${printed.stderr}`);
    return found;
  };
  // A start takes a second on an idle machine, and a dozen on one that runs the other tests meanwhile.
  return until(`${pattern} to be printed`, ask, { seconds: 120 });
}

/** Ends it at once, as a crash would, should it still run. */
export async function kill({ child, ended }: Running): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}
