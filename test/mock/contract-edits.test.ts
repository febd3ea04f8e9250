// The tests edit a copy of the contract, because other tests read the contract at the same time.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleContract } from '../../scripts/bundle.ts';
import { startTestMock } from '../support/servers/mock.ts';
import { until } from '../support/wait.ts';

const SERVED = 'The edited contract is served.';
const KEPT = 'The contract from before the edit is still served.';
const KEY = 'components/examples/KeyReadWrite.yaml';

type Edit = readonly [file: string, from: string, to: string];

type EditedMock = {
  /** Makes the edits and returns what the mock prints about them. */
  edit(...edits: readonly Edit[]): Promise<string[]>;
  get(path: string): Promise<{ status: number; text: string }>;
};

const scratch = await mkdtemp(join(tmpdir(), 'charter-served-'));
const closing: (() => Promise<void>)[] = [() => rm(scratch, { recursive: true })];
afterAll(() => Promise.all(closing.map((close) => close())));

/** Starts a mock that follows the edits of its own copy of the contract. */
async function startEditedMock(): Promise<EditedMock> {
  const lines: string[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'charter-mock-'));
  await cp(join(import.meta.dirname, '../../openapi'), folder, { recursive: true });
  const mock = await startTestMock({ mainFile: join(folder, 'openapi.yaml'), print: (line) => lines.push(line) });
  closing.push(async () => {
    await mock.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    async edit(...edits) {
      lines.length = 0;
      // All files are written synchronously, so that the mock reads either all edits or none.
      for (const each of edits) save(folder, each);
      const printed = () => lines.filter((line) => !line.includes(' -> '));
      await until('the edit to be reported', () => [SERVED, KEPT].includes(printed().at(-1) ?? ''));
      return printed();
    },
    async get(path) {
      const response = await fetch(`${mock.url}${path}`, { headers: { Authorization: `Bearer ${mock.key}` } });
      return { status: response.status, text: await response.text() };
    },
  };
}

/** Replaces a file with a new one, as editors do. */
function save(folder: string, [file, from, to]: Edit): void {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(`${folder}.new`, text.replace(from, to));
  renameSync(`${folder}.new`, path);
}

const FULL = { id: '019c2291-34b8-752e-bca9-6513269e0d37', name: 'Nordic Scholars Exchange' };
const MINIMAL = { id: '019c4cee-335f-7a6a-8317-d23f128b2f33', name: 'Alpine Teacher Residency' };
const CREATED_ID = '019de2fb-197b-76ca-83c8-90c1d3ac94af';

/** Edits that do not depend on each other. They are tried together, because linting takes longer than all these tests. */
const VALID_EDITS: readonly Edit[] = [
  [KEY, 'Nightly sync', 'Edited'],
  ['components/examples/ParentProgramFull.yaml', FULL.name, 'Edited full'],
  ['components/examples/ParentProgramMinimal.yaml', MINIMAL.name, 'Edited minimal'],
  ['components/examples/ParentProgramCreated.yaml', 'updated_at:', `id: ${CREATED_ID}\n  updated_at:`],
  ['components/parameters/Limit.yaml', 'maximum: 100', 'maximum: 200'],
  ['paths/key.yaml', 'apiKey: []', 'apiKey: [keys:read]'],
];

const { edit, get } = await startEditedMock();
const before = JSON.parse((await get('/openapi.json')).text);
const printed = await edit(...VALID_EDITS);

test('a saved example is served at once', async () => {
  expect(printed).toEqual([SERVED]);
  expect((await get('/api/key')).text).toContain('Edited');
});

test.each([
  ['ParentProgramFull', FULL.id, 'Edited full'],
  ['ParentProgramMinimal', MINIMAL.id, 'Edited minimal'],
])('the edited example %s is the response for its own id, and an item of the list', async (_, id, name) => {
  expect(JSON.parse((await get(`/api/parent_programs/${id}`)).text)).toMatchObject({ id, name });
  const { data } = JSON.parse((await get('/api/parent_programs')).text);
  expect(data.find((item: { id: string }) => item.id === id).name).toBe(name);
});

test('an example of another operation is the response for its own id', async () => {
  expect(JSON.parse((await get(`/api/parent_programs/${CREATED_ID}`)).text)).toMatchObject({
    id: CREATED_ID,
    updated_at: '2026-02-03T08:14:27.512Z',
  });
});

test('the edited document is at /openapi.json and at /openapi.yaml', async () => {
  const published = JSON.parse(await readFile(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));
  expect(before).toEqual(published);
  const edited = JSON.parse((await get('/openapi.json')).text);
  expect(edited.components.examples.KeyReadWrite.value.name).toBe('Edited');
  const yaml = await get('/openapi.yaml');
  expect(yaml.status).toBe(200);
  expect(yaml.text).toMatch(/^openapi: /);
  const file = join(scratch, 'served.yaml');
  await writeFile(file, yaml.text);
  expect(await bundleContract(file)).toEqual(edited);
});

test('a saved bound applies to the next request', async () => {
  expect((await get('/api/parent_programs?limit=150')).status).toBe(200);
  expect((await get('/api/parent_programs?limit=201')).text).toContain('an integer from 1 to 200');
});

test('an operation may require a permission that the server does not know yet', async () => {
  const edited = JSON.parse((await get('/openapi.json')).text);
  expect(edited.paths['/api/key'].get.security).toEqual([{ apiKey: ['keys:read'] }]);
  expect((await get('/api/key')).status).toBe(200);
});

test('an example that violates its schema is reported with its file and line, and the last valid document is served', async () => {
  const invalid = await startEditedMock();
  const problems = await invalid.edit([KEY, 'name: Nightly sync', 'name: 5']);
  expect(problems).toContainEqual(expect.stringMatching(/components\/examples\/KeyReadWrite\.yaml:\d+:\d+ {2}.*name/));
  expect(problems.at(-1)).toBe(KEPT);
  expect((await invalid.get('/api/key')).text).toContain('Nightly sync');
});

test('invalid YAML in an example is reported once, with its place', async () => {
  const invalid = await startEditedMock();
  expect(await invalid.edit([KEY, 'value:', 'value: ['])).toEqual([
    expect.stringMatching(/^\.\.\/\S+\/examples\/KeyReadWrite\.yaml:\d+:\d+ {2}This is not valid YAML: [^/]+$/),
    KEPT,
  ]);
});

test('invalid YAML is reported with its line, and the corrected file is served', async () => {
  const invalid = await startEditedMock();
  const problems = await invalid.edit(['openapi.yaml', 'info:', '  info:']);
  expect(problems).toContainEqual(
    expect.stringMatching(/openapi\.yaml:2:\d+ {2}This line is not indented like its neighbours/),
  );
  expect((await invalid.get('/api/key')).status).toBe(200);
  expect(await invalid.edit(['openapi.yaml', '  info:', 'info:'])).toEqual([SERVED]);
});
