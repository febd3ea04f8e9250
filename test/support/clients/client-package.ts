import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createPackageFromTarballData, type Package } from '@arethetypeswrong/core';
import { buildPackage, pack } from '../../../scripts/client/build-package.ts';
import { openFolder } from '../folder.ts';
import { type Ended, runFile } from '../processes/process.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TSC = join(ROOT, 'node_modules/typescript-native/bin/tsc');

/** Compiler options that are stricter than those of most users. */
const COMPILER_OPTIONS = {
  target: 'es2022',
  lib: ['es2022'],
  module: 'nodenext',
  types: ['node'],
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noUnusedLocals: true,
  noImplicitReturns: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
};

type PackedClient = {
  readonly tarball: Buffer;
  /** The contents of the tarball, as they are in `node_modules` after an installation. */
  readonly contents: Package;
  /** The files by path, such as "package.json". */
  readonly files: ReadonlyMap<string, string>;
};

/** Returns the client as `npm run client` packs it. The client is packed once for all test files of a run. */
export async function getPackedClient(): Promise<PackedClient> {
  const shared = join(process.env['CHARTER_TEST_FOLDER'] ?? '', 'charter-client.tgz');
  const known = await readFile(shared).catch(() => null);
  if (known !== null) return contentsOf(known);
  const packed = await packClient();
  // Replaces the file atomically, because another worker may read or replace it at the same time.
  await writeFile(`${shared}.${process.pid}`, packed.tarball);
  await rename(`${shared}.${process.pid}`, shared);
  return packed;
}

/** Packs the client again, as `npm run client` does. */
export async function packClient(): Promise<PackedClient> {
  await using folder = await openFolder();
  await buildPackage(join(folder.path, 'client'));
  return contentsOf(await readFile(await pack(join(folder.path, 'client'), folder.path)));
}

function contentsOf(tarball: Buffer): PackedClient {
  const contents = createPackageFromTarballData(tarball);
  const prefix = `/node_modules/${contents.packageName}/`;
  const paths = contents.listFiles().map((path) => path.slice(prefix.length));
  return { tarball, contents, files: new Map(paths.map((path) => [path, contents.readFile(prefix + path)])) };
}

type Scratch = {
  readonly folder: string;
  remove(): Promise<void>;
};

/**
 * Creates a folder with the client installed: the files of the tarball, and links to our own installation of its dependencies.
 */
export async function installClient({ files }: PackedClient): Promise<Scratch> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-integrator-'));
  const modules = join(folder, 'node_modules');
  for (const [path, text] of files) await write(join(modules, 'charter-client', path), text);
  await mkdir(join(modules, '@types'));
  for (const name of ['openapi-fetch', '@types/node']) {
    await symlink(join(ROOT, 'node_modules', name), join(modules, name), 'dir');
  }
  await write(join(folder, 'package.json'), JSON.stringify({ name: 'integrator', type: 'module' }));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/**
 * Compiles these files of the folder against the package's declarations. With `skipLibCheck`, the declarations themselves are not
 * checked, because checking those of Node takes longest. Calls without `skipLibCheck` check all declarations.
 */
export async function typeCheck(
  { folder }: Scratch,
  files: readonly string[],
  { skipLibCheck = false }: { skipLibCheck?: boolean } = {},
): Promise<Ended> {
  const compilerOptions = { ...COMPILER_OPTIONS, skipLibCheck };
  await write(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  return runFile(TSC, ['--project', folder]);
}

export async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
