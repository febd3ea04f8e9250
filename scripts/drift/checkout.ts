import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTemporaryPostgres, type TemporaryPostgres } from '../temporary-postgres.ts';
import { root } from '../tool.ts';
import type { Edit, Fault } from './fault.ts';
import { run } from './running.ts';

const NOT_COPIED = new Set(['.git', '.data', '.node', 'node_modules']);
/** The artifacts of `npm run dist`, which are large. */
const ARTIFACTS = join(root, 'generated/dist');
const GENERATED = ['generated', 'openapi/released', 'openapi/CHANGELOG.md'];

/** A copy of the tree, in which faults are planted. */
export type Checkout = {
  readonly folder: string;
  /** For files that a check writes outside `folder`. */
  readonly scratch: string;
  /** The URL of the checkout's own PostgreSQL, with the password. The first call starts it; all test runs share it. */
  databaseUrl(): Promise<string>;
  /** Returns a function that removes the fault again. Throws if the fault does not fit the code. */
  plant(fault: Fault): Promise<() => Promise<void>>;
  remove(): Promise<void>;
};

export async function makeCheckout(): Promise<Checkout> {
  const scratch = await mkdtemp(join(tmpdir(), 'charter-drift-'));
  const folder = join(scratch, 'charter');
  await mkdir(folder);
  const names = (await readdir(root)).filter((name) => !NOT_COPIED.has(name));
  await Promise.all(names.map((name) => copy(folder, name)));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  let postgres: Promise<TemporaryPostgres> | undefined;
  return {
    folder,
    scratch,
    async databaseUrl() {
      postgres ??= startTemporaryPostgres();
      return (await postgres).url;
    },
    plant: (fault) => plant(folder, fault),
    async remove() {
      const started = await postgres?.catch(() => undefined);
      await started?.end();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

/** Copies a file or a folder of the tree to the same path in the checkout. */
async function copy(folder: string, path: string): Promise<void> {
  await cp(join(root, path), join(folder, path), { recursive: true, filter: (source) => source !== ARTIFACTS });
}

async function plant(folder: string, { edits, afterwards }: Fault): Promise<() => Promise<void>> {
  const restore = async () => {
    const generated = afterwards === undefined ? [] : GENERATED;
    // A release adds a file.
    if (afterwards === 'generate and release') await rm(join(folder, 'openapi/released'), { recursive: true });
    for (const path of new Set([...edits.map(({ file }) => file), ...generated])) await copy(folder, path);
  };
  try {
    for (const edit of edits) await applyEdit(folder, edit);
    if (afterwards === 'build the docs') await succeed(folder, ['scripts/docs/main.ts']);
    else if (afterwards !== undefined) await succeed(folder, ['scripts/generate/main.ts']);
    if (afterwards === 'generate and release') await succeed(folder, ['scripts/release-contract/main.ts']);
  } catch (error) {
    await restore();
    throw error;
  }
  return restore;
}

async function applyEdit(folder: string, { file, find, replace }: Edit): Promise<void> {
  const text = await readFile(join(folder, file), 'utf8');
  const times = text.split(find).length - 1;
  if (times !== 1)
    throw new Error(`The text to replace occurs ${times} times in ${file}, not once. Update the planted fault.`);
  await writeFile(
    join(folder, file),
    text.replace(find, () => replace),
  );
}

async function succeed(folder: string, parameters: readonly string[]): Promise<void> {
  const { code, printed } = await run(folder, parameters);
  if (code !== 0) throw new Error(`${parameters.join(' ')} failed:\n${printed}`);
}
