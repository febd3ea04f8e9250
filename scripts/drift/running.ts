import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';

/** A fault can make a check hang. The longest check that ends is half of all tests, without a fault, on a busy machine. */
const LIMIT_SECONDS = 600;

export type Ran = { readonly code: number | null; readonly printed: string };

const running = new Set<ChildProcess>();
let isEnded = false;

/** The user has stopped the run. */
export class Interruption extends Error {}

/** Throws an `Interruption` after `endAll`: the output of a process that was stopped proves nothing. */
export function throwIfInterrupted(): void {
  if (isEnded) throw new Interruption('Interrupted.');
}

/** Runs a script of the folder with the current Node. */
export function start(folder: string, parameters: readonly string[], options: SpawnOptions = {}): ChildProcess {
  throwIfInterrupted();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...parameters], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

export async function run(
  folder: string,
  parameters: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  // Beside the folder, because the cache would keep what was compiled for a folder that is deleted.
  const cache = { NODE_COMPILE_CACHE: join(dirname(folder), 'compiled') };
  const child = start(folder, parameters, { env: { ...process.env, ...cache, ...env } });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => (printed += text));
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_SECONDS * 1000);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(limit);
  throwIfInterrupted();
  return { code, printed };
}

/** Stops all running processes and prevents new ones. SIGINT lets a check stop its own PostgreSQL first. */
export function endAll(): void {
  isEnded = true;
  for (const child of running) child.kill('SIGINT');
}
