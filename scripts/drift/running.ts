import { type ChildProcess, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { codeOf } from '../../src/store/error-code.ts';

/** A fault can make a check hang. The longest check that ends is half of all tests, without a fault, on a busy machine. */
const LIMIT_SECONDS = 600;

export type Ran = { readonly code: number | null; readonly printed: string };

const running = new Set<ChildProcess>();
let isEnded = false;

/** The user has stopped the run. */
export class Interruption extends Error {}

/** Throws an `Interruption` after `endAll`: the output of a process that was stopped proves nothing. */
function throwIfInterrupted(): void {
  if (isEnded) throw new Interruption('Interrupted.');
}

/** Starts a script of the folder with the current Node, in a process group of its own. */
function start(folder: string, parameters: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  throwIfInterrupted();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...parameters], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
    detached: true,
  });
  running.add(child);
  child.once('exit', () => {
    running.delete(child);
    // A fault can leave processes behind, such as a server that npm no longer stops.
    signalGroup(child, 'SIGKILL');
  });
  return child;
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // No process of the group is left.
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

export async function run(
  folder: string,
  parameters: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  // Beside the folder, because the cache would keep what was compiled for a folder that is deleted.
  const cache = { NODE_COMPILE_CACHE: join(dirname(folder), 'compiled') };
  const child = start(folder, parameters, { ...process.env, ...cache, ...env });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => (printed += text));
  const limit = setTimeout(() => signalGroup(child, 'SIGKILL'), LIMIT_SECONDS * 1000);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(limit);
  throwIfInterrupted();
  return { code, printed };
}

/** Stops all running processes and prevents new ones. SIGINT lets a check stop its own PostgreSQL first. */
export function endAll(): void {
  isEnded = true;
  for (const child of running) signalGroup(child, 'SIGINT');
}
