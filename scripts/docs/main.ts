// Builds the documentation from the contract and the guides, as static files that also work without a server, and what it
// links to: the contract, the Postman collection and the client's package.
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from '../client/build-package.ts';
import { pack } from '../client/pack.ts';
import { beginStamp } from '../stamps.mjs';
import { root } from '../tool.ts';
import { buildDocs } from './build.ts';
import { readContract } from './contract.ts';

const folder = join(root, 'generated/docs');

const stamp = beginStamp('docs');
try {
  const [pages, client, ...documents] = await Promise.all([
    buildDocs(root, await readContract(join(root, 'generated/openapi.json'))),
    packClient(),
    ...['openapi.json', 'openapi.yaml', 'postman.json'].map(readDocument),
  ]);
  await mkdir(folder, { recursive: true });
  const files: readonly [string, string | Buffer][] = [...Object.entries(pages), client, ...documents];
  await Promise.all(files.map(([name, content]) => publish(name, content)));
  stamp();
  process.stdout.write('generated/docs/index.html and generated/docs/plain.html are built.\n');
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function readDocument(name: string): Promise<[string, string]> {
  return [name, await readFile(join(root, 'generated', name), 'utf8')];
}

async function packClient(): Promise<[string, Buffer]> {
  const temporary = await mkdtemp(join(tmpdir(), 'charter-client-'));
  try {
    const built = join(temporary, 'client');
    await buildPackage(built);
    return ['charter-client.tgz', await readFile(await pack(built, temporary))];
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Replaces the file atomically: readers get the old file or the new one. */
async function publish(name: string, content: string | Buffer): Promise<void> {
  const temporary = join(folder, `.${name}.${process.pid}`);
  await writeFile(temporary, content);
  await rename(temporary, join(folder, name));
}
