// Records what the generated files were made from, so that nothing is generated twice. Plain JavaScript, like run.mjs.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Files that are generated together: the file of their stamp, their sources, and the files themselves. */
const GROUPS = {
  committed: {
    stamp: 'generated/.charter-committed',
    sources: contractSources,
    outputs: () => ['generated/openapi.yaml', 'generated/openapi.json', 'generated/openapi.d.ts'],
  },
  uncommitted: {
    stamp: 'generated/.charter-uncommitted',
    sources: contractSources,
    outputs: () => ['generated/openapi.dereferenced.json', 'generated/postman.json', 'generated/prisma/client.ts'],
  },
  docs: {
    stamp: 'generated/docs/.charter-docs',
    sources: docsSources,
    outputs: () => filesIn('generated/docs').filter((name) => !name.endsWith('/.charter-docs')),
  },
};

/** Whether the files are unchanged since they were generated from the present content of their sources. */
export function isFresh(group) {
  const stamp = join(root, GROUPS[group].stamp);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === stampText(group, sourcesDigest(group));
}

/** Call it before the files are generated, and the function that it returns afterwards. */
export function beginStamp(group) {
  // Sources that change meanwhile make the files stale.
  const sources = sourcesDigest(group);
  return () => writeFileSync(join(root, GROUPS[group].stamp), stampText(group, sources));
}

/** SHA-256 of the names and contents of files, in hexadecimal. A file that does not exist counts as empty. */
export function digest(files) {
  const hash = createHash('sha256');
  for (const file of files) {
    const path = join(root, file);
    hash.update(file).update('\0');
    if (existsSync(path)) hash.update(readFileSync(path));
    hash.update('\0');
  }
  return hash.digest('hex');
}

function stampText(group, sources) {
  return `${sources} ${digest(GROUPS[group].outputs())}`;
}

function sourcesDigest(group) {
  return digest(GROUPS[group].sources());
}

function contractSources() {
  return [
    'package-lock.json',
    'prisma/schema.prisma',
    'redocly.yaml',
    'scripts/bundle.ts',
    'scripts/tool.ts',
    'openapi/openapi.yaml',
    ...['scripts/generate', 'openapi/paths', 'openapi/webhooks', 'openapi/components'].flatMap(filesIn),
  ];
}

function docsSources() {
  return [
    'LICENSE',
    'package.json',
    'package-lock.json',
    'generated/openapi.json',
    'generated/openapi.yaml',
    'generated/openapi.d.ts',
    'generated/postman.json',
    'scripts/tool.ts',
    // The published mock contains the server's own code.
    ...['openapi/guides', 'scripts/client', 'scripts/docs', 'scripts/mock', 'src'].flatMap(filesIn),
  ];
}

function filesIn(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1))
    .sort();
}
