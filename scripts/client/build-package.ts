import { copyFile, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { root, runNpm, runTool } from '../tool.ts';
import { describePackage } from './package-files.ts';

/** Writes the files of the package `charter-client` into the folder. */
export async function buildPackage(folder: string): Promise<void> {
  const manifest = await readManifest();
  await mkdir(folder, { recursive: true });
  await compile(folder);
  await bundleParser(folder);
  await copyFile(join(root, 'generated/openapi.d.ts'), join(folder, 'openapi.d.ts'));
  await describePackage(folder, { manifest, readme: 'src/client/README.md' });
}

async function compile(folder: string): Promise<void> {
  // The import command and the client have different compiler configurations: only the command may use the types of Node.
  for (const project of ['src/client', 'src/client/import']) {
    const parameters = ['--project', join(root, project), '--outDir', folder];
    await runTool('tsc', parameters, `The client does not compile. Fix the errors above, in ${project}/.`);
  }
  const declarations = (await readdir(folder)).filter((name) => name.endsWith('.d.ts'));
  await Promise.all(declarations.map((name) => rewriteImports(join(folder, name))));
}

/** The files of csv-parse that `charter-import` loads, which are a seventh of csv-parse. */
const LOADED = ['LICENSE', 'lib/index.js', 'lib/api', 'lib/utils'];

/**
 * Copies csv-parse into the package. As a dependency, all of csv-parse would be installed even for programs that import no files.
 */
async function bundleParser(folder: string): Promise<void> {
  const path = 'node_modules/csv-parse';
  const [from, to] = [join(root, path), join(folder, path)];
  for (const name of LOADED) await cp(join(from, name), join(to, name), { recursive: true });
  const { name, version, license, type } = JSON.parse(await readFile(join(from, 'package.json'), 'utf8'));
  const manifest = { name, version, license, type, exports: './lib/index.js' };
  await writeFile(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Rewrites the extensions of imports in a declaration file. The compiler does this only in JavaScript files. */
async function rewriteImports(file: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  const rewritten = text
    .replaceAll(/ from '\.\.\/\.\.\/generated\/openapi\.d\.ts';/g, " from './openapi.js';")
    .replaceAll(/ from '(\.\/[\w-]+)\.ts';/g, " from '$1.js';");
  await writeFile(file, rewritten);
}

async function readManifest() {
  const ours = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const contract = JSON.parse(await readFile(join(root, 'generated/openapi.json'), 'utf8'));
  return {
    name: 'charter-client',
    // The version of the contract from which the client's types are generated.
    version: contract.info.version,
    description: "A typed client of Charter's API",
    license: ours.license,
    type: 'module',
    exports: {
      '.': { types: './charter-client.d.ts', default: './charter-client.js' },
      './webhooks': { types: './webhooks.d.ts', default: './webhooks.js' },
    },
    types: './charter-client.d.ts',
    bin: { 'charter-import': './import/charter-import.js' },
    sideEffects: false,
    engines: { node: '>=20' },
    dependencies: { 'csv-parse': ours.dependencies['csv-parse'], 'openapi-fetch': ours.dependencies['openapi-fetch'] },
    bundleDependencies: ['csv-parse'],
  };
}

/**
 * Builds a package in generated/<name> and packs it as generated/charter-<name>-<version>.tgz. First removes earlier packages of
 * this name. Returns a text with the path of the tarball and its size.
 */
export async function packIntoGenerated(name: string, build: (folder: string) => Promise<void>): Promise<string> {
  const generated = join(root, 'generated');
  const isOld = (file: string) => file === name || (file.startsWith(`charter-${name}-`) && file.endsWith('.tgz'));
  const old = (await readdir(generated)).filter(isOld);
  await Promise.all(old.map((file) => rm(join(generated, file), { recursive: true })));
  await build(join(generated, name));
  const tarball = await pack(join(generated, name), generated);
  return `${relative(root, tarball)}: ${((await stat(tarball)).size / 1024).toFixed(1)} KiB`;
}

/** Packs the package in `folder` with npm, offline. Returns the path of the tarball in `destination`. */
export async function pack(folder: string, destination: string): Promise<string> {
  const [{ filename }] = JSON.parse(
    await runNpm(['pack', '--json', '--ignore-scripts', '--pack-destination', destination], folder),
  );
  return join(destination, filename);
}
