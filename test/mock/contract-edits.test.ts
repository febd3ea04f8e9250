// The tests edit a copy, because other tests read the contract at the same time.
import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestMock, type TestMock } from '../support/mock.ts';
import { until } from '../support/wait.ts';

const SERVED = 'The edited contract is served.';
const KEPT = 'The contract from before the edit is still served.';
const KEY = 'components/examples/KeyReadWrite.yaml';

let lines: string[];
let folder: string;
let mock: TestMock;
beforeEach(async () => {
  lines = [];
  folder = await mkdtemp(join(tmpdir(), 'charter-mock-'));
  await cp(join(import.meta.dirname, '../../openapi'), folder, { recursive: true });
  mock = await startTestMock({ mainFile: join(folder, 'openapi.yaml'), print: (line) => lines.push(line) });
});
afterEach(async () => {
  await mock.close();
  await rm(folder, { recursive: true, force: true });
});

/** Replaces a file by a new one, as an editor does. */
async function save(file: string, from: string, to: string): Promise<void> {
  const path = join(folder, file);
  const text = await readFile(path, 'utf8');
  expect(text).toContain(from);
  await writeFile(`${folder}.new`, text.replace(from, to));
  await rename(`${folder}.new`, path);
}

/** Returns what the mock prints about the change. */
async function edit(file: string, from: string, to: string): Promise<string[]> {
  lines.length = 0;
  await save(file, from, to);
  const printed = () => lines.filter((line) => !line.includes(' -> '));
  await until(`the edit of ${file} to be reported`, () => [SERVED, KEPT].includes(printed().at(-1) ?? ''));
  return printed();
}

async function get(path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${mock.url}${path}`, { headers: { Authorization: `Bearer ${mock.key}` } });
  return { status: response.status, text: await response.text() };
}

test('a saved example is served at once', async () => {
  expect(await edit(KEY, 'Nightly sync', 'Edited')).toEqual([SERVED]);
  expect((await get('/api/key')).text).toContain('Edited');
});

test.each([
  ['ParentProgramFull', '019c2291-34b8-752e-bca9-6513269e0d37', 'Nordic Scholars Exchange'],
  ['ParentProgramMinimal', '019c4cee-335f-7a6a-8317-d23f128b2f33', 'Alpine Teacher Residency'],
])('the edited example %s is the response for its own id, and an item of the list', async (example, id, name) => {
  // The lint asks for equal items with one id.
  await save('components/examples/ParentProgramPageFirst.yaml', name, 'Edited');
  await save(`components/examples/${example}.yaml`, name, 'Edited');
  await until('both edits to be served', () => lines.at(-1) === SERVED);
  expect(JSON.parse((await get(`/api/parent_programs/${id}`)).text)).toMatchObject({ id, name: 'Edited' });
  const { data } = JSON.parse((await get('/api/parent_programs')).text);
  expect(data.find((item: { id: string }) => item.id === id).name).toBe('Edited');
});

test('an example of another operation is the response for its own id', async () => {
  const id = '019de2fb-197b-76ca-83c8-90c1d3ac94af';
  await edit('components/examples/ParentProgramCreated.yaml', '019c2291-34b8-752e-bca9-6513269e0d37', id);
  expect(JSON.parse((await get(`/api/parent_programs/${id}`)).text)).toMatchObject({
    id,
    updated_at: '2026-02-03T08:14:27.512Z',
  });
});

test('the edited document is at /openapi.json', async () => {
  const published = JSON.parse(await readFile(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));
  expect(JSON.parse((await get('/openapi.json')).text)).toEqual(published);
  await edit(KEY, 'Nightly sync', 'Edited');
  const edited = JSON.parse((await get('/openapi.json')).text);
  expect(edited.components.examples.KeyReadWrite.value.name).toBe('Edited');
});

test('a saved bound applies to the next request', async () => {
  await edit('components/parameters/Limit.yaml', 'maximum: 100', 'maximum: 200');
  expect((await get('/api/parent_programs?limit=150')).status).toBe(200);
  expect((await get('/api/parent_programs?limit=201')).text).toContain('an integer from 1 to 200');
});

test('an operation may require a permission that the server does not know yet', async () => {
  await edit('paths/key.yaml', 'apiKey: []', 'apiKey: [keys:read]');
  expect((await get('/api/key')).status).toBe(200);
});

test('an example that violates its schema is reported with its file and line, and the last valid document is served', async () => {
  const printed = await edit(KEY, 'name: Nightly sync', 'name: 5');
  expect(printed).toContainEqual(expect.stringMatching(/components\/examples\/KeyReadWrite\.yaml:\d+:\d+ {2}.*name/));
  expect(printed.at(-1)).toBe(KEPT);
  expect((await get('/api/key')).text).toContain('Nightly sync');
});

test('invalid YAML is reported with its line, and the corrected file is served', async () => {
  const printed = await edit('openapi.yaml', 'info:', '  info:');
  expect(printed).toContainEqual(
    expect.stringMatching(/openapi\.yaml:2:\d+ {2}This line is not indented like its neighbours/),
  );
  expect((await get('/api/key')).status).toBe(200);
  expect(await edit('openapi.yaml', '  info:', 'info:')).toEqual([SERVED]);
});
