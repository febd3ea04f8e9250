// Builds the documentation from the contract and the guides, as static files that also work without a server.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../tool.ts';
import { buildDocs } from './build.ts';
import { readContract } from './contract.ts';

const folder = join(root, 'generated/docs');

try {
  const pages = await buildDocs(root, await readContract(join(root, 'generated/openapi.json')));
  const documents = await Promise.all(['openapi.json', 'openapi.yaml'].map(readDocument));
  await mkdir(folder, { recursive: true });
  await Promise.all([...Object.entries(pages), ...documents].map(([name, text]) => publish(name, text)));
  process.stdout.write('generated/docs/index.html and generated/docs/plain.html are built.\n');
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function readDocument(name: string): Promise<[string, string]> {
  return [name, await readFile(join(root, 'generated', name), 'utf8')];
}

/** Replaces the file atomically: readers get the old file or the new one. */
async function publish(name: string, text: string): Promise<void> {
  const temporary = join(folder, `.${name}.${process.pid}`);
  await writeFile(temporary, text);
  await rename(temporary, join(folder, name));
}
