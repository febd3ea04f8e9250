// The complete programs of the guide run exactly as printed, against the mock.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findOnPath, PROGRAMS_REMEDY } from '../../scripts/programs.mjs';
import { write } from '../support/clients/client-package.ts';
import { type Block, blocksOf } from '../support/contract/guides.ts';
import { openFolder } from '../support/folder.ts';
import { LIMITED, type Running, runningOf } from '../support/processes/process.ts';
import { useMock } from '../support/servers/mock.ts';
import { until } from '../support/wait.ts';

const LIST = '/api/parent_programs';
const programs = blocksOf('complete-programs.md').filter(({ options }) => options.has('program'));
const ofKind = (kind: string) => programs.filter(({ options }) => options.get('program') === kind);

/** 250 parent programs, so that a list and a feed have three pages. */
const seed = {
  parent_programs: Array.from({ length: 250 }, (_, i) => ({ name: `<Program> ${i} “é”`, metadata: {} })),
};
const mock = await useMock({ isStateful: true, seed, limits: { perKey: 1_000_000, perOrganization: 1_000_000 } });

beforeEach(() => mock.control.reset({}));

type Item = { readonly id: string; readonly name: string };

/** Resolves to the parent programs of the mock, by id. */
async function present(): Promise<Record<string, Item>> {
  const items: Item[] = [];
  let cursor = '';
  do {
    const { body } = await mock.client.get(`${LIST}?limit=100${cursor}`);
    items.push(...body.data);
    cursor = body.page.next_cursor === null ? '' : `&cursor=${body.page.next_cursor}`;
  } while (cursor !== '');
  return Object.fromEntries(items.map((item) => [item.id, item]));
}

const COMMANDS: Readonly<Record<string, readonly [program: string, extension: string, ...parameters: string[]]>> = {
  python: ['python3', 'py'],
  go: ['go', 'go', 'run'],
  php: ['php', 'php'],
  js: [process.execPath, 'mjs'],
};

/** Starts the program, unchanged, in the folder. */
async function start({ language, code }: Block, folder: string, key = mock.key): Promise<Running> {
  const [program, extension, ...parameters] = COMMANDS[language] ?? [];
  if (program === undefined || (program !== process.execPath && findOnPath([program]) === null))
    throw new Error(`There is no command for ${language}. ${PROGRAMS_REMEDY}`);
  const file = join(folder, `program.${extension}`);
  await write(file, code);
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, CHARTER_URL: mock.url, CHARTER_API_KEY: key };
  // `go run` starts the program as a process of its own. In a process group of its own, both can be killed together.
  return runningOf(spawn(program, [...parameters, file], { ...LIMITED, cwd: folder, env, detached: true }));
}

async function run(block: Block, folder: string, key?: string) {
  return (await start(block, folder, key)).ended;
}

test('each task has a program in Python, Go, PHP and JavaScript', () => {
  for (const kind of ['read', 'copy'])
    expect(ofKind(kind).map(({ language }) => language)).toEqual(['python', 'go', 'php', 'js']);
});

describe.each(ofKind('read'))('the program in $language that reads all pages', (program) => {
  test('prints every parent program once, and waits as a 429 and a 503 say', async () => {
    await using folder = await openFolder();
    const expected = await present();
    mock.log.clear();
    const headers = { 'Retry-After': 1 };
    const sequence = [
      { status: 429, headers },
      { status: 503, headers },
    ];
    mock.control.force({ operation: 'listParentPrograms', sequence });
    const { code, stdout, stderr } = await run(program, folder.path);
    expect([code, stderr]).toEqual([0, '']);
    const printed: Item[] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(printed).toHaveLength(250);
    expect(Object.fromEntries(printed.map((item) => [item.id, item]))).toEqual(expected);
    const requests = mock.log.all.filter(({ path }) => path === LIST);
    expect(requests.map(({ status }) => status)).toEqual([429, 503, 200, 200, 200]);
    const [first = 0, , third = 0] = requests.map(({ at }) => Date.parse(at));
    expect(third - first).toBeGreaterThan(1900);
  });

  test.each([
    ['a refusal', () => mock.control.createKey({ permissions: [] }).key, /403 .*lacks the permission/],
    ['a broken connection', () => mock.key, /./],
  ])('stops at %s, with an error', async (kind, keyFor, message) => {
    await using folder = await openFolder();
    if (kind === 'a broken connection') mock.control.force({ disconnect: 'before', times: null });
    const { code, stdout, stderr } = await run(program, folder.path, keyFor());
    expect([code === 0, stdout]).toEqual([false, '']);
    expect(stderr).toMatch(message);
  });
});

describe.each(ofKind('copy'))('the program in $language that keeps a copy', (program) => {
  test('has the same as the server after each run, even if it is killed in between', async () => {
    await using folder = await openFolder();
    const file = join(folder.path, 'copy.json');
    const copied = async () => JSON.parse(await readFile(file, 'utf8'));
    expect(await run(program, folder.path)).toEqual({ code: 0, stdout: '', stderr: '' });
    const before = await copied();
    expect(before.programs).toEqual(await present());

    const ids = Object.keys(before.programs);
    const changes = [
      ...ids.slice(0, 150).map((id) => ({ action: 'update', id, body: { name: `Renamed ${id}` } })),
      ...ids.slice(100, 160).map((id) => ({ action: 'delete', id })),
      ...ids.slice(0, 40).map((id) => ({ action: 'create', body: { name: `Created ${id}`, external_id: id } })),
    ];
    for (let i = 0; i < changes.length; i += 100)
      expect((await mock.client.post(`${LIST}/batch`, { changes: changes.slice(i, i + 100) })).status).toBe(200);

    // The program is killed while it waits for the third page of events.
    const held = { delay_ms: 30_000, times: null };
    mock.control.force({ operation: 'listEvents', sequence: [{ status: 200, times: 2 }, held] });
    const killed = await start(program, folder.path);
    await until('the copy to have a page of events', async () => {
      return (await copied()).position.cursor !== before.position.cursor;
    });
    process.kill(-Number(killed.child.pid), 'SIGKILL');
    expect((await killed.ended).code).toBeNull();
    mock.overrides.clear();

    expect(await run(program, folder.path)).toEqual({ code: 0, stdout: '', stderr: '' });
    const after = await copied();
    expect(after.programs).toEqual(await present());
    expect(Object.keys(after.programs)).toHaveLength(230);
  });

  test('begins with changes that happen while it reads the pages', async () => {
    await using folder = await openFolder();
    const [first = ''] = Object.keys(await present());
    await mock.client.patch(`${LIST}/${first}`, { name: 'Changed before' });
    const { body: deleted } = await mock.client.post(LIST, { name: 'Deleted before' });
    await mock.client.delete(`${LIST}/${deleted.id}`);
    expect((await run(program, folder.path)).stderr).toBe('');
    const { programs } = JSON.parse(await readFile(join(folder.path, 'copy.json'), 'utf8'));
    expect(programs).toEqual(await present());
  });
});
