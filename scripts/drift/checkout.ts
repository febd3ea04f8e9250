import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Ran, runChild } from '../child.ts';
import { startTemporaryPostgres, type TemporaryPostgres } from '../temporary-postgres.ts';
import { root } from '../tool.ts';
import type { Edit } from './faults.ts';

const NOT_COPIED = new Set(['.git', '.data', '.node', 'node_modules']);
/** The folder of the artifacts of `npm run dist`. They are large, so the copies leave them out. */
const ARTIFACTS = join(root, 'generated/dist');

/** A copy of the checkout, in which faults are planted. */
export type Checkout = {
  readonly folder: string;
  /** The folder for files that a check writes outside `folder`. */
  readonly scratch: string;
  /**
   * Returns the URL of this checkout's own PostgreSQL, with the password. The first call starts PostgreSQL; all test runs share
   * it.
   */
  databaseUrl(): Promise<string>;
  remove(): Promise<void>;
};

export async function makeCheckout(): Promise<Checkout> {
  const scratch = await mkdtemp(join(tmpdir(), 'charter-drift-'));
  const folder = join(scratch, 'charter');
  await mkdir(folder);
  const names = (await readdir(root)).filter((name) => !NOT_COPIED.has(name));
  await Promise.all(
    names.map((name) =>
      cp(join(root, name), join(folder, name), { recursive: true, filter: (source) => source !== ARTIFACTS }),
    ),
  );
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  let postgres: Promise<TemporaryPostgres> | undefined;
  return {
    folder,
    scratch,
    async databaseUrl() {
      postgres ??= startTemporaryPostgres();
      return (await postgres).url;
    },
    async remove() {
      const started = await postgres?.catch(() => undefined);
      await started?.end();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

/**
 * Applies an edit in a checkout. Returns a function that reverts the edit. Throws if the text to replace does not occur exactly
 * once.
 */
export async function applyEdit(folder: string, { file, find, replace }: Edit): Promise<() => Promise<void>> {
  const path = join(folder, file);
  const text = await readFile(path, 'utf8');
  const times = text.split(find).length - 1;
  if (times !== 1)
    throw new Error(`The text to replace occurs ${times} times in ${file}, not once. Update the planted fault.`);
  await writeFile(
    path,
    text.replace(find, () => replace),
  );
  return () => writeFile(path, text);
}

/** The time after which a check counts as hanging, in minutes. Even on a slow, busy machine, most tests together take less. */
const LIMIT_MINUTES = 40;

/** Runs a script in the folder. Throws if the script hangs. Throws an `Interruption` if the run is stopped. */
export function run(
  folder: string,
  parameters: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  // The cache is beside the folder and is deleted with it. The usual cache would keep the compiled code of a deleted folder.
  const cache = { NODE_COMPILE_CACHE: join(dirname(folder), 'compiled') };
  return runChild(['--disable-warning=ExperimentalWarning', ...parameters], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...cache, ...env },
    limitMinutes: LIMIT_MINUTES,
  });
}
