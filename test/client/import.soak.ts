// The command `charter-import` as integrators run it: from the packed client, in its own process.
import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { changeLimits } from '../../src/service/operator/organizations.ts';
import { getPackedClient, installClient } from '../support/clients/client-package.ts';
import { exampleOf } from '../support/contract/contract.ts';
import { type Ended, kill, type Running, runFile, startFile } from '../support/processes/process.ts';
import {
  hangsUp,
  passesOn,
  respondsWith,
  type Step,
  staysSilent,
  useScriptedServer,
} from '../support/servers/scripted-server.ts';
import { createTestOrganization, type TestOrganization, useServer } from '../support/servers/server.ts';
import { readFeed } from '../support/traffic/feed.ts';
import { until } from '../support/wait.ts';

const LIST = '/api/parent_programs';

const server = await useServer();
const network = await useScriptedServer();
const packed = await getPackedClient();
const scratch = await installClient(packed);
afterAll(() => scratch.remove());
const { bin } = JSON.parse(packed.files.get('package.json') ?? '');
const COMMAND = join(scratch.folder, 'node_modules/charter-client', bin['charter-import']);

const TEXTS = Object.keys(exampleOf('ParentProgramUpsertFull')).filter(
  (field) => !['name', 'metadata'].includes(field),
);
/** The message for a file that has columns for the required fields only. */
const EMPTY_FIELDS = `Fields without a column, which become empty: ${[...TEXTS, 'metadata'].join(', ')}.\n`;

let files = 0;

async function fileWith(content: string | Buffer): Promise<string> {
  files += 1;
  const path = join(scratch.folder, `catalogue-${files}.csv`);
  await writeFile(path, content);
  return path;
}

function envOf({ key }: Pick<TestOrganization, 'key'>, url = server.url) {
  return { CHARTER_URL: url, CHARTER_API_KEY: key };
}

function importedBy(ours: Pick<TestOrganization, 'key'>, parameters: readonly string[]): Promise<Ended> {
  return runFile(COMMAND, parameters, envOf(ours));
}

const csvOf = (count: number, name = 'Program') =>
  ['external_id,name', ...Array.from({ length: count }, (_, i) => `sis-${i},${name} ${i}`), ''].join('\n');

const refusedOf = (path: string) => path.replace(/\.csv$/, '.refused.csv');

async function programsOf({ client }: TestOrganization) {
  const programs = new Map<string, object>();
  let cursor = '';
  do {
    const { body } = await client.get(`${LIST}?limit=100${cursor}`);
    for (const { external_id: id, name, description, metadata } of body.data)
      programs.set(id, { name, description, metadata });
    cursor = body.page.next_cursor === null ? '' : `&cursor=${body.page.next_cursor}`;
  } while (cursor !== '');
  return programs;
}

test('a file of a spreadsheet is imported: mapped columns, quotation marks, blank rows and a byte order mark', async () => {
  const ours = await createTestOrganization(server);
  const file = await fileWith(
    [
      '\uFEFFCode,Program name,description,Region,metadata.colour,Owner',
      'sis-1,"Nordic ""Scholars"", 2026","One\r\ntwo",nordic,,Ada',
      '',
      ',,,,,',
      'sis-2,Größe 😀,,,green,',
      '',
    ].join('\r\n'),
  );
  const map = ['--map', 'Code=external_id', '--map', 'Program name=name', '--map', 'Region=metadata.region'];
  const { code, stdout, stderr } = await importedBy(ours, [file, ...map]);
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^2 rows created, 0 replaced or unchanged, 0 refused\. It took \d+ s\.\n$/),
    stderr: expect.stringMatching(/^Ignored columns: Owner\.\n/),
  });
  expect(await programsOf(ours)).toEqual(
    new Map([
      ['sis-1', { name: 'Nordic "Scholars", 2026', description: 'One\r\ntwo', metadata: { region: 'nordic' } }],
      ['sis-2', { name: 'Größe 😀', description: null, metadata: { colour: 'green' } }],
    ]),
  );
});

test('the report of a file with semicolons in windows-1252 is corrected and imported with the same options', async () => {
  const ours = await createTestOrganization(server);
  const file = await fileWith(
    Buffer.from('external_id;name;description\r\ns;Gr\xF6\xDFe, k;\x80\r\nt ;;Ca\xF1\xF3n\r\n', 'latin1'),
  );
  const options = ['--delimiter', ';', '--encoding', 'windows-1252'];
  const refused = refusedOf(file);
  expect(await importedBy(ours, [file, ...options])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(refused),
  });
  const report = await readFile(refused, 'latin1');
  expect(report).toMatch(/\r\nt ;;Ca\xF1\xF3n;3;422;name must not be blank\.\r\n$/);
  await writeFile(refused, Buffer.from(report.replace('t ;;', 't ;El Ni\xF1o;'), 'latin1'));
  expect(await importedBy(ours, [refused, ...options])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('In row 2, external_id begins or ends with a blank'),
  });
  const metadata = {};
  expect(await programsOf(ours)).toEqual(
    new Map([
      ['s', { name: 'Größe, k', description: '€', metadata }],
      ['t ', { name: 'El Niño', description: 'Cañón', metadata }],
    ]),
  );
  await writeFile(file, 'external_id;name\ns;x');
  expect((await importedBy(ours, [file, ...options])).stderr).toContain(`is kept as ${refused}.edited.\n`);
});

test('--delete-missing deletes what the file does not contain, within its bound, and a dry run lists it', async () => {
  const ours = await createTestOrganization(server);
  await importedBy(ours, [await fileWith(csvOf(30))]);
  const smaller = await fileWith(csvOf(28, 'New'));
  const dry = await importedBy(ours, [smaller, '--dry-run', '--delete-missing']);
  expect([dry.code, dry.stdout.split('\n').slice(1).toSorted()]).toEqual([
    0,
    [
      '',
      '2 parent programs would be deleted.',
      'Not in the file: "sis-28", "Program 28"',
      'Not in the file: "sis-29", "Program 29"',
    ],
  ]);
  expect((await programsOf(ours)).size).toBe(30);

  const half = await fileWith(csvOf(15));
  const refused = await importedBy(ours, [half, '--delete-missing']);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining(
      'Nothing was deleted. The file does not contain 15 of the 30 parent programs with an external_id, and at most 10% (3) may be deleted. Check that the file is complete. If it is: --delete-at-most 15\n',
    ),
  ]);
  const wrong = await fileWith(`${csvOf(15)}sis-99,\n`);
  const unsure = await importedBy(ours, [wrong, '--delete-missing', '--delete-at-most', '15']);
  expect([unsure.code, unsure.stderr]).toEqual([1, expect.stringContaining('because rows were refused.')]);
  const report = await importedBy(ours, [refusedOf(wrong), '--delete-missing']);
  expect([report.code, report.stderr]).toEqual([2, expect.stringContaining('is a report of refused rows')]);
  expect((await programsOf(ours)).size).toBe(30);
  const writer = await createTestOrganization(server, { permissions: ['parent_programs:write'] });
  const blind = await importedBy(writer, [half, '--delete-missing']);
  expect([blind.code, blind.stdout, blind.stderr]).toEqual([1, '', expect.stringContaining('parent_programs:read')]);

  const { code, stdout } = await importedBy(ours, [half, '--delete-missing', '--delete-at-most', '15']);
  expect([code, stdout.split('\n')[1]]).toEqual([0, '15 parent programs deleted.']);
  expect([...(await programsOf(ours)).keys()].toSorted()).toEqual(
    Array.from({ length: 15 }, (_, i) => `sis-${i}`).toSorted(),
  );
});

test('columns that are ignored are named, with the fields that they are probably meant for', async () => {
  const ours = await createTestOrganization(server);
  const header = 'external_id,name,descripton,Metadata.region,Owner,,';
  const { code, stdout, stderr } = await importedBy(ours, [await fileWith(`${header}\na,First,,,,,\n`)]);
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^1 row created, 0 replaced or unchanged, 0 refused\./),
    stderr:
      'Ignored columns: descripton (did you mean description?), Metadata.region (did you mean metadata.region?), Owner, 2 without a name.\n' +
      EMPTY_FIELDS,
  });
});

test('a repeated import changes nothing, and a corrected file only what was corrected', async () => {
  const ours = await createTestOrganization(server);
  const file = await fileWith(csvOf(250));
  expect((await importedBy(ours, [file])).stdout).toMatch(/^250 rows created, 0 replaced or unchanged, 0 refused\./);
  const { cursor, events } = await readFeed(ours.client);
  expect(events).toHaveLength(250);
  expect((await importedBy(ours, [file])).stdout).toMatch(/^0 rows created, 250 replaced or unchanged, 0 refused\./);
  expect((await readFeed(ours.client, { cursor })).events).toEqual([]);
  await writeFile(file, csvOf(250).replace('Program 7\n', 'Renamed\n'));
  expect((await importedBy(ours, [file])).code).toBe(0);
  expect((await readFeed(ours.client, { cursor })).events.map(({ data }) => data.name)).toEqual(['Renamed']);
});

test('refused rows are a file with the reasons, which can be corrected and imported', async () => {
  const ours = await createTestOrganization(server);
  const file = await fileWith('external_id,name,note\na,First,"x, y"\nb,,z\n,No ID,\nd,Short\ne,Last,\n');
  const { code, stdout, stderr } = await importedBy(ours, [file]);
  const refused = refusedOf(file);
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: expect.stringContaining(`2 rows created, 0 replaced or unchanged, 3 refused: see ${refused}.`),
    stderr: `Ignored columns: note.\n${EMPTY_FIELDS}`,
  });
  expect([...(await programsOf(ours)).keys()]).toEqual(['a', 'e']);
  const report = await readFile(refused, 'utf8');
  expect(report.split('\n').toSorted()).toEqual(
    [
      '',
      ',No ID,,4,422,external_id must not be empty.',
      'b,,z,3,422,name must not be blank.',
      'd,Short,,5,,The row has 2 cells instead of 3. Put each value into its column. If the last cells are empty: empty this cell.',
      'external_id,name,note,import_row,import_status,import_message',
    ].toSorted(),
  );
  const corrected = report.replace('b,,z', 'b,Second,z').replace(',No ID,', 'c,No ID,').replace('d,Short,', 'd,,x');
  await writeFile(refused, corrected);
  const again = await importedBy(ours, [refused]);
  expect(again).toMatchObject({ code: 1, stdout: expect.stringMatching(/^2 rows created, 0 .*, 1 refused: see/) });
  expect(await readFile(refused.replace(/\.csv$/, '-2.csv'), 'utf8')).toMatch(
    /^external_id,name,note,import_row,import_status,import_message\nd,,x,\d,422,name must not be blank\.\n$/,
  );
});

test('a dry run finds every row that an import would refuse, and changes nothing', async () => {
  const ours = await createTestOrganization(server);
  const blank = Array.from({ length: 120 }, (_, i) => `${'x'.repeat(300)}-${i},`);
  const file = await fileWith(['external_id,name', ...blank, ...csvOf(99).split('\n').slice(1)].join('\n'));
  const dry = await importedBy(ours, [file, '--dry-run']);
  expect(dry).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /^Nothing was changed\. 99 rows can be imported, 120 refused: see .*\. It took \d+ s\.\n$/,
    ),
  });
  expect((await readFeed(ours.client)).events).toEqual([]);
  const rowsIn = async () => (await readFile(refusedOf(file), 'utf8')).split('\n').map((line) => line.split(',')[2]);
  const judged = await rowsIn();
  expect((await importedBy(ours, [file])).stdout).toMatch(/^99 rows created, 0 replaced or unchanged, 120 refused/);
  expect(judged).toEqual(await rowsIn());
});

test.each([
  ['an import', []],
  ['a dry run', ['--dry-run']],
])('%s waits until the rate limit has recovered', async (_, options) => {
  const ours = await createTestOrganization(server);
  await changeLimits(server.db, ours.id, { perKey: 100, perOrganization: undefined });
  network.play(passesOn(server.url));
  const file = await fileWith(csvOf(250));
  expect(await runFile(COMMAND, [file, ...options], envOf(ours, network.url))).toMatchObject({ code: 0 });
  // One request for the key and three batches. Without the waits, two batches would be refused and sent again. On a busy machine,
  // one batch may still be refused.
  expect(network.received.length).toBeLessThan(6);
});

test('without a refused row, there is no report', async () => {
  const ours = await createTestOrganization(server);
  const file = await fileWith(csvOf(0));
  expect((await importedBy(ours, [file, '--dry-run'])).stdout).toContain('0 rows can be imported, 0 refused.');
  await expect(stat(refusedOf(file))).rejects.toThrow('ENOENT');
});

test('a report that is another name of the file is refused', async () => {
  const file = await fileWith(csvOf(1));
  await symlink(file, `${file}.link`);
  const { code, stderr } = await importedBy({ key: 'charter_test_key' }, [file, '--refused', `${file}.link`]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: '--refused must not be the file itself. Name another file.\n' });
});

/** Starts the command, and returns when the server has received the second batch, to which it does not respond. */
async function interrupted(ours: TestOrganization, file: string): Promise<Running> {
  const good: Step = passesOn(server.url);
  network.play(good, good, staysSilent);
  const running = startFile(COMMAND, [file], envOf(ours, network.url));
  await until('the second batch to arrive', () => network.received.length === 3);
  return running;
}

test('an import that was killed goes on when it is repeated, and makes each program once', async () => {
  const ours = await createTestOrganization(server);
  const file = await fileWith(csvOf(250));
  await kill(await interrupted(ours, file));
  expect((await programsOf(ours)).size).toBe(100);
  expect((await importedBy(ours, [file])).stdout).toMatch(/^150 rows created, 100 replaced or unchanged, 0 refused/);
  expect((await readFeed(ours.client)).events).toHaveLength(250);
});

test('Ctrl+C ends the import at once, and says how to go on', async () => {
  const ours = await createTestOrganization(server);
  const running = await interrupted(ours, await fileWith(csvOf(250)));
  running.child.kill('SIGINT');
  expect(await running.ended).toMatchObject({
    code: 130,
    stdout: '',
    stderr: expect.stringMatching(
      /Imported so far: 100 rows\. Run the same command again to go on: .*\nThe import was stopped\.\n$/s,
    ),
  });
});

/** Returns environment variables that make Node run the code before the program. */
const loading = (code: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` });
const IS_TERMINAL = 'process.stderr.isTTY = true;';
const HAS_NO_PATIENCE =
  'const { setTimeout: later } = globalThis; globalThis.setTimeout = (work, ms, ...given) => later(work, ms > 10_000 ? ms : 0, ...given);';

test('the command says why it waits, and how long it took with all waits', async () => {
  network.play(hangsUp, respondsWith(429, { 'Retry-After': '2' }), passesOn(server.url));
  const env = { ...envOf(await createTestOrganization(server), network.url), ...loading(IS_TERMINAL) };
  const { code, stdout, stderr } = await runFile(COMMAND, [await fileWith(csvOf(1))], env);
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/The server does not answer \(.+\)\. Trying again …\n.*waiting for the rate limit …/s),
  ]);
  expect(Number(/ It took (\d+) s\.$/m.exec(stdout)?.[1])).toBeGreaterThanOrEqual(2);
});

test('a server that never answers is reported at once, and in the end with its address and a remedy', async () => {
  network.play(hangsUp);
  const proxy = { HTTP_PROXY: 'http://user:secret@proxy.example:3128' };
  const env = { ...envOf({ key: 'charter_test_key' }, network.url), ...loading(HAS_NO_PATIENCE), ...proxy };
  const { code, stderr } = await runFile(COMMAND, [await fileWith(csvOf(1))], env);
  expect({ code, lines: stderr.split('\n') }).toEqual({
    code: 1,
    lines: [
      expect.stringMatching(
        /^The server does not answer \(.+\)\. HTTP_PROXY is set, but .* NODE_USE_ENV_PROXY=1, .* Trying again …$/,
      ),
      expect.stringMatching(
        `^GET ${network.url}/api/key got no response: .* \\(tried 11 times\\)\\. Check that the server is running, .* CHARTER_URL or --url`,
      ),
      '',
    ],
  });
});

test('a server that stays overloaded is not reported as one that refuses the API key', async () => {
  network.play(respondsWith(503));
  const env = { ...envOf({ key: 'charter_test_key' }, network.url), ...loading(HAS_NO_PATIENCE) };
  const { code, stderr } = await runFile(COMMAND, [await fileWith(csvOf(1))], env);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      /^The server is not ready \(503\)\. Trying again …\nCharter cannot import .* \(503\): /,
    ),
  });
});

test('progress is shown on a terminal only', async () => {
  const ours = await createTestOrganization(server);
  const file = await fileWith(csvOf(250));
  expect((await importedBy(ours, [file])).stderr).not.toMatch(/\r/);
  const { stderr } = await runFile(COMMAND, [file], { ...envOf(ours), ...loading(IS_TERMINAL) });
  // Each progress message clears the rest of the line, and the last message clears the whole line.
  const [, ...states] = stderr.split('\r').map((state) => state.replace('\u001B[K', ''));
  expect(states).toEqual([
    expect.stringMatching(/^\[#*\.*\] \d+% {2}100 rows, 0 refused$/),
    expect.stringMatching(/^\[#*\.*\] \d+% {2}200 rows, 0 refused$/),
    '[##############################] 100%  250 rows, 0 refused',
    '',
  ]);
});

test('a wrong command line is refused with 2', async () => {
  const { code, stdout, stderr } = await runFile(COMMAND, [], envOf({ key: 'charter_test_key' }));
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining('Name one CSV') });
});

test('--help shows every option', async () => {
  const { code, stdout } = await runFile(COMMAND, ['--help'], {});
  expect({ code, lines: stdout.split('\n')[0] }).toEqual({
    code: 0,
    lines: 'Usage: charter-import FILE.csv [options]',
  });
});

test.each<[title: string, content: string | Buffer, message: string]>([
  ['that is empty', '', 'is empty'],
  ['with the wrong column names', 'name,Code\nx,y\n', 'No column is for the field "external_id".'],
  ['in another encoding', Buffer.from('external_id,name\na,\xE9\n', 'latin1'), 'Use --encoding'],
  ['with a quotation mark without its end', 'external_id,name\na,b\nc,"d\n', 'Row 3: Quote Not Closed'],
])('nothing is imported from a file %s', async (_title, content, message) => {
  const ours = await createTestOrganization(server);
  const { code, stdout, stderr } = await importedBy(ours, [await fileWith(content)]);
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
  expect((await readFeed(ours.client)).events).toEqual([]);
});

test('a file that does not exist, a wrong address, a key that is refused, and a key that may not write are reported', async () => {
  const reader = await createTestOrganization(server, { permissions: ['parent_programs:read'] });
  const file = await fileWith(csvOf(1));
  const missing = await importedBy(reader, ['missing.csv']);
  expect(missing).toMatchObject({ code: 1, stderr: 'There is no file missing.csv. Check the path.\n' });
  expect((await importedBy(reader, [file])).stderr).toContain('The API key may not write.');
  const nowhere = await runFile(COMMAND, [file], envOf(reader, `${server.url}/api`));
  expect(nowhere).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^CHARTER_URL or --url is not the address of Charter \(404\): /),
  });
  const unknown = await runFile(COMMAND, [file], envOf({ key: 'charter_test_key' }));
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('Charter refuses the API key (401)') });
});
