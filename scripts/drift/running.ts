import { dirname, join } from 'node:path';
import { signalGroup, startChild, throwIfInterrupted } from '../child.ts';

/** A fault can make a check hang. The longest check that ends is half of all tests, without a fault, on a busy machine. */
const LIMIT_SECONDS = 600;

export type Ran = { readonly code: number | null; readonly printed: string };

/** Runs a script of the folder. Throws an `Interruption` if the run is stopped meanwhile. */
export async function run(
  folder: string,
  parameters: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  // Beside the folder, because the cache would keep what was compiled for a folder that is deleted.
  const cache = { NODE_COMPILE_CACHE: join(dirname(folder), 'compiled') };
  const child = startChild(['--disable-warning=ExperimentalWarning', ...parameters], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...cache, ...env },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => (printed += text));
  const limit = setTimeout(() => signalGroup(child, 'SIGKILL'), LIMIT_SECONDS * 1000);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(limit);
  throwIfInterrupted();
  return { code, printed };
}
