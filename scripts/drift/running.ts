import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

/** A lie can make a check wait for ever. The longest that ends, on a busy machine, is half of all tests without any lie. */
const LIMIT_SECONDS = 600;

export type Ran = { readonly code: number | null; readonly printed: string };

const running = new Set<ChildProcess>();
let isEnded = false;

/** Somebody wants no more of it. */
export class Interruption extends Error {}

/** What has ended meanwhile has not ended by itself, and says nothing. */
export function throwIfInterrupted(): void {
  if (isEnded) throw new Interruption('Interrupted.');
}

/** This very Node on a file of the folder. */
export function start(folder: string, parameters: readonly string[], options: SpawnOptions = {}): ChildProcess {
  throwIfInterrupted();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...parameters], {
    ...{ cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], ...options },
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
  const child = start(folder, parameters, { env: { ...process.env, ...env } });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => (printed += text));
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_SECONDS * 1000);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(limit);
  throwIfInterrupted();
  return { code, printed };
}

/** Ends what runs, and lets nothing more begin. SIGINT, which lets a check put its own PostgreSQL away. */
export function endAll(): void {
  isEnded = true;
  for (const child of running) child.kill('SIGINT');
}
