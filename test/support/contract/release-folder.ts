// A checkout in which contract versions are published: our own commands, with a contract of the test.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { objectOf } from '../../../scripts/contract-diff/json.ts';
import type { Json } from '../../../src/contract/document.ts';
import { contract } from '../../contract/release/composed-cases.ts';
import { type Ended, runFile } from '../processes/process.ts';
import { type Planted, planted } from './planted.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** The configuration and the plugin with which Redocly bundles the contract. */
const LINT = 'openapi/lint';

export type ReleaseFolder = {
  readonly path: string;
  /** Writes the contract with these changes and this version, and runs the command. */
  readonly release: (number: string, plants: readonly Planted[], flags?: readonly string[]) => Promise<Ended>;
  /** Every file below openapi/ except the contract and the linter, with its content. */
  readonly files: () => Promise<Record<string, string>>;
};

/** A folder for the tests of a file. Each test begins without a published version. */
export async function useReleaseFolder(): Promise<ReleaseFolder> {
  const path = await mkdtemp(join(tmpdir(), 'charter-release-test-'));
  afterAll(() => rm(path, { recursive: true, force: true }));
  for (const name of ['scripts', 'src']) await cp(join(ROOT, name), join(path, name), { recursive: true });
  await cp(join(ROOT, 'package.json'), join(path, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(path, 'node_modules'));
  await mkdir(join(path, 'generated'));
  beforeEach(async () => {
    await rm(join(path, 'openapi'), { recursive: true, force: true });
    await mkdir(join(path, 'openapi'));
    await cp(join(ROOT, LINT), join(path, LINT), { recursive: true });
  });
  return {
    path,
    release: (...parameters) => release(path, ...parameters),
    files: async () => {
      const files = Object.entries(await filesIn(join(path, 'openapi')));
      return Object.fromEntries(files.filter(([name]) => name !== 'openapi.yaml' && !name.startsWith('lint/')));
    },
  };
}

async function release(
  path: string,
  number: string,
  plants: readonly Planted[],
  flags: readonly string[] = [],
): Promise<Ended> {
  const changed = planted(contract, plants);
  const document: Json = { ...changed, info: { ...objectOf(changed['info']), version: number } };
  // JSON is valid YAML.
  for (const file of ['generated/openapi.json', 'generated/openapi.yaml', 'openapi/openapi.yaml'])
    await writeFile(join(path, file), `${JSON.stringify(document, null, 2)}\n`);
  return runFile(join(path, 'scripts/release-contract/main.ts'), flags);
}

async function filesIn(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = files.sort().map(async (file) => [file.slice(folder.length + 1), await readFile(file, 'utf8')]);
  return Object.fromEntries(await Promise.all(read));
}
