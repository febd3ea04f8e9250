import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findPromtool } from '../../scripts/programs.mjs';
import { formatSnapshots, Metrics } from '../../src/observability/metrics/metrics.ts';
import { openFolder } from '../support/folder.ts';
import { createTestOrganization, startServer } from '../support/servers/server.ts';

// Uses promtool, Prometheus's own program, to check what Prometheus reads. Runs only at full length, because not every machine
// has the program.

const ROOT = join(import.meta.dirname, '../..');
const ALERTS = 'src/observability/monitoring/alerts.yaml';
const promtool = findPromtool();
const judged = promtool === null ? test.skip : test;

async function run(parameters: readonly string[], input = ''): Promise<{ code: number | null; printed: string }> {
  const child = spawn(promtool ?? '', parameters, { cwd: ROOT, stdio: ['pipe', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk));
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, printed };
}

judged('Prometheus accepts the metrics, and has nothing to criticize in those of the application', async () => {
  const metrics = new Metrics();
  const server = await startServer({ metrics });
  const { client } = await createTestOrganization(server);
  await client.get('/api/parent_programs');
  const { printed } = await run(['check', 'metrics'], await formatSnapshots([await metrics.read()]));
  await server.close();
  expect(printed).not.toMatch(/error|charter_/);
});

judged('Prometheus accepts the alert rules, and they fire when they should and not before', async () => {
  expect(await run(['check', 'rules', ALERTS])).toMatchObject({ code: 0 });
  expect(await run(['test', 'rules', 'test/observability/alerts-test.yaml'])).toMatchObject({ code: 0 });
});

judged('Prometheus accepts the scrape configuration, with the alert rules beside it', async () => {
  const { code, printed } = await run(['check', 'config', 'src/observability/monitoring/prometheus.yaml']);
  expect({ code, printed }).toEqual({ code: 0, printed: expect.stringMatching(/rules found/) });
});

judged('Prometheus understands every query of the dashboard', async () => {
  const { panels } = JSON.parse(
    await readFile(join(ROOT, 'src/observability/monitoring/grafana-dashboard.json'), 'utf8'),
  );
  const queries: string[] = panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
    targets.map(({ expr }) => expr),
  );
  expect(queries.length).toBeGreaterThan(20);
  const rules = queries.map((query, i) => ({
    record: `query:${i}`,
    expr: query.replaceAll('$__rate_interval', '5m').replaceAll(/\$(job|cell|instance)/g, 'x'),
  }));
  await using folder = await openFolder();
  // JSON is valid YAML.
  await writeFile(join(folder.path, 'rules.yaml'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  expect(await run(['check', 'rules', join(folder.path, 'rules.yaml')])).toMatchObject({ code: 0 });
});
