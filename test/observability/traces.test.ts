import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import { mintKey } from '../../src/domain/keys/api-key.ts';
import { TIME_PARTS } from '../../src/domain/request.ts';
import type { SamplerName } from '../../src/observability/instruments/tracing.ts';
import { startTraces } from '../../src/observability/open-telemetry.ts';
import { coalesceLookUps } from '../../src/traffic/look-ups.ts';
import type { Reply } from '../support/clients/client.ts';
import { readGuide } from '../support/contract/guides.ts';
import { insertEndpoint, untilDelivered, whileDelivering, writeEvents } from '../support/data/deliveries.ts';
import {
  EVERY_TRACE,
  type ExportedSpan,
  newTraceparent,
  useCollector,
  useTraces,
} from '../support/observability/traces.ts';
import { untilWaiting, withClient } from '../support/postgres/postgres.ts';
import type { LogLine } from '../support/processes/charter.ts';
import {
  respondsWith,
  startScriptedServer,
  staysSilent,
  useScriptedServer,
} from '../support/servers/scripted-server.ts';
import { createTestOrganization, startServer, useServer } from '../support/servers/server.ts';
import { until } from '../support/wait.ts';

const LIST = '/api/parent_programs';

const silent = await useScriptedServer();
silent.play(staysSilent);
const collector = await useCollector();
const tracing = await useTraces({ endpoint: collector.url });
const log: LogLine[] = [];
const logger = pino({ base: null }, { write: (line) => log.push(JSON.parse(line)) });
const server = await useServer({ tracing, logger });
const { client, id: organizationId, email, key } = await createTestOrganization(server);

/** Waits for the span of a request. The spans of its parts are exported earlier. */
function untilRequest({ headers }: Reply): Promise<ExportedSpan> {
  const requestId = headers['x-request-id'];
  return collector.untilSpan(`the request ${requestId}`, ({ attributes }) =>
    isDeepStrictEqual(attributes['http.response.header.x-request-id'], [requestId]),
  );
}

function partsOf({ spanId }: ExportedSpan): ExportedSpan[] {
  return collector.spans().filter(({ parentSpanId }) => parentSpanId === spanId);
}

test('a request continues the trace of its caller, with the look-up of the key and each statement as its parts', async () => {
  const { traceId, spanId, traceparent } = newTraceparent();
  const response = await client.get(`${LIST}?limit=7`, { headers: { traceparent } });
  const request = await untilRequest(response);
  expect(request).toMatchObject({
    name: `GET ${LIST}`,
    kind: 'server',
    traceId,
    parentSpanId: spanId,
    isError: false,
    links: [],
  });
  expect(request.attributes).toEqual({
    'http.request.method': 'GET',
    'http.route': LIST,
    'http.response.status_code': 200,
    'http.response.header.x-request-id': [response.headers['x-request-id']],
    'charter.operation': 'listParentPrograms',
  });
  // The statement that counts requests for the rate limits runs in the background.
  const parts = partsOf(request).filter(({ name }) => name !== 'lease_tokens');
  expect(parts.map(({ name, kind, traceId: of }) => ({ name, kind, of }))).toEqual([
    { name: 'look up API key', kind: 'internal', of: traceId },
    { name: 'list_parent_programs_created_at_asc_first', kind: 'client', of: traceId },
  ]);
  const [lookUp] = parts;
  expect(lookUp && partsOf(lookUp)).toMatchObject([
    {
      name: 'find_keys_by_hash',
      kind: 'client',
      attributes: {
        'db.system.name': 'postgresql',
        'db.operation.name': 'SELECT',
        'db.query.summary': 'find_keys_by_hash',
      },
    },
  ]);
});

test('the statements of a transaction are parts of their request', async () => {
  const headers = { 'Idempotency-Key': crypto.randomUUID() };
  const response = await client.post(LIST, { name: 'Traced' }, { headers });
  expect(response.status).toBe(201);
  const request = await untilRequest(response);
  const statements = partsOf(request).map(({ name }) => name);
  expect(statements).toEqual(
    expect.arrayContaining(['BEGIN', 'INSERT idempotency_keys', 'INSERT parent_programs', 'COMMIT']),
  );
});

test('a statement that waits for a connection is a part of the request that sends it', async () => {
  const { pool, poolSize } = server.db;
  const [one, ...others] = await Promise.all(Array.from({ length: poolSize }, () => pool.connect()));
  const spans = ['first', 'second'].map((name) => tracing.startTrace({ name, kind: 'server' }));
  const statements = spans.map((span, i) => tracing.run(span, () => pool.query(`select ${i} as waiting`)));
  // The second statement gets the connection when the first one has ended, so the pool serves it in the context of the first
  // span.
  one?.release();
  await Promise.all(statements);
  for (const connection of others) connection.release();
  for (const span of spans) span.end();
  for (const { spanId } of spans) {
    const ended = await collector.untilSpan('the span', (span) => span.spanId === spanId);
    expect(partsOf(ended).map(({ name }) => name)).toEqual(['SELECT']);
  }
});

test('a request for a page has the route of the page', async () => {
  const { name, attributes } = await untilRequest(await server.anonymous.get('/sign-in'));
  expect(name).toBe('GET /sign-in');
  expect(attributes).toMatchObject({ 'http.route': '/sign-in', 'charter.operation': 'dashboard' });
});

test.each(['', '00-0-0-01', `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`, `ff-${'1'.repeat(32)}-${'1'.repeat(16)}-01`])(
  'a request with the traceparent %j starts a trace',
  async (traceparent) => {
    const request = await untilRequest(await client.get('/api/key', { headers: { traceparent } }));
    expect(request.parentSpanId).toBeUndefined();
  },
);

test('the log line of a request has the id of its trace, even if the trace is not recorded', async () => {
  const [recorded, left] = [newTraceparent(), newTraceparent({ isSampled: false })];
  for (const { traceId, traceparent } of [left, recorded]) {
    const { headers } = await client.get('/api/key', { headers: { traceparent } });
    const line = await until('the line', () => log.find(({ requestId }) => requestId === headers['x-request-id']));
    expect(line).toMatchObject({ traceId, path: '/api/key', status: 200 });
  }
  // Spans are exported in order, so the earlier spans have been exported, too.
  await untilRequest(await client.get('/api/key'));
  expect(collector.text()).toContain(recorded.traceId);
  expect(collector.text()).not.toContain(left.traceId);
});

test('the guide leads from the request id of a slow batch to the part that took long, even if its trace was left out', async () => {
  const leftOut = await useTraces({ endpoint: collector.url, sampler: 'parentbased_always_off' });
  await using own = await startServer({ tracing: leftOut, logger, slowRequestMs: 1 });
  const { client: importing } = await createTestOrganization(own);
  const { headers } = await withClient(own.databaseUrl, async (blocker) => {
    await blocker.query('begin');
    await blocker.query('lock table parent_programs');
    const changes = [{ action: 'create', body: { name: 'One' } }];
    const waiting = importing.post(`${LIST}/batch`, { changes });
    await untilWaiting(own.db.pool, 1);
    await blocker.query('select pg_sleep(0.05)');
    await blocker.query('rollback');
    return waiting;
  });
  const line = await until('the line', () => log.find(({ requestId }) => requestId === headers['x-request-id']));
  const guide = readGuide('monitoring.md');
  const [, sample = '{}'] = /^(\{"level".*\})$/m.exec(guide) ?? [];
  const membersOf = (members: LogLine) => Object.keys(members).filter((name) => !/.Ms$/.test(name));
  expect(membersOf(line)).toEqual(membersOf(JSON.parse(sample)));
  expect(line).toMatchObject({ level: 40, msg: 'slow request', operation: 'batchParentPrograms', changes: 1 });
  const times = Object.entries(line).flatMap(([name, value]) => (/.Ms$/.test(name) ? [Number(value)] : []));
  const sum = times.reduce((total, ms) => total + ms, 0);
  // Parts of less than a millisecond are left out.
  expect(Math.abs(sum - Number(line['milliseconds']))).toBeLessThan(TIME_PARTS.length);
  expect(line['databaseMs']).toBeGreaterThan(49);
  const explained = [...guide.matchAll(/^\| `(\w+)Ms` \|/gm)].map(([, part]) => part);
  expect(explained).toEqual([...TIME_PARTS]);

  const request = await collector.untilSpan(
    'the request',
    ({ traceId, kind }) => traceId === line['traceId'] && kind === 'server',
  );
  expect(request).toMatchObject({
    name: `POST ${LIST}/batch`,
    kind: 'server',
    attributes: {
      'http.response.header.x-request-id': [line['requestId']],
      'charter.operation': 'batchParentPrograms',
    },
  });
  expect(partsOf(request).map(({ name }) => name)).toEqual(expect.arrayContaining(['key', 'database']));
});

test('a failed statement and its request are errors, and the log line of the failure names the trace', async () => {
  await using own = await startServer({ tracing, logger });
  const { client: failing } = await createTestOrganization(own);
  await own.db.pool.query('alter table parent_programs rename to others');
  const response = await failing.get(LIST);
  expect(response.status).toBe(500);
  const request = await untilRequest(response);
  expect(request).toMatchObject({ isError: true, attributes: { 'error.type': '500' } });
  expect(partsOf(request).find(({ name }) => name.startsWith('list_'))).toMatchObject({
    isError: true,
    attributes: { 'error.type': '42P01', 'db.response.status_code': '42P01' },
  });
  expect(log.filter(({ msg }) => msg === 'a request failed').at(-1)).toMatchObject({ traceId: request.traceId });
});

test('a refused request is no error of the server', async () => {
  const request = await untilRequest(await server.anonymous.get(LIST));
  expect(request).toMatchObject({ isError: false, attributes: { 'http.response.status_code': 401 } });
});

test('requests whose keys are looked up together share a span, which is linked with each of them', async () => {
  const find = coalesceLookUps(
    async (keys) => {
      tracing.start({ name: 'the statement', kind: 'client' })?.end();
      return new Map(keys.map((each) => [each, each]));
    },
    { tracing },
  );
  const requests = ['one', 'two', 'three'].map((name) => ({
    name,
    span: tracing.startTrace({ name, kind: 'server' }),
  }));
  await Promise.all(requests.map(({ name, span }) => tracing.run(span, () => find(name))));
  for (const { span } of requests) span.end();
  const [one, two, three] = await Promise.all(
    requests.map(({ span: { spanId } }) => collector.untilSpan('the request', (span) => span.spanId === spanId)),
  );
  const shared = await collector.untilSpan('the shared span', ({ name }) => name === 'look up API keys');
  const idsOf = (span: ExportedSpan | undefined) => ({ traceId: span?.traceId, spanId: span?.spanId });
  expect(shared).toMatchObject({ parentSpanId: one?.spanId, traceId: one?.traceId });
  expect(shared.links).toEqual([idsOf(two), idsOf(three)]);
  expect([one, two, three].map((span) => span?.links)).toEqual([[], [idsOf(shared)], [idsOf(shared)]]);
  expect(partsOf(shared).map(({ name }) => name)).toEqual(['the statement']);
});

// The attack: learning from the traces a key, or what an organization stores.
test('no span contains a key, a query, a path, a body, an address or an organization', async () => {
  const strange = mintKey('live').key;
  const description = 'Secret description';
  const { body } = await client.post(LIST, { name: 'Secret name', description, external_id: 'SECRET-1' });
  await client.get(`${LIST}/${body.id}`);
  await client.get(`${LIST}?search=secret-search&external_id=SECRET-1`);
  await client.get(`${LIST}/${key}`);
  await client.get('/api/key', { key: strange });
  await client.get(`/${key}?key=${key}`, { headers: { 'User-Agent': 'secret-agent', Referer: 'secret-referrer' } });
  await client.post(LIST, { name: key });
  await client.patch(`${LIST}/${body.id}`, { name: 'Secret change' });
  const headers = { traceparent: newTraceparent().traceparent, tracestate: 'vendor=secret-state' };
  await untilRequest(await client.get('/api/key', { headers }));
  const text = collector.text();
  for (const secret of [key, key.slice(-20), strange.slice(-20), 'ecret', 'SECRET-1', body.id, organizationId, email])
    expect({ secret, isExported: text.includes(secret) }).toEqual({ secret, isExported: false });
  for (const { attributes } of collector.spans())
    expect(JSON.stringify(attributes)).not.toMatch(/127\.0\.0\.1|localhost/);
});

test('every span of the server has one of few names', async () => {
  await client.get(`${LIST}?search=${crypto.randomUUID()}`);
  const request = await untilRequest(await client.delete(`/${crypto.randomUUID()}`));
  expect(request.name).toBe('DELETE');
  const names = new Set(collector.spans().map(({ name }) => name));
  expect([...names].filter((name) => /[0-9a-f]{8}-|\$\d|'/.test(name))).toEqual([]);
});

// The receiver belongs to somebody else, who must not learn how the server traces.
test('an attempt to deliver a webhook is a trace of its own, which its receiver does not see', async () => {
  await using receiver = await startScriptedServer();
  receiver.play(respondsWith(202));
  const endpoint = await insertEndpoint(server.db, organizationId, { url: `${receiver.url}/secret-path` });
  const [messageId] = await writeEvents(server.db, organizationId);
  await whileDelivering(server.db, () => untilDelivered(server.db, endpoint), { tracing });
  const attempt = await collector.untilSpan(
    'the attempt',
    ({ attributes }) => attributes['messaging.message.id'] === messageId,
  );
  expect(attempt).toMatchObject({ name: 'POST webhook', kind: 'client', parentSpanId: undefined, isError: false });
  expect(attempt.attributes).toEqual({
    'http.request.method': 'POST',
    'http.response.status_code': 202,
    'messaging.message.id': messageId,
  });
  expect(receiver.received[0]?.headers).not.toHaveProperty('traceparent');
  expect(receiver.received[0]?.headers).not.toHaveProperty('tracestate');
});

test('a failed attempt to deliver a webhook is an error', async () => {
  // Uses an organization of its own, because endpoints of other tests would get the event, too.
  const { id } = await createTestOrganization(server);
  await using receiver = await startScriptedServer();
  receiver.play(respondsWith(410));
  await insertEndpoint(server.db, id, { url: receiver.url });
  const [messageId] = await writeEvents(server.db, id);
  const attempt = await whileDelivering(
    server.db,
    () =>
      collector.untilSpan(
        'the attempt',
        ({ attributes, isError }) => isError && attributes['messaging.message.id'] === messageId,
      ),
    { tracing },
  );
  expect(attempt.attributes).toMatchObject({ 'http.response.status_code': 410, 'error.type': '410' });
});

describe.each<{ sampler: SamplerName; ratio: number; of: { none: boolean; sampled: boolean; unsampled: boolean } }>([
  { sampler: 'parentbased_always_on', ratio: 0, of: { none: true, sampled: true, unsampled: false } },
  { sampler: 'parentbased_always_off', ratio: 1, of: { none: false, sampled: true, unsampled: false } },
  { sampler: 'parentbased_traceidratio', ratio: 0, of: { none: false, sampled: true, unsampled: false } },
  { sampler: 'parentbased_traceidratio', ratio: 1, of: { none: true, sampled: true, unsampled: false } },
  { sampler: 'always_on', ratio: 0, of: { none: true, sampled: true, unsampled: true } },
  { sampler: 'always_off', ratio: 1, of: { none: false, sampled: false, unsampled: false } },
  { sampler: 'traceidratio', ratio: 0, of: { none: false, sampled: false, unsampled: false } },
  { sampler: 'traceidratio', ratio: 1, of: { none: true, sampled: true, unsampled: true } },
])('the sampler $sampler of $ratio', ({ sampler, ratio, of }) => {
  test('decides with the caller or alone', async () => {
    const traces = await startTraces({ ...EVERY_TRACE, endpoint: collector.url, sampler, ratio });
    const records = (traceparent?: string) => traces.startTrace({ name: 'x', kind: 'server' }, traceparent).isRecording;
    expect({
      none: records(),
      sampled: records(newTraceparent().traceparent),
      unsampled: records(newTraceparent({ isSampled: false }).traceparent),
    }).toEqual(of);
    await traces.close();
  });
});

// The risk: an outage of the collector becomes an outage of the server.
test.each([
  // Nothing listens on this port.
  { kind: 'that refuses connections', endpoint: 'http://127.0.0.1:1' },
  { kind: 'that never responds', endpoint: silent.url },
])('a collector $kind fails no request, and has one line in the log', async ({ endpoint }) => {
  const lines: LogLine[] = [];
  const traces = await startTraces({
    ...EVERY_TRACE,
    endpoint,
    exportTimeoutMs: 50,
    logger: pino({ level: 'warn', base: null }, { write: (line) => lines.push(JSON.parse(line)) }),
  });
  await using own = await startServer({ tracing: traces });
  const { client: served } = await createTestOrganization(own);
  const request = async () => expect((await served.get('/api/key')).status).toBe(200);
  await until('the line', async () => {
    await request();
    return lines.length > 0;
  });
  for (let i = 0; i < 30; i += 1) await request();
  await traces.close();
  const failures = lines.filter(({ msg }) => msg === 'could not export traces; these spans are lost');
  expect(failures).toHaveLength(lines.length);
  // The first failure is logged immediately. The number of further failures is logged in one line at the end.
  expect(lines.length).toBeLessThanOrEqual(2);
});
