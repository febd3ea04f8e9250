import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { mintKey } from '../../src/domain/keys/api-key.ts';
import { HOUSEKEEPING_TASKS } from '../../src/observability/housekeeping.ts';
import { DeliveryMeasures, Distribution, Tally } from '../../src/observability/instruments/measures.ts';
import { createLogger } from '../../src/observability/logs.ts';
import { cellMetrics, deliveryMetrics, housekeepingMetric } from '../../src/observability/metrics/app-metrics.ts';
import { formatSnapshots, Metrics } from '../../src/observability/metrics/metrics.ts';
import { RequestDurations } from '../../src/observability/observe-requests.ts';
import { revokeKeyByText } from '../../src/service/operator/keys.ts';
import { suspendOrganization } from '../../src/service/operator/organizations.ts';
import { Workers } from '../../src/workers/supervise.ts';
import { Client } from '../support/clients/client.ts';
import { byLabel, parseSeries, readSeries, type Series } from '../support/observability/metrics.ts';
import { untilWaiting, withClient } from '../support/postgres/postgres.ts';
import { createTestOrganization, startServer, type TestOrganization, useServer } from '../support/servers/server.ts';
import { until } from '../support/wait.ts';

const MONITORING = join(import.meta.dirname, '../../src/observability/monitoring');
const LIST = '/api/parent_programs';

const metrics = new Metrics();
metrics.add(deliveryMetrics(new DeliveryMeasures()));
const CELL = { name: 'eu1', version: '1.0.0', rows: () => ({ organizations: 1, parent_programs: 2, events: 3 }) };
metrics.add(cellMetrics(CELL));
metrics.add([housekeepingMetric(new Tally(HOUSEKEEPING_TASKS))]);
metrics.add(new Workers({ count: 2, url: '', logger: createLogger('silent') }).metrics());
const server = await useServer({ metrics });

type AlertCase = { readonly alertname: string; readonly exp_alerts: readonly unknown[] };

/**
 * Waits for the expected metrics. The server counts a request after it has sent the response, so the client may get the response
 * before.
 */
function untilSeries(expected: Readonly<Record<string, number>>): Promise<Series> {
  return until(`the metrics ${JSON.stringify(expected)}`, async () => {
    const series = await readSeries(metrics);
    return Object.entries(expected).every(([name, value]) => series.get(name) === value) ? series : null;
  });
}

function requests(operation: string, status: string): string {
  return `charter_request_duration_seconds_count{operation="${operation}",status="${status}"}`;
}

test('every request counts once, by operation or part of the server and by class of the status', async () => {
  const { client } = await createTestOrganization(server);
  const before = await readSeries(metrics);
  const { body } = await client.post(LIST, { name: 'Counted' });
  await client.post(LIST, { name: 1 });
  await client.get(`${LIST}/${body.id}`);
  await client.send('HEAD', `${LIST}/${body.id}`);
  await client.get(`${LIST}/${crypto.randomUUID()}`);
  await client.get('/livez');
  await client.get('/sign-in');
  await client.get('/openapi.json');
  await client.get('/api/nothing');
  await client.get('/nothing');
  await client.send('PUT', LIST);
  const names = {
    [requests('createParentProgram', '2xx')]: 1,
    [requests('createParentProgram', '4xx')]: 1,
    [requests('getParentProgram', '2xx')]: 2,
    [requests('getParentProgram', '4xx')]: 1,
    [requests('health', '2xx')]: 1,
    [requests('dashboard', '2xx')]: 1,
    [requests('documentation', '2xx')]: 1,
    [requests('none', '4xx')]: 3,
  };
  const expected = Object.entries(names).map(([name, added]) => [name, (before.get(name) ?? 0) + added] as const);
  const after = await untilSeries(Object.fromEntries(expected));
  // The last bucket contains every request.
  const buckets = 'charter_request_duration_seconds_bucket{operation="health",status="2xx",le="+Inf"}';
  expect(after.get(buckets)).toBe(after.get(requests('health', '2xx')));
});

test('the sum of the durations is in seconds, and that of the requests', async () => {
  const { client } = await createTestOrganization(server);
  const name = requests('listParentPrograms', '2xx');
  const before = await readSeries(metrics);
  const sentAt = performance.now();
  await withClient(server.databaseUrl, async (blocker) => {
    await blocker.query('begin');
    await blocker.query('lock table parent_programs');
    const waiting = client.get(LIST);
    await untilWaiting(server.db.pool, 1);
    await blocker.query('select pg_sleep(0.05)');
    await blocker.query('rollback');
    await waiting;
  });
  const after = await untilSeries({ [name]: (before.get(name) ?? 0) + 1 });
  const sum = name.replace('_count', '_sum');
  const seconds = (after.get(sum) ?? 0) - (before.get(sum) ?? 0);
  expect(seconds).toBeGreaterThan(0.049);
  expect(seconds).toBeLessThanOrEqual((performance.now() - sentAt) / 1000);
});

test('refused keys count by reason', async () => {
  const { client, key } = await createTestOrganization(server);
  const viewer = await createTestOrganization(server, { permissions: ['parent_programs:read'] });
  const anonymous = new Client(server.url);
  const before = byLabel(await readSeries(metrics), 'charter_keys_refused_total', 'reason');
  await anonymous.get(LIST);
  await client.get(LIST, { key: 'not a key' });
  await client.get(LIST, { key: key.slice(0, -1) });
  await client.get(LIST, { key: mintKey('test').key });
  await client.get(LIST, { key: mintKey('live').key });
  await viewer.client.post(LIST, { name: 'Not permitted' });
  await revokeKeyByText(server.db, key);
  await client.get(LIST);
  const after = byLabel(await readSeries(metrics), 'charter_keys_refused_total', 'reason');
  const added = Object.entries(after).map(([reason, count]) => [reason, count - (before[reason] ?? 0)]);
  expect(Object.fromEntries(added)).toEqual({
    missing: 1,
    malformed: 2,
    environment: 1,
    unknown: 1,
    expired: 0,
    rotated: 0,
    revoked: 1,
    deactivated: 0,
    address: 0,
    permission: 1,
    suspended: 0,
  });
});

test.each<[reason: string, key: { lifeDays?: number }, end: (ours: TestOrganization) => Promise<unknown>]>([
  ['expired', { lifeDays: 1 }, async () => server.passDays(2)],
  ['rotated', {}, ({ id }) => changeKeys(id, { rotatedAt: new Date() })],
  [
    'deactivated',
    {},
    ({ id }) =>
      server.db.prisma.user.updateMany({ where: { organizationId: id }, data: { deactivatedAt: new Date() } }),
  ],
  ['address', {}, ({ id }) => changeKeys(id, { allowedAddresses: ['192.0.2.1'] })],
  ['suspended', {}, ({ id }) => suspendOrganization(server.db, id)],
])('a key that is refused for a rarer reason counts as %s, and as nothing else', async (reason, options, end) => {
  const ours = await createTestOrganization(server, options);
  await end(ours);
  const before = byLabel(await readSeries(metrics), 'charter_keys_refused_total', 'reason');
  expect([401, 403]).toContain((await ours.client.get(LIST)).status);
  const after = byLabel(await readSeries(metrics), 'charter_keys_refused_total', 'reason');
  expect(after).toEqual({ ...before, [reason]: (before[reason] ?? 0) + 1 });
});

function changeKeys(organizationId: string, data: { rotatedAt?: Date; allowedAddresses?: string[] }) {
  return server.db.prisma.apiKey.updateMany({ where: { organizationId }, data });
}

test('a request whose client has gone counts as aborted, and not by a status', async () => {
  const { key } = await createTestOrganization(server);
  const names = ['aborted', '2xx', '5xx'].map((status) => requests('createParentProgram', status));
  const before = await readSeries(metrics);
  await withClient(server.databaseUrl, async (blocker) => {
    await blocker.query('begin');
    await blocker.query('lock table parent_programs');
    const leaving = new AbortController();
    const request = fetch(`${server.url}${LIST}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: '{"name":"Gone"}',
      signal: leaving.signal,
    });
    await untilWaiting(server.db.pool, 1);
    leaving.abort();
    await expect(request).rejects.toThrow();
    await untilSeries({ [names[0] ?? '']: (before.get(names[0] ?? '') ?? 0) + 1 });
    await blocker.query('rollback');
  });
  const after = await readSeries(metrics);
  for (const name of names.slice(1)) expect([name, after.get(name)]).toEqual([name, before.get(name)]);
});

test.each([
  [103, '1xx'],
  [200, '2xx'],
  [299, '2xx'],
  [304, '3xx'],
  [499, '4xx'],
  [500, '5xx'],
  [599, '5xx'],
  ['aborted', 'aborted'],
] as const)('a response with %s counts as %s', (status, statusClass) => {
  const durations = new RequestDurations();
  durations.record('getKey', status, 0.1);
  expect([...durations.entries()].map(({ operation, status: counted }) => [operation, counted])).toEqual([
    ['getKey', statusClass],
  ]);
});

test('requests that use the response cache count by what they found', async () => {
  const { client } = await createTestOrganization(server);
  const found = async () => byLabel(await readSeries(metrics), 'charter_response_cache_requests_total', 'result');
  const before = await found();
  await client.post(LIST, { name: 'Cached' });
  for (let i = 0; i < 3; i += 1) await client.get(LIST);
  const after = await found();
  expect({
    hit: (after['hit'] ?? 0) - (before['hit'] ?? 0),
    miss: (after['miss'] ?? 0) - (before['miss'] ?? 0),
  }).toEqual({
    hit: 2,
    miss: 1,
  });
  const series = await readSeries(metrics);
  expect(series.get('charter_response_cache_bytes')).toBeGreaterThan(1000);
  expect(series.get('charter_response_cache_entries')).toBeGreaterThan(0);
});

test('a rate limit counts the requests that it refuses, and a full queue those of its own', async () => {
  const limited = new Metrics();
  await using own = await startServer({
    metrics: limited,
    requestLimits: { perKey: 1, perOrganization: 1_000_000, perAddress: 1 },
  });
  const { client } = await createTestOrganization(own);
  // On a busy machine, tokens cannot always be leased in time, and the server then admits requests without tokens. So several
  // attempts may be needed.
  const refusalsOf = async (send: () => Promise<{ status: number }>) => {
    let refused = 0;
    await until('a refusal', async () => {
      const replies = await Promise.all(Array.from({ length: 20 }, send));
      refused += replies.filter(({ status }) => status === 429).length;
      return refused > 0;
    });
    return refused;
  };
  const byKey = await refusalsOf(() => client.get('/api/key'));
  const byAddress = await refusalsOf(() => own.anonymous.get('/api/key'));
  expect(byLabel(await readSeries(limited), 'charter_rate_limited_total', 'limit')).toEqual({
    key: byKey,
    organization: 0,
    address: byAddress,
  });
  expect(byLabel(await readSeries(limited), 'charter_queue_refused_total', 'queue')).toEqual({
    api: 0,
    dashboard: 0,
    keys: 0,
    rate_limits: 0,
  });
});

test('connections in use, idle and awaited are those of the pool', async () => {
  const { pool, poolSize } = server.db;
  const held = await Promise.all(Array.from({ length: poolSize }, () => pool.connect()));
  const waiting = pool.connect();
  try {
    const during = await readSeries(metrics);
    expect(byLabel(during, 'charter_database_connections', 'state')).toEqual({ in_use: poolSize, idle: 0 });
    expect(during.get('charter_database_connections_max')).toBe(poolSize);
    // Background work of the server waits for a connection, too.
    expect(during.get('charter_database_waiting')).toBeGreaterThanOrEqual(1);
    expect(during.get('charter_database_waiting')).toBeLessThanOrEqual(pool.waitingCount);
  } finally {
    for (const connection of held) connection.release();
    (await waiting).release();
  }
  // The pool closes connections only after they have been idle for some time.
  await until('idle connections', async () => {
    const series = await readSeries(metrics);
    const { in_use: inUse = 0, idle = 0 } = byLabel(series, 'charter_database_connections', 'state');
    return series.get('charter_database_waiting') === 0 && idle > inUse && inUse + idle === pool.totalCount;
  });
});

test('each statement that looks keys up counts with the number of its requests', async () => {
  const { client } = await createTestOrganization(server);
  const sizes = async () => {
    const series = await readSeries(metrics);
    const [sum, count] = ['sum', 'count'].map((part) => series.get(`charter_key_look_up_batch_size_${part}`) ?? 0);
    return { sum: sum ?? 0, count: count ?? 0 };
  };
  const before = await sizes();
  await Promise.all(Array.from({ length: 50 }, () => client.get('/api/key')));
  const after = await sizes();
  expect(after.sum - before.sum).toBe(50);
  expect(after.count - before.count).toBeGreaterThan(0);
  expect(after.count - before.count).toBeLessThanOrEqual(50);
});

// The attack: learning from the metrics who the customers are, or filling the memory with time series.
test('no label has a value that a request, a key, an organization or an address determines', async () => {
  const { client, id, key, email } = await createTestOrganization(server);
  const { body } = await client.post(LIST, { name: 'Labelled' });
  await client.get(`${LIST}/${body.id}?odd=1`);
  await client.delete('/api/odd-path');
  await client.get('/odd-path', { headers: { 'X-Forwarded-For': '203.0.113.9' } });
  const text = await formatSnapshots([await metrics.read()]);
  for (const secret of [id, key, email, body.id, 'odd', 'DELETE', '127.0.0.1', '203.0.113.9'])
    expect(text).not.toContain(secret);
  const labels = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, label]) => label));
  for (const label of [
    'operation',
    'status',
    'reason',
    'outcome',
    'queue',
    'limit',
    'result',
    'state',
    'le',
    'name',
    'table',
    'rows',
  ])
    labels.delete(label);
  // The labels of Node's own metrics: generations of the garbage collector, spaces of the heap, kinds of resources and the
  // version.
  expect([...labels].filter((label) => !/^(kind|space|type|version|major|minor|patch)$/.test(label ?? ''))).toEqual([]);
});

test('two processes with labels of their own appear side by side', async () => {
  const [one, two] = [new Metrics({ worker: '1' }), new Metrics({ worker: '2' })];
  for (const each of [one, two])
    each.add([() => ({ name: 'x', help: 'X.', type: 'gauge', values: [{ labels: {}, value: 1 }] })]);
  // Snapshots from other processes have passed through JSON.
  const snapshots = JSON.parse(JSON.stringify([await one.read(), await two.read()]));
  const series = parseSeries(await formatSnapshots(snapshots));
  expect(byLabel(series, 'x', 'worker')).toEqual({ 1: 1, 2: 1 });
  expect(Object.keys(byLabel(series, 'process_start_time_seconds', 'worker'))).toEqual(['1', '2']);
});

test.each(['grafana-dashboard.json', 'alerts.yaml'])('every metric that %s names exists', async (file) => {
  await createTestOrganization(server).then(({ client }) => client.get(LIST));
  const text = await readFile(join(MONITORING, file), 'utf8');
  const known = new Set([...(await readSeries(metrics)).keys()].map((name) => name.split('{', 1)[0]));
  const named = new Set(text.match(/\b(charter|nodejs|process)_\w+/g));
  expect(named.size).toBeGreaterThan(5);
  expect([...named].filter((name) => !known.has(name))).toEqual([]);
});

test('every alert has a case in which it fires, and one in which it does not', async () => {
  const { groups } = parse(await readFile(join(MONITORING, 'alerts.yaml'), 'utf8'));
  const { tests } = parse(await readFile(join(import.meta.dirname, 'alerts-test.yaml'), 'utf8'));
  const cases = Array.from(tests).flatMap((each) => Array.from<AlertCase>(Object(each).alert_rule_test));
  const names = Array.from<{ alert: string }>(groups[0].rules).map(({ alert }) => alert);
  const fires = (name: string, doesFire: boolean) =>
    cases.some((each) => each.alertname === name && each.exp_alerts.length > 0 === doesFire);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !fires(name, true) || !fires(name, false))).toEqual([]);
});

test('a mail that cannot be sent counts', async () => {
  const failing = new Metrics();
  await using closed = await startServer({
    metrics: failing,
    mail: { smtpUrl: 'smtp://127.0.0.1:1', mailFrom: 'Charter <charter@example.org>' },
  });
  closed.outbox.post({ to: { name: 'Mei', address: 'mei@example.test' }, subject: 'A link', text: 'Open it.' });
  await closed.outbox.settle();
  expect((await readSeries(failing)).get('charter_mail_failures_total')).toBe(1);
});

test('the dashboard shows every metric of the application', async () => {
  const text = await readFile(join(MONITORING, 'grafana-dashboard.json'), 'utf8');
  JSON.parse(text);
  const exposed = await formatSnapshots([await metrics.read()]);
  const ours = [...exposed.matchAll(/^# TYPE (charter_\w+)/gm)].map(([, name]) => name ?? '');
  expect(ours.filter((name) => !text.includes(name))).toEqual([]);
});

test('each value counts in the first range that reaches it, and all values count in the last number', () => {
  const distribution = new Distribution([1, 2, 4]);
  expect(distribution.cumulativeCounts()).toEqual([0, 0, 0, 0]);
  for (const value of [0, 1, 1.5, 2, 4, 4.5, 100]) distribution.record(value);
  expect(distribution.cumulativeCounts()).toEqual([2, 4, 5, 7]);
  expect(distribution.sum).toBe(113);
});
