// Records the sources of the generated files in stamps, so that nothing is generated without need. This is plain JavaScript, like
// run.mjs.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The groups of files that are generated together: the file of the stamp, the sources, and the generated files. */
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

/** Returns whether the sources and the generated files are all unchanged since the files were generated. */
export function isFresh(group) {
  const stamp = join(root, GROUPS[group].stamp);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === stampText(group, sourcesDigest(group));
}

/**
 * Reads the sources before the files are generated. Returns a function that writes the stamp after the files have been generated.
 */
export function beginStamp(group) {
  // If the sources change during the generation, the files are stale, so the digest is computed before it.
  const sources = sourcesDigest(group);
  return () => writeFileSync(join(root, GROUPS[group].stamp), stampText(group, sources));
}

/** Returns the SHA-256 of the names and contents of files, in hexadecimal. A missing file counts as empty. */
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

/** Returns the guides outside the folder of the guides. */
function guideFiles() {
  const list = readFileSync(join(root, 'openapi/guides/guides.yaml'), 'utf8');
  return [...list.matchAll(/^- \S+: (\S+)$/gm)].map(([, file]) => file);
}

export function docsSources() {
  return [
    'LICENSE',
    'package.json',
    'package-lock.json',
    'generated/openapi.json',
    'generated/openapi.yaml',
    'generated/openapi.d.ts',
    'generated/postman.json',
    'scripts/tool.ts',
    ...guideFiles(),
    // The published mock contains code of the server.
    ...['openapi/guides', 'scripts/client', 'scripts/docs', 'scripts/mcp', 'scripts/mock', 'src'].flatMap(filesIn),
  ];
}

function filesIn(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1))
    .sort();
}
