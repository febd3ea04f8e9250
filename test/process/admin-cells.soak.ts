import { VERSION } from '../../src/domain/release.ts';
import { hangsUp, respondsWith, type Step, startScriptedServer, staysSilent } from '../support/http/scripted-server.ts';
import { createTenant, useDatabase } from '../support/postgres/store.ts';
import { runAdminCommand } from '../support/processes/admin.ts';
import { type Charter, endCharter, logOf, withCharter } from '../support/processes/charter.ts';
import { until } from '../support/wait.ts';

const database = await useDatabase();

const cells = (list: readonly string[], ...parameters: string[]) =>
  runAdminCommand(database.url, ['cells', ...parameters], { CHARTER_CELLS: list.join(',') });

const metricsOf = (charter: Charter): string =>
  String(logOf(charter).find(({ msg }) => msg === 'metrics are served')?.['url']);

/** One server for the health and the metrics of a cell that is not Charter. */
async function withCell<T>([health, metrics]: [Step, Step], work: (entry: string) => Promise<T>): Promise<T> {
  const server = await startScriptedServer();
  const step: Step = (res, received) => (received.url === '/readyz' ? health : metrics)(res, received);
  server.play(step);
  try {
    return await work(`us1 United States ${server.url} ${server.url}/metrics`);
  } finally {
    await server.close();
  }
}

const READY = respondsWith(200);

/** The metrics of a cell in the text format. */
function measures(name: string, version: string): Step {
  return (res) => res.end(`charter_cell_info{name="${name}",version="${version}"} 1\n`);
}

test('cells lists health, version and rows of each cell; one that ends is a row that says so, and the exit code', async () => {
  for (let i = 0; i < 3; i += 1) await createTenant(database.db);
  const env = { DATABASE_URL: database.url, CHARTER_CELL: 'eu1', METRICS_PORT: '0' };
  await withCharter(env, async (charter) => {
    await withCharter({ ...env, CHARTER_CELL: 'us1', WORKERS: '2' }, async (other) => {
      const list = [
        `eu1 Europe ${charter.url} ${metricsOf(charter)}`,
        `us1 United States ${other.url} ${metricsOf(other)}`,
      ];
      const eu1 = { cell: 'eu1', health: 'ready', version: VERSION };
      const rows = { organizations: 3, programs: 0, events: 0 };
      const ready = await until('both cells to have counted their rows', async () => {
        const ended = await cells(list, '--json');
        return ended.stdout.match(/"organizations":3/g)?.length === 2 ? ended : null;
      });
      expect(ready).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(ready.stdout).cells).toEqual([
        { ...eu1, ...rows },
        { ...eu1, cell: 'us1', ...rows },
      ]);
      await endCharter(other);
      const failed = await cells(list, '--json');
      expect(failed).toMatchObject({ code: 1, stderr: 'Not all cells are ready: us1.\n' });
      const unknown = { version: null, organizations: null, programs: null, events: null };
      expect(JSON.parse(failed.stdout).cells).toEqual([
        { ...eu1, ...rows },
        { cell: 'us1', health: 'no response (ECONNREFUSED)', ...unknown },
      ]);
      const table = (await cells(list)).stdout;
      expect(table).toMatch(/'eu1'.*'ready'.*\n.*'us1'.*'no response \(ECONNREFUSED\)'/);
    });
  });
});

test.each<[string, [Step, Step], string]>([
  ['is not ready', [respondsWith(503, {}, { status: 'stopping\u001b[2J' }), measures('us1', VERSION)], 'stopping[2J'],
  ['is another program', [respondsWith(404), measures('us1', VERSION)], '/readyz responds with 404'],
  ['stays silent', [staysSilent, staysSilent], 'no response within 5 seconds'],
  ['hangs up', [hangsUp, hangsUp], 'no response (UND_ERR_SOCKET)'],
  ['serves no metrics', [READY, hangsUp], 'ready, but its metrics: no response (UND_ERR_SOCKET)'],
  ['serves the metrics of something else', [READY, READY], 'ready, but its metrics are not those of a cell'],
  ['serves those of another cell', [READY, measures('eu1', VERSION)], 'ready, but its metrics are those of eu1'],
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
    withCell([READY, measures('eu1', VERSION)], async (entry) => {
      const ended = await cells([newer, entry.replace('us1 United States', 'eu1 Europe')]);
      expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining(`the versions ${VERSION}, 99.0.0, not`) });
    }),
  );
});

test('cells needs CHARTER_CELLS', async () => {
  expect(await runAdminCommand(database.url, ['cells'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/CHARTER_CELLS is not set/),
  });
});
