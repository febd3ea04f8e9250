// Builds the documentation from the contract and the guides: a folder of static files, for any host or none.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildDocs } from './build.ts';
import { readContract } from './contract.ts';

const root = join(import.meta.dirname, '../..');
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

/** At once: whoever reads it meanwhile gets the old file or the new one. */
async function publish(name: string, text: string): Promise<void> {
  const written = join(folder, `.${name}.${process.pid}`);
  await writeFile(written, text);
  await rename(written, join(folder, name));
}
