// The commands of package.json in their own checkout: what they generate, and what they leave unchanged.
import { cp, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digest } from '../../scripts/stamps.mjs';
import { openFolder, useFolder } from '../support/folder.ts';
import { runFile } from '../support/processes/process.ts';

const ROOT = join(import.meta.dirname, '../..');
const CONTRACT = 'openapi/openapi.yaml';

const checkout = await useFolder();
const copied = ['openapi', 'prisma', 'scripts', 'src', 'package.json', 'package-lock.json', '.npmrc', 'redocly.yaml'];
copied.push('prisma.config.ts', 'tsconfig.json', 'LICENSE', 'generated');
await Promise.all(copied.map((name) => cp(join(ROOT, name), join(checkout, name), { recursive: true })));
// A folder of links, so that a command that writes there does not change the packages of this checkout.
await mkdir(join(checkout, 'node_modules'));
for (const name of await readdir(join(ROOT, 'node_modules')))
  await symlink(join(ROOT, 'node_modules', name), join(checkout, 'node_modules', name));
await rm(join(checkout, 'node_modules/.charter-installed'), { force: true });
const installed = digest(['package.json', 'package-lock.json', '.npmrc']);
await writeFile(join(checkout, 'node_modules/.charter-installed'), installed);
// Only the set-up is tested, so the programs that run after the set-up are empty.
for (const entry of ['scripts/test/main.ts', 'scripts/mock/main.ts', 'src/main.ts'])
  await writeFile(join(checkout, entry), '');
// The content of the documentation does not matter here, and building it would take longer than everything else.
const STUBS = {
  'scripts/docs/site.ts': `export const readSite = async () => new Map([['index.html', () => '']]);`,
  'scripts/client/build-package.ts':
    'export const buildPackage = async () => {}; export const pack = async () => import.meta.filename;',
  'scripts/mock/package/pack-mock.ts': 'export const buildMockPackage = async () => {};',
};
for (const [file, text] of Object.entries(STUBS)) await writeFile(join(checkout, file), text);

/** Runs the command and returns the steps of the set-up that it prints. */
async function stepsOf(...command: string[]): Promise<string[]> {
  const { code, stderr } = await runFile(join(checkout, 'scripts/run.mjs'), command);
  expect(code === 0 ? '' : stderr).toBe('');
  return [...stderr.matchAll(/^ {2}(.+): done in/gm)].map(([, title = '']) => title);
}

async function edit(file: string, from: string, to: string): Promise<void> {
  const path = join(checkout, file);
  const text = await readFile(path, 'utf8');
  expect(text.includes(from)).toBe(true);
  await writeFile(path, text.replace(from, to));
}

/** Returns the modification time of each file and folder except packages. */
async function changeTimes(): Promise<Record<string, number>> {
  const entries = await readdir(checkout, { withFileTypes: true, recursive: true });
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  const own = paths.filter((path) => !path.startsWith(join(checkout, 'node_modules/')));
  const times = own.sort().map(async (path) => [path.slice(checkout.length), (await stat(path)).mtimeMs]);
  return Object.fromEntries(await Promise.all(times));
}

test('nothing is generated twice', async () => {
  // `npm test` generates before the tests, so nothing is left to generate unless the other test has edited the contract.
  const { isFresh }: typeof import('../../scripts/stamps.mjs') = await import(join(checkout, 'scripts/stamps.mjs'));
  if (!isFresh('committed') || !isFresh('uncommitted')) expect(await stepsOf('generate')).toEqual([]);
  expect(await stepsOf('docs')).toEqual([]);
  for (const command of ['start', 'test']) expect(await stepsOf(command)).toEqual([]);

  await edit(CONTRACT, 'Read and manage the parent programs of your organization.', 'Manage parent programs.');
  expect(await stepsOf('test')).toEqual(['Generated code']);
  expect(await stepsOf('test')).toEqual([]);
  // `npm test` does not write the committed files, because the author of a change writes them.
  expect(await stepsOf('start')).toEqual(['Generated code', 'Documentation']);
  for (const command of ['start', 'test']) expect(await stepsOf(command)).toEqual([]);

  // The documentation offers the client for download, and the client contains the licence.
  await edit('LICENSE', 'MIT', 'Another');
  expect(await stepsOf('start')).toEqual(['Documentation']);

  await edit('generated/openapi.json', 'Manage parent programs.', 'Another summary.');
  // `mock` needs no documentation, so the command must not build the documentation.
  expect(await stepsOf('mock')).toEqual(['Generated code']);
  expect(await readFile(join(checkout, 'generated/openapi.json'), 'utf8')).toContain('Manage parent programs.');
});

test('a dry run of a release compares the contract as it is edited, and writes nothing at all', async () => {
  await edit(CONTRACT, 'The API key that is sent with the request.', 'The key of the request.');
  const before = await changeTimes();
  const { stdout, stderr } = await runFile(join(checkout, 'scripts/run.mjs'), ['release-contract', '--dry-run']);
  expect(stdout).toContain('The document: tags changed');
  expect(stderr).not.toContain('Generated code');
  expect(await changeTimes()).toEqual(before);
});

test('dependencies are not installed through a symbolic link, whose target npm would empty', async () => {
  await using parent = await openFolder();
  const [linked, shared] = [join(parent.path, 'checkout'), join(parent.path, 'shared')];
  await mkdir(shared);
  await writeFile(join(shared, 'package.txt'), '');
  for (const name of ['scripts', 'package.json', 'package-lock.json', '.npmrc'])
    await cp(join(ROOT, name), join(linked, name), { recursive: true });
  await symlink(shared, join(linked, 'node_modules'));
  const { code, stderr } = await runFile(join(linked, 'scripts/run.mjs'), ['lint']);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('node_modules is a symbolic link') });
  expect(await readdir(shared)).toEqual(['package.txt']);
});
