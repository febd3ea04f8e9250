// The command `release-contract` in a checkout of its own: what it publishes, what it refuses, and what it leaves unchanged.
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { objectOf } from '../../../scripts/contract-diff/json.ts';
import type { Json } from '../../../src/contract/document.ts';
import { type Planted, plantIn, set } from '../../support/contract/planted.ts';
import { useFolder } from '../../support/folder.ts';
import { type Ended, runFile } from '../../support/processes/process.ts';
import { contract } from './composed-cases.ts';

// The checkout has the project's own commands and a contract of this test.

const ROOT = join(import.meta.dirname, '../../..');
/** The folder with the configuration and the plugin with which Redocly bundles the contract. */
const LINT = 'openapi/lint';

const path = await useFolder();
for (const name of ['scripts', 'src']) await cp(join(ROOT, name), join(path, name), { recursive: true });
await cp(join(ROOT, 'package.json'), join(path, 'package.json'));
await symlink(join(ROOT, 'node_modules'), join(path, 'node_modules'));
await mkdir(join(path, 'generated'));
// Removes what the test before has published.
beforeEach(async () => {
  await rm(join(path, 'openapi'), { recursive: true, force: true });
  await mkdir(join(path, 'openapi'));
  await cp(join(ROOT, LINT), join(path, LINT), { recursive: true });
});

/** Writes the contract with these changes and this version, and runs the command. */
async function release(number: string, plants: readonly Planted[], flags: readonly string[] = []): Promise<Ended> {
  const changed = plantIn(contract, plants);
  const document: Json = { ...changed, info: { ...objectOf(changed['info']), version: number } };
  // JSON is valid YAML.
  for (const file of ['generated/openapi.json', 'generated/openapi.yaml', 'openapi/openapi.yaml'])
    await writeFile(join(path, file), `${JSON.stringify(document, null, 2)}\n`);
  return runFile(join(path, 'scripts/release-contract/main.ts'), flags);
}

/** Returns the content of every file below openapi/, by file name, without the contract and the linter. */
async function files(): Promise<Record<string, string>> {
  const found = Object.entries(await filesIn(join(path, 'openapi')));
  return Object.fromEntries(found.filter(([name]) => name !== 'openapi.yaml' && !name.startsWith('lint/')));
}

async function filesIn(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = files.sort().map(async (file) => [file.slice(folder.length + 1), await readFile(file, 'utf8')]);
  return Object.fromEntries(await Promise.all(read));
}

const WORDS = set('info summary', 'Programs');
const ADDITIVE = set('components parameters Limit schema maximum', 200);
const BREAKING = set('components parameters Limit schema maximum', 50);

const published = await useFolder();

/** Publishes 1.0.0 in the checkout: the first time with the command, and afterwards with a copy of the result. */
async function publishFirst(): Promise<void> {
  if ((await readdir(published)).length === 0) {
    expect(await release('1.0.0', [])).toMatchObject({ code: 0, stderr: '' });
    await cp(join(path, 'openapi'), published, { recursive: true });
  } else {
    await cp(published, join(path, 'openapi'), { recursive: true });
  }
}

async function refuses(attempt: Parameters<typeof release>, why: RegExp) {
  const before = await files();
  const { code, stderr } = await release(...attempt);
  expect(stderr).toMatch(why);
  expect(code).toBe(1);
  expect(await files()).toEqual(before);
}

test('the first release writes the version and its changelog, and a second run has nothing to release', async () => {
  await publishFirst();
  const first = await files();
  expect(Object.keys(first)).toEqual(['CHANGELOG.md', 'released/1.0.0.yaml']);
  expect(first['CHANGELOG.md']).toMatch(/\n## 1\.0\.0 - \d{4}-\d\d-\d\d\n\nThe first version\.\n$/);
  const again = await release('1.0.0', []);
  expect(again.stdout).toContain('There is nothing to release.');
  expect(again.code).toBe(0);
  expect(await files()).toEqual(first);
});

test('each release replaces the previous version and adds its changes, grouped, to the top of the changelog', async () => {
  await publishFirst();
  expect(await release('1.0.1', [WORDS])).toMatchObject({ code: 0 });
  expect(await release('1.1.0', [WORDS, ADDITIVE, set('info title', 'Charter')])).toMatchObject({ code: 0 });
  const { stdout } = await release('2.0.0', [WORDS, BREAKING, set('info title', 'Charter')]);
  expect(stdout).toContain(
    'Breaking (1)\n  GET /api/parent_programs, parameter limit: maximum changed from 200 to 50\n    Requests that were valid are now refused.\n',
  );
  const written = await files();
  expect(Object.keys(written)).toEqual(['CHANGELOG.md', 'released/2.0.0.yaml']);
  const [, ...entries] = (written['CHANGELOG.md'] ?? '').replaceAll(/\d{4}-\d\d-\d\d/g, 'TODAY').split(/^(?=## )/m);
  expect(entries).toEqual([
    '## 2.0.0 - TODAY\n\n### Breaking\n\n- **Maximum changed from 200 to 50:** `GET /api/parent_programs, parameter limit`. Requests that were valid are now refused.\n\n',
    '## 1.1.0 - TODAY\n\n### Additive\n\n- **Maximum changed from 100 to 200:** `GET /api/parent_programs, parameter limit`.\n\n### Wording\n\nDescriptions or examples changed in one place.\n\n',
    '## 1.0.1 - TODAY\n\n### Wording\n\nDescriptions or examples changed in one place.\n\n',
    '## 1.0.0 - TODAY\n\nThe first version.\n',
  ]);
});

test('a dry run lists every change and writes nothing', async () => {
  await publishFirst();
  const before = await files();
  const { code, stdout } = await release('1.1.0', [ADDITIVE], ['--dry-run']);
  expect(stdout).toMatch(/maximum changed from 100 to 200[\s\S]*Would publish 1\.1\.0\. Nothing was written\./);
  expect(code).toBe(0);
  expect(await files()).toEqual(before);
});

test('the check accepts unreleased changes that fit the version number, and refuses larger ones', async () => {
  await publishFirst();
  expect(await release('1.0.0', [WORDS], ['--check'])).toMatchObject({ code: 0, stdout: '', stderr: '' });
  expect(await release('1.2.0', [ADDITIVE], ['--check'])).toMatchObject({ code: 0 });
  expect(await release('1.1.0', [BREAKING], ['--check'])).toMatchObject({ code: 1 });
  const { stderr } = await release('1.0.0', [WORDS, BREAKING], ['--check']);
  expect(stderr).toMatch(
    /^Breaking \(1\)\n {2}GET \/api\/parent_programs, parameter limit: maximum changed from 100 to 50\n/,
  );
  expect(stderr).not.toContain('Wording');
});

test('a release that was interrupted before it wrote the version can be repeated and appears once in the changelog', async () => {
  await publishFirst();
  await release('1.1.0', [ADDITIVE]);
  await rm(join(path, 'openapi/released/1.1.0.yaml'));
  await cp(join(published, 'released'), join(path, 'openapi/released'), { recursive: true });
  expect(await release('1.1.0', [ADDITIVE, WORDS])).toMatchObject({ code: 0 });
  const written = await files();
  expect(Object.keys(written)).toEqual(['CHANGELOG.md', 'released/1.1.0.yaml']);
  const changelog = written['CHANGELOG.md'] ?? '';
  expect(changelog.match(/^## .*/gm)?.map((line) => line.slice(0, 8))).toEqual(['## 1.1.0', '## 1.0.0']);
  expect(changelog).toContain('### Wording');
});

test('a previous version that an interrupted release left counts no more, and the next release removes it', async () => {
  await publishFirst();
  await release('1.1.0', [ADDITIVE]);
  await cp(join(published, 'released'), join(path, 'openapi/released'), { recursive: true });
  expect(Object.keys(await files())).toEqual(['CHANGELOG.md', 'released/1.0.0.yaml', 'released/1.1.0.yaml']);
  expect((await release('1.1.0', [ADDITIVE])).stdout).toContain('There is nothing to release.');
  expect(await release('1.1.1', [ADDITIVE, WORDS])).toMatchObject({ code: 0 });
  expect(Object.keys(await files())).toEqual(['CHANGELOG.md', 'released/1.1.1.yaml']);
});

test('a published file whose content does not match its name stops the command', async () => {
  await publishFirst();
  const stray = join(path, 'openapi/released/notes.md');
  await writeFile(stray, '');
  await refuses(['1.1.0', [ADDITIVE]], /openapi\/released\/notes\.md is not a published version/);
  await rm(stray);
  await writeFile(
    join(path, 'openapi/released/1.0.9.yaml'),
    'openapi: 3.1.0\ninfo: {title: A, version: 1.0.0}\npaths: {}\n',
  );
  await refuses(['1.1.0', [ADDITIVE]], /1\.0\.9\.yaml has the version 1\.0\.0 inside/);
});

test('the command prints its help, and explains an unknown option', async () => {
  const help = await release('1.0.0', [], ['--help']);
  expect(help).toMatchObject({ code: 0, stderr: '' });
  for (const flag of ['--dry-run', '--check']) expect(help.stdout).toContain(flag);
  await refuses(['1.0.0', [], ['--force']], /Unknown option '--force'[\s\S]*--dry-run/);
});
