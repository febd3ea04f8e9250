import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { versionWarning } from '../../scripts/admin/cell-commands.ts';
import { RELEASE_VERSION } from '../../src/domain/release.ts';
import { cellMetrics } from '../../src/observability/metrics/app-metrics.ts';
import { formatSnapshots, Metrics } from '../../src/observability/metrics/metrics.ts';
import { giveDomain, linkDirectly } from '../support/data/accounts.ts';
import { createTeam } from '../support/data/team.ts';
import { openFolder } from '../support/folder.ts';
import { finishMove, runAdminCommand } from '../support/processes/admin.ts';
import { freePort } from '../support/servers/port.ts';
import {
  hangsUp,
  respondsWith,
  type Step,
  startScriptedServer,
  staysSilent,
} from '../support/servers/scripted-server.ts';
import { startServer } from '../support/servers/server.ts';

const LIST = '/api/parent_programs';

const cells = (list: readonly string[], ...parameters: string[]) =>
  runAdminCommand('', ['cells', ...parameters], { CHARTER_CELLS: list.join(',') });

/** Runs the work with a server that sends these responses for the health and the metrics of a cell. */
async function withCell<T>([health, metrics]: [Step, Step], work: (entry: string) => Promise<T>): Promise<T> {
  await using server = await startScriptedServer();
  const step: Step = (res, received) => (received.url === '/readyz' ? health : metrics)(res, received);
  server.play(step);
  return await work(`us1 United States ${server.url} ${server.url}/metrics`);
}

const READY = respondsWith(200);

/** Responds with the metrics of a cell in the Prometheus text format. */
function measures(name: string, version: string): Step {
  return (res) => res.end(`charter_cell_info{name="${name}",version="${version}"} 1\n`);
}

test('cells lists health, version and rows of each cell; one that ends is a row that says so, and the exit code', async () => {
  const metrics = new Metrics();
  const rows = () => ({ organizations: 3, parent_programs: 2, events: 1 });
  metrics.add(cellMetrics({ name: 'us1', version: RELEASE_VERSION, rows }));
  const text = await formatSnapshots([await metrics.read()]);
  await withCell([READY, (res) => res.end(text)], async (entry) => {
    const list = [entry, `eu1 Europe http://127.0.0.1:${await freePort('127.0.0.1')}`];
    const ended = await cells(list, '--json');
    expect(ended).toMatchObject({ code: 1, stderr: 'Not all cells are ready: eu1.\n' });
    expect(JSON.parse(ended.stdout).cells).toEqual([
      { cell: 'us1', health: 'ready', version: RELEASE_VERSION, organizations: 3, programs: 2, events: 1 },
      {
        ...{ cell: 'eu1', health: 'no response (ECONNREFUSED)' },
        ...{ version: null, organizations: null, programs: null, events: null },
      },
    ]);
    const table = (await cells(list)).stdout;
    expect(table).toMatch(/'us1'.*'ready'.*\n.*'eu1'.*'no response \(ECONNREFUSED\)'/);
  });
});

test.each<[string, [Step, Step], string]>([
  [
    'is not ready',
    [respondsWith(503, {}, { status: 'stopping\u001b[2J' }), measures('us1', RELEASE_VERSION)],
    'stopping[2J',
  ],
  ['is another program', [respondsWith(404), measures('us1', RELEASE_VERSION)], '/readyz responds with 404'],
  ['stays silent', [staysSilent, staysSilent], 'no response within 5 seconds'],
  ['hangs up', [hangsUp, hangsUp], 'no response (UND_ERR_SOCKET)'],
  ['serves no metrics', [READY, hangsUp], 'ready, but its metrics: no response (UND_ERR_SOCKET)'],
  ['serves the metrics of something else', [READY, READY], 'ready, but its metrics are not those of a cell'],
  [
    'serves those of another cell',
    [READY, measures('eu1', RELEASE_VERSION)],
    'ready, but its metrics are those of eu1',
  ],
])('a cell that %s is not ready, with the reason', async (_, steps, health) => {
  await withCell(steps, async (entry) => {
    const ended = await cells([entry], '--json');
    expect(ended).toMatchObject({ code: 1, stderr: 'Not all cells are ready: us1.\n' });
    expect(JSON.parse(ended.stdout).cells).toEqual([expect.objectContaining({ cell: 'us1', health })]);
  });
});

test('without the URL of its metrics, a cell is listed with its health alone', async () => {
  await withCell([READY, hangsUp], async (entry) => {
    const ended = await cells([entry.slice(0, entry.lastIndexOf(' '))], '--json');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ended.stdout).cells).toMatchObject([{ health: 'ready', version: null, organizations: null }]);
  });
});

test('a version that this command does not know is a warning', async () => {
  await withCell([READY, measures('us1', '99.0.0')], (newer) =>
    withCell([READY, measures('eu1', RELEASE_VERSION)], async (entry) => {
      const ended = await cells([newer, entry.replace('us1 United States', 'eu1 Europe')]);
      expect(ended).toMatchObject({
        code: 0,
        stderr: expect.stringContaining(`the versions ${RELEASE_VERSION}, 99.0.0, not`),
      });
    }),
  );
});

test('cells needs CHARTER_CELLS', async () => {
  expect(await runAdminCommand('', ['cells'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/CHARTER_CELLS is not set/),
  });
});

const RELEASES = ['1.10.0', '1.9.1', '1.9.0'];

test.each([
  ['no version', []],
  ['one version', ['1.9.0']],
  ['two successive releases', ['1.9.1', '1.10.0']],
])('%s may run in the cells of one address', (_, versions) => {
  expect(versionWarning(new Set(versions), RELEASES)).toBeNull();
});

test.each([
  ['with a release between them', ['1.10.0', '1.9.0'], /differ by more than one release: 1\.9\.0, 1\.10\.0\. Upgrade/],
  [
    'a release that the command does not know',
    ['1.10.0', '1.11.0'],
    /have the versions 1\.10\.0, 1\.11\.0, not all of which/,
  ],
])('two versions %s get a warning', (_, versions, warning) => {
  expect(versionWarning(new Set(versions), RELEASES)).toMatch(warning);
});

test('the keys of a cell name it, every cell refuses those of another with 401, and a moved key is known by its hash', async () => {
  const [eu1, us1] = [await startServer({ cell: 'eu1' }), await startServer({ cell: 'us1' })];
  const folder = await mkdtemp(join(tmpdir(), 'charter-cells-'));
  try {
    const env = { CHARTER_CELL: 'eu1' };
    const made = ['create-organization', '--name', 'Acme', '--admin-email', 'ada@acme.example', '--admin-name', 'Ada'];
    const admin = (...parameters: string[]) => runAdminCommand(eu1.databaseUrl, parameters, env);
    const { organization_id: id } = JSON.parse((await admin('--json', ...made)).stdout);
    const issued = await admin('--json', 'issue-key', '--user', 'ada@acme.example', '--name', 'Test');
    const { key } = JSON.parse(issued.stdout);
    expect(key).toMatch(/^charter_live_eu1_[0-9A-Za-z]{46}$/);
    expect((await eu1.anonymous.get(LIST, { key })).status).toBe(200);
    const other = await us1.anonymous.get(LIST, { key });
    expect(other).toMatchObject({
      status: 401,
      body: {
        message:
          'This API key was issued in the cell eu1, and is not known to the cell us1. Check the address of the server.',
      },
    });
    const file = join(folder, 'acme.jsonl');
    await admin('export-organization', '--id', id, '--file', file, '--move');
    expect(await finishMove({ from: eu1, to: us1 }, { id, file })).toMatchObject({ code: 0, stderr: '' });
    expect((await us1.anonymous.get(LIST, { key })).status).toBe(200);
    const map = join(folder, 'moved-keys.map');
    const list = ['moved-keys', '--file', map];
    expect(await runAdminCommand(us1.databaseUrl, list, { CHARTER_CELL: 'us1' })).toMatchObject({ code: 0 });
    const line = `${createHash('sha256').update(key).digest('hex')} us1\n`;
    expect(await readFile(map, 'utf8')).toBe(line);
    // After the key has moved, the old cell's map does not list the key. Without CHARTER_CELL, no map can be written.
    await admin(...list);
    expect(await readFile(map, 'utf8')).toBe('');
    expect(await runAdminCommand(us1.databaseUrl, list)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/CHARTER_CELL/),
    });
  } finally {
    await Promise.all([eu1.close(), us1.close(), rm(folder, { recursive: true })]);
  }
});

test('the map of e-mail domains has those with which people sign in by single sign-on in the cell', async () => {
  await using eu1 = await startServer({ cell: 'eu1' });
  await using folder = await openFolder();
  const [connected, unverified, unconnected, moving] = [
    await createTeam(eu1.db),
    await createTeam(eu1.db),
    await createTeam(eu1.db),
    await createTeam(eu1.db),
  ];
  for (const { administrator } of [connected, unverified, moving]) await linkDirectly(eu1.db, administrator);
  for (const [i, { administrator }] of [connected, unconnected, moving].entries())
    await giveDomain(eu1.db, administrator.scope, `${i}.example`);
  const { organizationId } = unverified;
  const added = { domain: 'unverified.example', token: 't'.repeat(32) };
  await eu1.db.prisma.ssoDomain.create({ data: { organizationId, ...added } });
  const admin = (...parameters: string[]) => runAdminCommand(eu1.databaseUrl, parameters, { CHARTER_CELL: 'eu1' });
  const file = join(folder.path, 'archive.jsonl');
  await admin('export-organization', '--id', moving.organizationId, '--file', file, '--move');
  const map = join(folder.path, 'domains.map');
  expect(await admin('cell-domains', '--file', map)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/: 1$/m),
  });
  expect(await readFile(map, 'utf8')).toBe('0.example eu1\n');
});
