import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseKeyring } from '../../src/domain/keyring.ts';
import { RELEASE_VERSION } from '../../src/domain/release.ts';
import { issueKeyByEmail } from '../../src/service/operator/keys.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { Client, exchangeRaw } from '../support/clients/client.ts';
import { Browser } from '../support/dashboard/dashboard.ts';
import { insertEndpoint, listDeliveries } from '../support/data/deliveries.ts';
import { newTraceparent, useCollector } from '../support/observability/traces.ts';
import { setSessionSettings, startPooler } from '../support/postgres/pooler.ts';
import {
  createScratchDatabase,
  ENCRYPTION_KEY,
  withClient,
  withScratchDatabase,
} from '../support/postgres/postgres.ts';
import { connectTo } from '../support/postgres/store.ts';
import { runAdminCommand } from '../support/processes/admin.ts';
import { endCharter, type LogLine, logOf, organizationAt, SERVES, startCharter } from '../support/processes/charter.ts';
import { kill, preloading, type Running, runFile, startFile, untilPrinted } from '../support/processes/process.ts';
import { freePort } from '../support/servers/port.ts';
import { respondsWith, startScriptedServer } from '../support/servers/scripted-server.ts';
import { createTestOrganization } from '../support/servers/server.ts';
import { untilAdmitted } from '../support/traffic/load.ts';
import { until } from '../support/wait.ts';

// What each environment variable does in a process: one server has all variables, another server has none. test/config.test.ts
// tests that each variable is read.

const HOST = '127.0.0.2';
const METRICS_HOST = '127.0.0.3';
const WORKERS = 3;
const POOL_SIZE = 20;
/** A drain time that is longer than a shutdown without DRAIN_SECONDS. */
const DRAIN_SECONDS = 4;
/**
 * The ages of old events, in days. The server of this test deletes both events. A server without the variables deletes only the
 * second event.
 */
const OLD_DAYS = [3, 100];
/** The ratio sampler combines the four parts of a trace id with XOR, and records traces with low results. */
const LOWEST_TRACE = `${'0'.repeat(31)}1`;
const LOW_TRACE = `${'0'.repeat(31)}2`;
const LAST_TRACE = `${'0'.repeat(31)}3`;
const HIGHEST_TRACE = `ffffffff${'0'.repeat(24)}`;

const database = await createScratchDatabase();
await withClient(database.url, (client) =>
  client.query(
    `insert into _prisma_migrations (id, checksum, migration_name, finished_at)
     values (gen_random_uuid(), 'x', '20991231000000_of_tomorrow', now())`,
  ),
);
await setSessionSettings(database.url);
const pooler = await startPooler(database.url);
const receiver = await startScriptedServer();
receiver.play(respondsWith(202));
const collector = await useCollector();
const dataDir = await mkdtemp(join(tmpdir(), 'charter-variables-'));
const [port, metricsPort] = [await freePort(HOST), await freePort(METRICS_HOST)];
const environment = {
  HOST,
  PORT: String(port),
  DATABASE_URL: pooler.url,
  DATABASE_DIRECT_URL: database.url,
  DATABASE_POOL_SIZE: String(POOL_SIZE),
  NEWER_DATABASE: 'accept',
  // A new key, and the key that encrypts the database of this test.
  ENCRYPTION_KEY: `${randomBytes(32).toString('base64')},${ENCRYPTION_KEY}`,
  EVENT_RETENTION_DAYS: '2',
  WEBHOOKS_ALLOW_HTTP: 'true',
  WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.1',
  DRAIN_SECONDS: String(DRAIN_SECONDS),
  WORKERS: String(WORKERS),
  METRICS_HOST,
  METRICS_PORT: String(metricsPort),
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_SERVICE_NAME: 'charter-of-this-test',
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=trial',
  OTEL_TRACES_SAMPLER: 'traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '0.5',
  LOG_LEVEL: 'warn',
  NODE_ENV: 'production',
  CHARTER_ENVIRONMENT: 'test',
  CHARTER_CELL: 'eu1',
  CHARTER_CELLS: 'eu1 Europe https://charter.example.org, us1 United States https://us1.charter.example.org',
  CHARTER_CELL_DOMAINS: join(dataDir, 'domains.map'),
  COMMON_URL: 'https://common.example.org',
  PUBLIC_URL: 'https://charter.example.org',
  TRUSTED_PROXIES: 'loopback',
};
await writeFile(environment.CHARTER_CELL_DOMAINS, 'acme.example us1\nnorthwind.example us\n');

const url = `http://${HOST}:${port}`;
const metricsUrl = `http://${METRICS_HOST}:${metricsPort}/metrics`;
const db = connectTo(database.url, 1);
await db.pool.query(`set application_name = 'test'`);
const oldEvents = await insertOldEvents(db);
// Creates the organization before the server starts, because the server counts organizations only once a minute.
const { email, id: organizationId } = await createTestOrganization({ db, url });
const changed = startFile('src/main.ts', [], environment);
await until('the server', () => answers(url));
const permissions = ['parent_programs:read', 'parent_programs:write'] as const;
const request = { email, name: 'Of the server', permissions, lifeDays: 1, environment: 'test' } as const;
const { key } = await issueKeyByEmail(db, request);
const client = new Client(url, key);

afterAll(async () => {
  await kill(changed);
  await db.close();
  await receiver.close();
  await pooler.close();
  await database.drop();
  await rm(dataDir, { recursive: true });
});

const EFFECTS: Readonly<Record<string, () => Promise<void>>> = {
  async HOST() {
    expect(await answers(url)).toBe(true);
    expect(await answers(`http://127.0.0.1:${port}`)).toBe(false);
  },
  async PORT() {
    expect((await client.get('/livez')).status).toBe(200);
  },
  async DATABASE_URL() {
    expect((await untilAdmitted(() => client.get('/readyz'))).status).toBe(200);
    expect(await connections()).toBeGreaterThan(0);
    expect(pooler.clients()).toBeGreaterThan(0);
  },
  async DATABASE_DIRECT_URL() {
    const { DATABASE_URL, NEWER_DATABASE } = environment;
    const alone = await runFile('src/main.ts', [], { PORT: '0', DATABASE_URL, NEWER_DATABASE });
    expect(alone).toMatchObject({ code: 1, stderr: expect.stringContaining('Set DATABASE_DIRECT_URL to the URL') });
  },
  async DATABASE_POOL_SIZE() {
    const ofWorker = `charter_database_connections_max{worker="1"} ${POOL_SIZE}\n`;
    expect(await (await fetch(metricsUrl)).text()).toContain(ofWorker);
  },
  // By default, a newer database is refused, which test/postgres/migrate.test.ts tests.
  async NEWER_DATABASE() {
    const { rows } = await db.pool.query(`select migration_name from _prisma_migrations order by 1 desc limit 1`);
    expect(rows).toEqual([{ migration_name: '20991231000000_of_tomorrow' }]);
    expect((await untilAdmitted(() => client.get('/readyz'))).status).toBe(200);
  },
  async ENCRYPTION_KEY() {
    const { rows } = await db.pool.query('select id from encryption_keys');
    const ids = rows.map(({ id }: { id: Buffer }) => id.toString('hex'));
    expect(ids).toContain(parseKeyring(environment.ENCRYPTION_KEY)?.currentId);
  },
  async EVENT_RETENTION_DAYS() {
    await until('the old events to be deleted', async () => (await oldEvents.daysKept()).length === 0);
  },
  async WEBHOOKS_ALLOW_HTTP() {
    expect(await attemptAt(db, { organizationId, endpointUrl: receiver.url })).toBe(202);
  },
  async WEBHOOKS_ALLOWED_NETWORKS() {
    const endpointUrl = receiver.url.replace('127.0.0.1', HOST);
    expect(await attemptAt(db, { organizationId, endpointUrl })).toContain('must not connect to the address');
  },
  async WORKERS() {
    expect(await (await fetch(metricsUrl)).text()).toContain(`charter_workers ${WORKERS}\n`);
  },
  async METRICS_HOST() {
    expect((await fetch(metricsUrl)).status).toBe(200);
    await expect(fetch(`http://127.0.0.1:${metricsPort}/metrics`)).rejects.toThrow();
  },
  async METRICS_PORT() {
    expect((await client.get('/metrics')).status).toBe(404);
  },
  // Each worker exports its own spans.
  async OTEL_EXPORTER_OTLP_ENDPOINT() {
    await until('spans of two processes', async () => {
      await client.get('/api/key');
      return new Set(collector.spans().map(({ resource }) => resource['service.instance.id'])).size > 1;
    });
  },
  async OTEL_SERVICE_NAME() {
    const { resource } = await collector.untilSpan('a span', ({ kind }) => kind === 'server');
    expect(resource).toMatchObject({
      'service.name': 'charter-of-this-test',
      'service.version': RELEASE_VERSION,
      'service.instance.id': expect.stringMatching(/^[\w-]{36}$/),
      'deployment.environment.name': 'trial',
    });
  },
  // The caller says that the trace is not recorded. The default sampler would obey.
  async OTEL_TRACES_SAMPLER() {
    await client.get('/api/key', { headers: { traceparent: `00-${LOWEST_TRACE}-${'1'.repeat(16)}-00` } });
    await collector.untilSpan('the lowest trace', ({ traceId }) => traceId === LOWEST_TRACE);
  },
  async OTEL_TRACES_SAMPLER_ARG() {
    await client.get('/api/key', { headers: { traceparent: `00-${HIGHEST_TRACE}-${'1'.repeat(16)}-01` } });
    await client.get('/api/key', { headers: { traceparent: `00-${LOW_TRACE}-${'1'.repeat(16)}-01` } });
    await collector.untilSpan('the low trace', ({ traceId }) => traceId === LOW_TRACE);
    expect(collector.spans().filter(({ traceId }) => traceId === HIGHEST_TRACE)).toEqual([]);
  },
  async LOG_LEVEL() {
    const levels = logOf(changed).map(({ level }) => Number(level));
    expect(levels).toContain(40);
    expect(levels.filter((level) => level < 40)).toEqual([]);
  },
  // In development, this database would contain the demonstration data.
  async NODE_ENV() {
    const { rows } = await db.pool.query(`select 1 from users where email like '%@northwind.example'`);
    expect(rows).toEqual([]);
  },
  async CHARTER_CELLS() {
    // The command reads the counts from the metrics of this server.
    const CHARTER_CELLS = `eu1 Europe ${url} ${metricsUrl}`;
    const stdout = await until('the cell to have counted its rows', async () => {
      const ended = await runAdminCommand('', ['cells', '--json'], { CHARTER_CELLS });
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      return ended.stdout.includes('"organizations":null') ? null : ended.stdout;
    });
    const organizations = await db.prisma.organization.count();
    const [cell] = JSON.parse(stdout).cells;
    expect(cell).toMatchObject({ cell: 'eu1', health: 'ready', version: RELEASE_VERSION, organizations });
  },
  async CHARTER_CELL_DOMAINS() {
    const page = await atCommonAddress('203.0.113.12').submit('/sign-in', { email: 'mei@acme.example' });
    expect(page.headers['refresh']).toBe('0; url=https://us1.charter.example.org/sign-in#email=mei%40acme.example');
    await until('the warning', () =>
      logOf(changed).some(({ msg }) => /^Line 2 of CHARTER_CELL_DOMAINS/.test(String(msg))),
    );
    const other = await runFile('src/main.ts', [], { ...environment, CHARTER_CELL_DOMAINS: '/nowhere' });
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('"/nowhere", which cannot be read') });
  },
  // The response to a request that is not valid HTTP has the header, too.
  async PUBLIC_URL() {
    for (const path of ['/api/key', '/sign-in', '/nothing'])
      expect((await client.get(path)).headers).toHaveProperty('strict-transport-security');
    expect(await exchangeRaw(url, 'what is this\r\n\r\n')).toMatch(/^Strict-Transport-Security: /im);
  },
  // The last spans are exported before the process ends.
  async DRAIN_SECONDS() {
    await client.get('/api/key', { headers: { traceparent: `00-${LAST_TRACE}-${'1'.repeat(16)}-01` } });
    const startedAt = performance.now();
    changed.child.kill('SIGTERM');
    expect((await changed.ended).code).toBe(0);
    expect(performance.now() - startedAt).toBeGreaterThan(DRAIN_SECONDS * 1000 - 100);
    expect(collector.spans().some(({ traceId }) => traceId === LAST_TRACE)).toBe(true);
  },
};

// The effects are tested in the order of EFFECTS. DRAIN_SECONDS is last, because its effect ends the process.
test('each variable has its effect in a server that has all of them', async () => {
  const failures: Record<string, unknown> = {};
  for (const [name, observe] of Object.entries(EFFECTS)) {
    await observe().catch((error: unknown) => {
      failures[name] = error instanceof Error ? error.message : error;
    });
  }
  expect(failures).toEqual({});
});

// Shows that the effects above come from the variables, and that not every server has these effects.
test('a server without the variables does otherwise, and loads nothing of OpenTelemetry', async () => {
  const refusing = preloading('refuse-open-telemetry.mjs');
  await withScratchDatabase(async (DATABASE_URL) => {
    await withServer({ DATABASE_URL, ENCRYPTION_KEY, ...refusing }, async (running, plainUrl) => {
      expect(new URL(plainUrl).hostname).toBe('127.0.0.1');
      const { client: plain, id } = await organizationAt(DATABASE_URL, { url: plainUrl });
      const { headers } = await plain.get('/api/key', { headers: { traceparent: newTraceparent().traceparent } });
      const isIts = ({ requestId }: LogLine) => requestId === headers['x-request-id'];
      expect(await until('the line', () => requestsIn(running).find(isIts))).not.toHaveProperty('traceId');
      await until('the demonstration', () => running.printed.stdout.includes('@northwind.example'));
      await using own = connectTo(DATABASE_URL, 1);
      // In development, webhooks reach the whole loopback network. WEBHOOKS_ALLOWED_NETWORKS has only one address of it.
      const endpointUrl = receiver.url.replace('127.0.0.1', HOST);
      expect(String(await attemptAt(own, { organizationId: id, endpointUrl }))).not.toContain('must not');
    });
  });
  // Shows that refuse-open-telemetry.mjs works: a server with traces must fail because of it.
  const traced = { DATABASE_URL: database.url, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...refusing, PORT: '0' };
  const { code, stdout } = await runFile('src/main.ts', [], traced);
  expect(code).not.toBe(0);
  expect(stdout).toMatch(/@opentelemetry\/\S+ is loaded/);
});

test('by default, an event of three days ago is kept; a collector that cannot be reached disturbs nothing', async () => {
  await withScratchDatabase(async (DATABASE_URL) => {
    await using own = connectTo(DATABASE_URL, 1);
    const { daysKept } = await insertOldEvents(own);
    // Nothing listens on this port.
    const env = { DATABASE_URL, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
    await using charter = await startCharter(env);
    const { client: traced } = await organizationAt(DATABASE_URL, charter);
    for (let i = 0; i < 10; i += 1) await until('a success', async () => (await traced.get('/api/key')).status === 200);
    await until('the older event to be deleted', async () => (await daysKept()).length < OLD_DAYS.length);
    expect(await daysKept()).toEqual([3]);
    await endCharter(charter);
    const lines = logOf(charter).filter(({ level }) => Number(level) >= 40);
    expect(lines.map(({ msg }) => msg)).not.toContain('a request failed');
    const reports = lines.filter(({ msg }) => String(msg).startsWith('could not export traces'));
    expect(reports.length).toBeLessThanOrEqual(2);
  });
});

/** Adds an event of each age to a new organization. */
async function insertOldEvents(own: Database) {
  const { id } = await createTestOrganization({ db: own, url });
  for (const days of OLD_DAYS)
    await own.pool.query(
      `insert into events (organization_id, id, type, "timestamp", data)
       select $1, event_id(version, 1), 'parent_program.created', event_timestamp(version), '{}'
       from cast(extract(epoch from now() - make_interval(days => $2)) * 1000000 as bigint) version`,
      [id, days],
    );
  return {
    async daysKept(): Promise<number[]> {
      const { rows } = await own.pool.query(
        `select extract(day from now() - "timestamp")::int as days from events where organization_id = $1 order by 1`,
        [id],
      );
      return rows.map(({ days }: { days: number }) => days);
    },
  };
}

/** Makes the server send a test event to a new endpoint. Returns the status of the response, or why there was no response. */
async function attemptAt(
  own: Database,
  { organizationId: owner, endpointUrl }: { organizationId: string; endpointUrl: string },
): Promise<number | string | undefined> {
  const { secret: _, ...endpoint } = await insertEndpoint(own, owner, { url: endpointUrl });
  await own.prisma.webhookDelivery.create({ data: { ...endpoint, messageId: randomUUID(), isTest: true } });
  const attempt = await until('an attempt', async () => (await listDeliveries(own, endpoint))[0]?.log[0]);
  return attempt.status ?? attempt.error;
}

/** Returns the log lines of a development server, without its welcome text. */
function requestsIn({ printed }: Running): LogLine[] {
  return printed.stdout
    .split('\n')
    .flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line)] : []));
}

function atCommonAddress(ip: string): Browser {
  return new Browser(url, { localAddress: HOST, headers: { Host: 'common.example.org', 'X-Forwarded-For': ip } });
}

async function connections(): Promise<number> {
  const text = `select 1 from pg_stat_activity where datname = current_database() and application_name = 'charter' and pid <> pg_backend_pid()`;
  return withClient(database.url, async (asking) => (await asking.query(text)).rowCount ?? 0);
}

async function answers(origin: string): Promise<boolean> {
  return fetch(`${origin}/livez`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** Runs the work with a development server that has only these variables and a free port. */
async function withServer(
  env: Record<string, string>,
  work: (running: Running, url: string) => Promise<void>,
): Promise<void> {
  await using running = startFile('src/main.ts', [], { PORT: '0', ...env });
  const [, printedUrl = ''] = await untilPrinted(running, SERVES);
  await work(running, printedUrl);
}
