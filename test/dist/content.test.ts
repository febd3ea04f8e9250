import { execFile } from 'node:child_process';
import { readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { billOfMaterials } from '../../scripts/dist/bill-of-materials.ts';
import { type Content, versionOf } from '../../scripts/dist/content.ts';
import { writeTar } from '../../scripts/dist/tar.ts';
import { filesLoadedBy, packageOf, readManifest } from '../../scripts/dist/traced.ts';
import { useFolder } from '../support/folder.ts';

const folder = await useFolder();

/** Dependencies with which `npm start` generates code and documentation. The artifact contains the results instead. */
const GENERATING = [
  ...['@redocly/cli', 'csv-parse', 'markdown-it', 'openapi-fetch', 'openapi-to-postmanv2', 'openapi-typescript'],
  ...['prisma', 'typescript', 'typescript-native'],
];

test.each([
  ['1.0.0', '# Changelog\n\n## Unreleased\n\n## 1.0.0 (2026-11-01)\n\n- All.\n', '0a1b2c3'],
  ['1.1.0-dev.0a1b2c3', '# Changelog\n\n## Unreleased\n\nThe API:\n\n- More.\n\n## 1.0.0 (2026-11-01)\n', '0a1b2c3'],
  ['1.1.0-dev', '# Changelog\n\n## Unreleased\n\n- More.\n\n## 1.0.0 (2026-11-01)\n', ''],
])('an artifact is called %s if the changelog says so', (version, changelog, commit) => {
  expect(versionOf({ released: '1.0.0', changelog, commit })).toBe(version);
});

// If the list lacked a file, the artifact would lack the file, too, and the server would fail when it loads the file.
test('everything that the server and the admin command can load is known', async () => {
  const files = await filesLoadedBy(['src/main.ts', 'scripts/admin/main.ts']);
  expect(files).toEqual(expect.arrayContaining(['src/welcome.ts', 'src/postgres/schema-engine.ts', 'prisma/seed.ts']));
  const packages = new Set(files.map(packageOf).filter((each) => each !== null));
  const names = [...packages].map((each) => each.replace(/^.*node_modules\//, ''));
  expect(names).toEqual(
    expect.arrayContaining(['express', '@prisma/client', '@prisma/schema-engine-wasm', 'commander']),
  );
  const { devDependencies } = readManifest('package.json');
  expect(names.filter((name) => name in Object(devDependencies) || GENERATING.includes(name))).toEqual([]);
  expect(files.filter((file) => /(\.d\.ts|\.map)$|query_compiler.*(mysql|sqlite)/.test(file))).toEqual([]);

  // Only a small part of these packages may be included: they have 20 MB, mostly source maps and modules in other formats.
  const ofTraces = files.filter((file) => file.includes('/@opentelemetry/'));
  const sizes = await Promise.all(ofTraces.map(async (file) => (await stat(file)).size));
  expect(ofTraces).toContain('node_modules/@opentelemetry/sdk-trace/dist/index.mjs');
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_000_000);

  const bill: Bill = JSON.parse(await billOfMaterials(files, '1.2.3'));
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' });
  expect(await billOfMaterials(files, '1.2.3')).toBe(JSON.stringify(bill, null, 2).concat('\n'));
  expect(bill.components.length).toBe(new Set(bill.components.map((each) => each['bom-ref'])).size);
  const { version } = readManifest('node_modules/express/package.json');
  expect(bill.components).toContainEqual(
    expect.objectContaining({
      'bom-ref': `express@${version}`,
      purl: `pkg:npm/express@${version}`,
      licenses: [{ license: { id: 'MIT' } }],
      hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
    }),
  );
  const refs = new Set(bill.components.map((each) => each['bom-ref']));
  const needed = new Set(bill.dependencies.flatMap(({ dependsOn }) => dependsOn));
  // Each component except supports-color must be needed by another component: npm does not know that debug loads supports-color
  // if it is installed.
  expect([...refs].filter((ref) => !needed.has(ref))).toEqual([expect.stringMatching(/^supports-color@/)]);
  expect([...needed].filter((ref) => !refs.has(ref))).toEqual([]);
});

type Bill = {
  readonly components: readonly { readonly 'bom-ref': string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
};

test('tar unpacks the archive with its modes, links and long paths', async () => {
  const deep = `${'a-folder-with-a-long-name/'.repeat(5)}file.txt`;
  await writeFile(join(folder, 'source'), 'x'.repeat(1000));
  const content: Content = new Map([
    [deep, { kind: 'copy', source: join(folder, 'source'), mode: 0o644 }],
    ['bin/program', { kind: 'text', text: '#!/bin/sh\necho "It runs."\n', mode: 0o755 }],
    ['current', { kind: 'link', target: 'bin/program' }],
    ['empty', { kind: 'text', text: '', mode: 0o644 }],
  ]);
  await writeTar(join(folder, 'a.tar.gz'), 'charter', content);
  await promisify(execFile)('tar', ['-xzf', 'a.tar.gz'], { cwd: folder });
  expect((await stat(join(folder, 'charter', deep))).size).toBe(1000);
  expect((await stat(join(folder, 'charter/empty'))).mode & 0o777).toBe(0o644);
  expect(await readlink(join(folder, 'charter/current'))).toBe('bin/program');
  expect((await promisify(execFile)(join(folder, 'charter/current'))).stdout).toBe('It runs.\n');
});
