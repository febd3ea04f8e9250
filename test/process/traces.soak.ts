import { readFile } from 'node:fs/promises';
import { newTraceparent, useCollector } from '../support/http/traces.ts';
import { useScratchDatabase } from '../support/postgres/postgres.ts';
import { logOf, organizationAt, startCharter, withCharter } from '../support/processes/charter.ts';
import { kill, preloading, runFile } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

const database = await useScratchDatabase();
const collector = await useCollector();
const off = { DATABASE_URL: database.url };
const on = { ...off, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };

test('without the endpoint of a collector, a server loads nothing of OpenTelemetry', async () => {
  const refusing = preloading('refuse-open-telemetry.mjs');
  await withCharter({ ...off, ...refusing, OTEL_TRACES_SAMPLER: 'always_on' }, async (charter) => {
    const { client } = await organizationAt(database.url, charter);
    const { headers } = await client.get('/api/key', { headers: { traceparent: newTraceparent().traceparent } });
    const line = await until('the line', () =>
      logOf(charter).find(({ requestId }) => requestId === headers['x-request-id']),
    );
    expect(line).not.toHaveProperty('traceId');
  });
  // Otherwise the refusal above would prove nothing.
  const { code, stdout } = await runFile('src/main.ts', [], { ...on, ...refusing, PORT: '0' });
  expect(code).not.toBe(0);
  expect(stdout).toMatch(/@opentelemetry\/\S+ is loaded/);
});

test('a server exports its last spans when it stops, and says which program and version it is', async () => {
  const charter = await startCharter({ ...on, OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=trial' });
  const { client } = await organizationAt(database.url, charter);
  const { traceId, traceparent } = newTraceparent();
  const { headers } = await client.get('/api/key', { headers: { traceparent } });
  charter.child.kill('SIGTERM');
  expect((await charter.ended).code).toBe(0);
  const request = collector.spans().find((span) => span.traceId === traceId && span.kind === 'server');
  const { version } = JSON.parse(await readFile('package.json', 'utf8'));
  expect(request?.resource).toMatchObject({
    'service.name': 'charter',
    'service.version': version,
    'service.instance.id': expect.stringMatching(/^[\w-]{36}$/),
    'deployment.environment.name': 'trial',
  });
  const line = logOf(charter).find(({ requestId }) => requestId === headers['x-request-id']);
  expect(line).toMatchObject({ traceId });
});

test('each worker exports its own spans', async () => {
  await withCharter({ ...on, WORKERS: '2', OTEL_SERVICE_NAME: 'workers' }, async (charter) => {
    const { client } = await organizationAt(database.url, charter);
    await until('spans of two processes', async () => {
      await client.get('/api/key');
      const ofWorkers = collector.spans().filter(({ resource }) => resource['service.name'] === 'workers');
      return new Set(ofWorkers.map(({ resource }) => resource['service.instance.id'])).size === 2;
    });
  });
});

test('a server whose collector cannot be reached starts, serves and stops', async () => {
  // Nothing listens on this port.
  const charter = await startCharter({ ...off, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
  try {
    const { client } = await organizationAt(database.url, charter);
    for (let i = 0; i < 10; i += 1) expect((await client.get('/api/key')).status).toBe(200);
    charter.child.kill('SIGTERM');
    expect((await charter.ended).code).toBe(0);
    const lines = logOf(charter).filter(({ level }) => Number(level) >= 40);
    expect(lines.map(({ msg }) => msg)).not.toContain('a request failed');
    expect(lines.filter(({ msg }) => String(msg).startsWith('could not export traces')).length).toBeLessThanOrEqual(2);
  } finally {
    await kill(charter);
  }
});
