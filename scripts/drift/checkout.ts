import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeCluster } from '../../src/postgres/embedded-cluster.ts';
import { joinEmbeddedPostgres } from '../../src/postgres/embedded-postgres.ts';
import { byOrder, parseVersion, written } from '../release-contract/version.ts';
import { root } from '../tool.ts';
import type { Edit, Lie } from './lie.ts';
import { run } from './running.ts';

const OF_THE_MACHINE = new Set(['.git', '.data', '.node', 'node_modules']);
const MADE_AFTERWARDS = ['generated', 'openapi/released', 'openapi/CHANGELOG.md'];

/** A copy of the tree, to lie in. */
export type Checkout = {
  readonly folder: string;
  /** For what a check writes besides. */
  readonly scratch: string;
  /** Its own PostgreSQL, which its runs of tests share; holds the password. */
  readonly databaseUrl: string;
  /** Undone by the function that it returns. */
  plant(lie: Lie): Promise<() => Promise<void>>;
  remove(): Promise<void>;
};

export async function makeCheckout(): Promise<Checkout> {
  const scratch = await mkdtemp(join(tmpdir(), 'charter-drift-'));
  // As root, PostgreSQL runs as another user, who must be able to reach the folder.
  await chmod(scratch, 0o755);
  const folder = join(scratch, 'charter');
  await mkdir(folder);
  const names = (await readdir(root)).filter((name) => !OF_THE_MACHINE.has(name));
  await Promise.all(names.map((name) => cp(join(root, name), join(folder, name), { recursive: true })));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const postgres = await joinEmbeddedPostgres({
    dataDir: join(scratch, 'data'),
    postgresSettings: { fsync: 'off', full_page_writes: 'off', max_connections: '300' },
  });
  return {
    ...{ folder, scratch },
    databaseUrl: postgres.url,
    plant: (lie) => plant(folder, lie),
    async remove() {
      await postgres.leave();
      await removeCluster(join(scratch, 'data'));
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

async function plant(folder: string, { edits, afterwards }: Lie): Promise<() => Promise<void>> {
  const restore = async () => {
    const made = afterwards === undefined ? [] : MADE_AFTERWARDS;
    for (const path of new Set([...edits.map(({ file }) => file), ...made]))
      await cp(join(root, path), join(folder, path), { recursive: true });
  };
  try {
    for (const edit of edits) await write(folder, edit);
    if (afterwards === 'build the docs') await succeed(folder, ['scripts/docs/main.ts']);
    else if (afterwards !== undefined) await succeed(folder, ['scripts/generate/main.ts']);
    if (afterwards === 'generate and release') {
      await rm(await lastReleased(folder));
      await succeed(folder, ['scripts/release-contract/main.ts']);
    }
  } catch (error) {
    await restore();
    throw error;
  }
  return restore;
}

async function lastReleased(folder: string): Promise<string> {
  const names = await readdir(join(folder, 'openapi/released'));
  const versions = names.flatMap((name) => parseVersion(name.replace(/\.yaml$/, '')) ?? []).sort(byOrder);
  const last = versions.at(-1);
  if (last === undefined) throw new Error('nothing is published yet.');
  return join(folder, 'openapi/released', `${written(last)}.yaml`);
}

async function write(folder: string, { file, find, replace }: Edit): Promise<void> {
  const text = await readFile(join(folder, file), 'utf8');
  const times = text.split(find).length - 1;
  if (times !== 1) throw new Error(`Its text stands ${times} times in ${file}, not once. Mend the lie.`);
  await writeFile(
    join(folder, file),
    text.replace(find, () => replace),
  );
}

async function succeed(folder: string, parameters: readonly string[]): Promise<void> {
  const { code, printed } = await run(folder, parameters);
  if (code !== 0) throw new Error(`${parameters.join(' ')} refuses it:\n${printed}`);
}
