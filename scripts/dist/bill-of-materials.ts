import { createHash } from 'node:crypto';
import { packageOf, readManifest } from './packages.ts';

type Component = {
  readonly type: 'library';
  readonly 'bom-ref': string;
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly { readonly license: { readonly id: string } | { readonly name: string } }[];
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[];
};

/** Licenses by their identifiers of SPDX; any other text is a name. */
const SPDX = /^(MIT|MIT-0|ISC|0BSD|Unlicense|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0|Python-2\.0|CC0-1\.0)$/;

/**
 * The packages that these files belong to, in the JSON of CycloneDX 1.6. The same files give the same text: it has no
 * time, and its serial number is derived from the rest.
 */
export function billOfMaterials(files: readonly string[], version: string): string {
  const locked = Object(readManifest('package-lock.json')['packages']);
  const folders = new Set(files.map(packageOf).filter((folder) => folder !== null));
  const packages = [...folders].toSorted().map((folder) => ({ folder, component: componentOf(folder, locked) }));
  // A package that is installed twice at one version is one component.
  const components = new Map(packages.map(({ component }) => [component['bom-ref'], component]));
  const application = `pkg:npm/charter@${version}`;
  const refs = new Map(packages.map(({ folder, component }) => [folder, component['bom-ref']]));
  const dependencies = new Map([[application, dependenciesOf('', refs)]]);
  for (const { folder, component } of packages) {
    const known = dependencies.get(component['bom-ref']) ?? [];
    dependencies.set(component['bom-ref'], [...new Set([...known, ...dependenciesOf(folder, refs)])].toSorted());
  }
  const bill = {
    metadata: {
      component: { type: 'application', 'bom-ref': application, name: 'charter', version, purl: application },
    },
    components: [...components.values()],
    dependencies: [...dependencies].map(([ref, dependsOn]) => ({ ref, dependsOn })),
  };
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(bill))}`;
  return `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, version: 1, ...bill }, null, 2)}\n`;
}

/** `locked`: what npm has installed, by folder. */
function componentOf(folder: string, locked: Readonly<Record<string, unknown>>): Component {
  const manifest = readManifest(`${folder}/package.json`);
  const [name, version] = [String(manifest['name']), String(manifest['version'])];
  const [group] = name.startsWith('@') ? name.split('/') : [];
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const license = typeof manifest['license'] === 'string' ? manifest['license'] : 'see the package';
  const integrity = Object(locked[folder]).integrity;
  return {
    type: 'library',
    'bom-ref': purl,
    ...(group === undefined ? {} : { group }),
    name: group === undefined ? name : name.slice(group.length + 1),
    version,
    purl,
    licenses: [{ license: SPDX.test(license) ? { id: license } : { name: license } }],
    ...(typeof integrity === 'string' && integrity.startsWith('sha512-')
      ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') }] }
      : {}),
  };
}

/** The packages that a package names and that are in the artifact, found as Node finds them. */
function dependenciesOf(folder: string, refs: ReadonlyMap<string, string>): string[] {
  const manifest = readManifest(folder === '' ? 'package.json' : `${folder}/package.json`);
  const kinds = ['dependencies', 'optionalDependencies', 'peerDependencies', 'peerDependenciesMeta'];
  const names = kinds.flatMap((kind) => Object.keys(Object(manifest[kind])));
  return [...new Set(names.flatMap((name) => refOf(name, folder, refs)))].toSorted();
}

function refOf(name: string, from: string, refs: ReadonlyMap<string, string>): string[] {
  const found = refs.get(`${from === '' ? '' : `${from}/`}node_modules/${name}`);
  if (found !== undefined || from === '') return found === undefined ? [] : [found];
  return refOf(name, packageOf(from.slice(0, from.lastIndexOf('node_modules/'))) ?? '', refs);
}

/** A UUID (version 8, RFC 9562 section 5.8) of a text. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(18, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
