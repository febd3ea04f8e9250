import { dirname, join } from 'node:path';
import { signalGroup, startChild, throwIfInterrupted } from '../child.ts';

/** The time after which a check counts as hanging. Most of all tests, on a slow and busy machine, end sooner. */
const LIMIT_MINUTES = 40;

export type Ran = { readonly code: number | null; readonly printed: string };

/** Runs a script of the folder. Throws if it hangs, and an `Interruption` if the run is stopped meanwhile. */
export async function run(
  folder: string,
  parameters: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  // The cache is beside the folder, because the usual one would keep what was compiled for a folder that is deleted.
  const cache = { NODE_COMPILE_CACHE: join(dirname(folder), 'compiled') };
  const child = startChild(['--disable-warning=ExperimentalWarning', ...parameters], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...cache, ...env },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => (printed += text));
  let isTooLate = false;
  const limit = setTimeout(() => {
    isTooLate = true;
    signalGroup(child, 'SIGKILL');
  }, LIMIT_MINUTES * 60_000);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(limit);
  throwIfInterrupted();
  if (isTooLate) throw new Error(`${parameters.join(' ')} had not ended after ${LIMIT_MINUTES} minutes:\n${printed}`);
  return { code, printed };
}
