import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mintKey } from '../../src/domain/api-key.ts';
import { parseKeyring } from '../../src/domain/keyring.ts';
import { VERSION } from '../../src/domain/release.ts';
import { issueKeyByEmail } from '../../src/service/operator/keys.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { insertEndpoint, listDeliveries } from '../support/data/deliveries.ts';
import { ENCRYPTION_KEY, KEYRING } from '../support/data/encryption.ts';
import { Client, type Reply } from '../support/http/client.ts';
import { Browser } from '../support/http/dashboard.ts';
import { askForReset } from '../support/http/forgotten-password.ts';
import { freePort } from '../support/http/free-port.ts';
import { exchangeRaw } from '../support/http/raw.ts';
import { createScanner, messageAbout, reportAsProgram } from '../support/http/reports.ts';
import { respondsWith, startScriptedServer } from '../support/http/scripted-server.ts';
import { createTestOrganization } from '../support/http/server.ts';
import { startSmtp } from '../support/http/smtp.ts';
import { useCollector } from '../support/http/traces.ts';
import { setSessionSettings, startPooler } from '../support/postgres/pooler.ts';
import { createScratchDatabase, untilWaiting, withClient, withScratchDatabase } from '../support/postgres/postgres.ts';
import { runAdminCommand } from '../support/processes/admin.ts';
import { logOf, organizationAt, SERVES } from '../support/processes/charter.ts';
import { kill, type Running, runFile, startFile, untilPrinted } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

// Servers as an operator starts them: one with every variable unlike its default, and one with none but those that it needs.

const HOST = '127.0.0.2';
const METRICS_HOST = '127.0.0.3';
const WORKERS = 3;
const POOL_SIZE = 20;
/** Six tenths of the connections are for the operations of the API, all but one of them for an organization that is alone. */
const STATEMENTS_OF_AN_ORGANIZATION = 11;
const FORWARDED_IP = '203.0.113.9';
/** Longer than another shutdown takes. */
const DRAIN_SECONDS = 4;
const BROKEN_RESPONSES = 40;
/** The ages of old events, in days: the server of this test deletes both, and one without the variables only the second. */
const OLD_DAYS = [3, 100];
const LIST = '/api/parent_programs';
/** The sampler by trace id combines the four parts of the id by an exclusive or, and records it if the result is low. */
const LOWEST_TRACE = `${'0'.repeat(31)}1`;
const LOW_TRACE = `${'0'.repeat(31)}2`;
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
const smtp = await startSmtp();
const receiver = await startScriptedServer();
receiver.play(respondsWith(202));
const collector = await useCollector();
const dataDir = await mkdtemp(join(tmpdir(), 'charter-variables-'));
const [port, metricsPort] = [await freePort(HOST), await freePort(METRICS_HOST)];
const scanner = createScanner();
const environment = {
  HOST,
  PORT: String(port),
  DATABASE_URL: pooler.url,
  DATABASE_DIRECT_URL: database.url,
  DATABASE_POOL_SIZE: String(POOL_SIZE),
  NEWER_DATABASE: 'accept',
  // A new one, and the one that encrypts the database of this test.
  ENCRYPTION_KEY: `${randomBytes(32).toString('base64')},${ENCRYPTION_KEY}`,
  RATE_LIMIT_PER_KEY: '400',
  RATE_LIMIT_PER_ORGANIZATION: '600',
  RATE_LIMIT_PER_ADDRESS: '5',
  RESPONSE_CACHE_MIB: '0',
  RESPONSE_CHECK: 'report',
  RESPONSE_CHECK_SAMPLE_RATE: '0.5',
  EVENT_RETENTION_DAYS: '2',
  WEBHOOKS_ALLOW_HTTP: 'true',
  WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.1',
  DRAIN_SECONDS: String(DRAIN_SECONDS),
  WORKERS: String(WORKERS),
  METRICS_HOST,
  METRICS_PORT: String(metricsPort),
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_SERVICE_NAME: 'charter-of-this-test',
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
  SMTP_URL: smtp.url,
  MAIL_FROM: 'Ada of Acme <ada@acme.example>',
  SUPPORT_CONTACT: 'help@acme.example',
  SECRET_SCANNING_KEYS: scanner.variable,
};
/** Without effect where the others are set. */
const elsewhere = { DATA_DIR: dataDir };

await writeFile(environment.CHARTER_CELL_DOMAINS, 'acme.example us1\nnorthwind.example us\n');

const url = `http://${HOST}:${port}`;
const metricsUrl = `http://${METRICS_HOST}:${metricsPort}/metrics`;
const db = openDatabase({ url: database.url, keyring: KEYRING, poolSize: 1, onIdleError: () => {} });
await db.pool.query(`set application_name = 'test'`);
const oldEvents = await insertOldEvents(db);
const changed = startFile('src/main.ts', [], environment);
await until('the server', () => answers(url));
const { email, id: organizationId } = await createTestOrganization({ db, url });
const keyOf = async (given: 'live' | 'test') =>
  (
    await issueKeyByEmail(db, {
      email,
      name: `Key of ${given}`,
      permissions: ['parent_programs:read', 'parent_programs:write'],
      lifeDays: 1,
      environment: given,
    })
  ).key;
const keys = { live: await keyOf('live'), test: await keyOf('test') };
const client = new Client(url, keys.test);

afterAll(async () => {
  await kill(changed);
  await db.close();
  smtp.close();
  await receiver.close();
  await pooler.close();
  await database.drop();
  await rm(dataDir, { recursive: true });
});

type Name = keyof typeof environment | keyof typeof elsewhere;

// Each effect with a request that has no valid key names a client address of its own: under the limit of this server, one worker
// can hold all tokens of an address.
const EFFECTS: Record<Name, () => Promise<void>> = {
  async HOST() {
    expect(await answers(url)).toBe(true);
    expect(await answers(`http://127.0.0.1:${port}`)).toBe(false);
  },
  async PORT() {
    expect((await client.get('/livez')).status).toBe(200);
  },
  async DATABASE_URL() {
    expect((await client.get('/readyz')).status).toBe(200);
    expect(await connections()).toBeGreaterThan(0);
    expect(pooler.clients()).toBeGreaterThan(0);
  },
  async DATABASE_DIRECT_URL() {
    const { DATABASE_URL, NEWER_DATABASE } = environment;
    const alone = await runFile('src/main.ts', [], { PORT: '0', DATABASE_URL, NEWER_DATABASE });
    expect(alone).toMatchObject({ code: 1, stderr: expect.stringContaining('Set DATABASE_DIRECT_URL to the URL') });
  },
  async DATABASE_POOL_SIZE() {
    await whileLocked(database.url, async (untilWaitingFor) => {
      const limits = Array.from({ length: STATEMENTS_OF_AN_ORGANIZATION }, (_, i) => i + 1);
      const responses = limits.map((limit) => client.get(`${LIST}?limit=${limit}`));
      await untilWaitingFor(STATEMENTS_OF_AN_ORGANIZATION);
      return responses;
    });
  },
  // Such a database is refused by default: test/postgres/migrate.test.ts.
  async NEWER_DATABASE() {
    const { rows } = await db.pool.query(`select migration_name from _prisma_migrations order by 1 desc limit 1`);
    expect(rows).toEqual([{ migration_name: '20991231000000_of_tomorrow' }]);
    expect((await client.get('/readyz')).status).toBe(200);
  },
  async DATA_DIR() {
    await withScratchDatabase(
      (DATABASE_URL) =>
        withServer({ DATABASE_URL, DATA_DIR: dataDir, ENCRYPTION_KEY: '' }, async () => {
          expect(existsSync(join(dataDir, 'encryption-key'))).toBe(true);
        }),
      'empty',
    );
  },
  async ENCRYPTION_KEY() {
    const { rows } = await db.pool.query('select id from encryption_keys');
    const ids = rows.map(({ id }: { id: Buffer }) => id.toString('hex'));
    expect(ids).toContain(parseKeyring(environment.ENCRYPTION_KEY)?.currentId);
  },
  async RATE_LIMIT_PER_KEY() {
    expect((await client.get('/api/key')).headers['ratelimit-policy']).toMatch(/^"key";q=400;w=1, /);
  },
  async RATE_LIMIT_PER_ORGANIZATION() {
    expect((await client.get('/api/key')).headers['ratelimit-policy']).toMatch(/, "organization";q=600;w=1$/);
  },
  async RATE_LIMIT_PER_ADDRESS() {
    const headers = { 'X-Forwarded-For': FORWARDED_IP };
    const statuses = new Set<number>();
    // On a busy machine, thirty requests may take so long that none of them is refused.
    await until('a refusal', async () => {
      const send = () => new Client(url).get('/api/key', { headers });
      for (const { status } of await Promise.all(Array.from({ length: 30 }, send))) statuses.add(status);
      return statuses.has(429);
    });
    expect(statuses).toEqual(new Set([401, 429]));
    expect((await new Client(url).get('/api/key')).status).toBe(401);
  },
  // Nothing is in the cache, so the same request waits for the database again.
  async RESPONSE_CACHE_MIB() {
    await client.post(LIST, { name: 'Not cached' });
    for (let i = 0; i < 2; i += 1) expect((await client.get(LIST)).status).toBe(200);
    await whileLocked(database.url, async (untilWaitingFor) => {
      const response = client.get(LIST);
      await untilWaitingFor(1);
      return [response];
    });
  },
  async RESPONSE_CHECK() {
    const { body } = await client.post(LIST, { name: 'Broken' });
    await breakProgram(database.url, body.id);
    for (let i = 0; i < BROKEN_RESPONSES; i += 1) await getUnchecked(url, LIST, keys.test);
    await until('a report', () => reportsOf(changed) > 0);
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
    expect(await (await fetch(metricsUrl)).text()).toContain(
      `charter_database_connections_max{worker="1"} ${POOL_SIZE}\n`,
    );
    expect((await client.get('/metrics')).status).toBe(404);
  },
  async OTEL_EXPORTER_OTLP_ENDPOINT() {
    await collector.untilSpan('a span', ({ kind }) => kind === 'server');
  },
  async OTEL_SERVICE_NAME() {
    const { resource } = await collector.untilSpan('a span', ({ kind }) => kind === 'server');
    expect(resource['service.name']).toBe('charter-of-this-test');
  },
  // The caller has decided otherwise, which the default would follow.
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
    expect(new Set(logOf(changed).map(({ level }) => level))).toEqual(new Set([40]));
  },
  // Production has no demonstration data, which the database of this file would otherwise hold.
  async NODE_ENV() {
    const { rows } = await db.pool.query(`select 1 from users where email like '%@northwind.example'`);
    expect(rows).toEqual([]);
  },
  async CHARTER_CELL() {
    const { key } = mintKey('test', 'us1');
    const headers = { 'X-Forwarded-For': '203.0.113.10' };
    expect((await client.get('/api/key', { key, headers })).body.message).toContain('is not known to the cell eu1');
    expect(await (await fetch(metricsUrl)).text()).toContain('charter_cell_info{name="eu1",');
  },
  async CHARTER_CELLS() {
    // The command counts what the metrics of this server say.
    const CHARTER_CELLS = `eu1 Europe ${url} ${metricsUrl}`;
    const stdout = await until('the cell to have counted its rows', async () => {
      const ended = await runAdminCommand('', ['cells', '--json'], { CHARTER_CELLS });
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      return ended.stdout.includes('"organizations":null') ? null : ended.stdout;
    });
    const organizations = await db.prisma.organization.count();
    const [cell] = JSON.parse(stdout).cells;
    expect(cell).toMatchObject({ cell: 'eu1', health: 'ready', version: VERSION, organizations });
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
  async COMMON_URL() {
    const page = await atCommonAddress('203.0.113.13').get('/sign-in');
    expect(page.text).toContain('href="https://us1.charter.example.org/sign-in"');
    expect((await client.get('/docs/getting-started', { headers: { Accept: 'text/html' } })).text).toContain(
      'https://common.example.org',
    );
    const { text } = await client.get('/.well-known/security.txt');
    const origins = [...text.matchAll(/^Canonical: (.*)\/\.well-known\/security\.txt$/gm)].map(([, origin]) => origin);
    expect(origins).toEqual([environment.COMMON_URL, environment.PUBLIC_URL]);
  },
  async CHARTER_ENVIRONMENT() {
    expect((await client.get('/api/key')).status).toBe(200);
    const headers = { 'X-Forwarded-For': '203.0.113.11' };
    expect((await client.get('/api/key', { key: keys.live, headers })).status).toBe(401);
  },
  async PUBLIC_URL() {
    for (const path of ['/api/key', '/sign-in', '/nothing'])
      expect((await client.get(path)).headers).toHaveProperty('strict-transport-security');
    expect(await exchangeRaw(url, 'what is this\r\n\r\n')).toMatch(/^Strict-Transport-Security: /im);
    expect(await mailOfReset()).toContain('https://charter.example.org/welcome/');
  },
  async TRUSTED_PROXIES() {
    await mailOfReset();
    const { rows } = await db.pool.query('select distinct ip from audit_events where ip <> $1', ['']);
    expect(rows).toEqual([{ ip: FORWARDED_IP }]);
  },
  async SMTP_URL() {
    expect(await mailOfReset()).toMatch(new RegExp(`To: User \\d+ <${email}>`));
  },
  async MAIL_FROM() {
    expect(await mailOfReset()).toContain('From: Ada of Acme <ada@acme.example>');
  },
  async SUPPORT_CONTACT() {
    for (const path of ['/sign-in', '/organization/nothing', '/docs/errors'])
      expect((await client.get(path, { headers: { Accept: 'text/html' } })).text).toContain(
        '"mailto:help@acme.example"',
      );
  },
  async SECRET_SCANNING_KEYS() {
    const body = messageAbout([]);
    expect((await reportAsProgram(url, body, { headers: scanner.sign(body) })).status).toBe(200);
  },
  async DRAIN_SECONDS() {
    const startedAt = performance.now();
    changed.child.kill('SIGTERM');
    expect((await changed.ended).code).toBe(0);
    expect(performance.now() - startedAt).toBeGreaterThan(DRAIN_SECONDS * 1000 - 100);
  },
  // The log is complete only now. Each response is checked with a probability of one half: once in a trillion runs, all of
  // them are.
  async RESPONSE_CHECK_SAMPLE_RATE() {
    expect(reportsOf(changed)).toBeGreaterThan(0);
    expect(reportsOf(changed)).toBeLessThan(BROKEN_RESPONSES);
  },
};

// In the order of the table: DRAIN_SECONDS ends the process.
test('each variable has its effect in a server that has all of them', async () => {
  const failures: Record<string, unknown> = {};
  for (const [name, observe] of Object.entries(EFFECTS)) {
    await observe().catch((error: unknown) => {
      failures[name] = error instanceof Error ? error.message : error;
    });
  }
  expect(failures).toEqual({});
});

// Otherwise an effect above could be one that every server has.
test('a server without the variables does otherwise', async () => {
  await withScratchDatabase(async (DATABASE_URL) => {
    await withServer({ DATABASE_URL, ENCRYPTION_KEY }, async (running, plainUrl) => {
      expect(new URL(plainUrl).hostname).toBe('127.0.0.1');
      const { client: plain, id } = await organizationAt(DATABASE_URL, { url: plainUrl });
      expect((await plain.get('/api/key')).status).toBe(200);
      expect((await plain.get('/sign-in')).headers).not.toHaveProperty('strict-transport-security');
      await until('the demonstration', () => running.printed.stdout.includes('@northwind.example'));
      const { body } = await plain.post(LIST, { name: 'Cached' });
      // A cached response needs no table.
      for (let i = 0; i < 2; i += 1) await plain.get(LIST);
      await whileLocked(DATABASE_URL, async () => {
        expect((await plain.get(LIST)).status).toBe(200);
        return [];
      });
      await breakProgram(DATABASE_URL, body.id);
      for (let i = 1; i <= 5; i += 1) await getUnchecked(plainUrl, `${LIST}?limit=${i}`, plain.key);
      await until('every response to be reported', () => reportsOf(running) === 5);
      const own = openDatabase({ url: DATABASE_URL, keyring: KEYRING, poolSize: 1, onIdleError: () => {} });
      for (const [scheme, problem] of [
        ['http', 'must not send webhooks to http://'],
        ['https', 'must not connect to the address'],
      ] as const) {
        const endpointUrl = receiver.url.replace('http', scheme);
        expect(await attemptAt(own, { organizationId: id, endpointUrl })).toContain(problem);
      }
      await own.close();
    });
  });
});

test('by default, an event of three days ago is kept', async () => {
  await withScratchDatabase(async (DATABASE_URL) => {
    const own = openDatabase({ url: DATABASE_URL, keyring: KEYRING, poolSize: 1, onIdleError: () => {} });
    const { daysKept } = await insertOldEvents(own);
    // In production, because the demonstration data of a development server takes longer than everything else.
    await withServer({ DATABASE_URL, ENCRYPTION_KEY, NODE_ENV: 'production' }, async () => {
      await until('the older event to be deleted', async () => (await daysKept()).length < OLD_DAYS.length);
      expect(await daysKept()).toEqual([3]);
    });
    await own.close();
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

/** Has the server send a test event to a new endpoint. Returns the status of the response, or why there was none. */
async function attemptAt(
  own: Database,
  { organizationId: owner, endpointUrl }: { organizationId: string; endpointUrl: string },
): Promise<number | string | undefined> {
  const { secret: _, ...endpoint } = await insertEndpoint(own, owner, { url: endpointUrl });
  await own.prisma.webhookDelivery.create({ data: { ...endpoint, messageId: randomUUID(), isTest: true } });
  const attempt = await until('an attempt', async () => (await listDeliveries(own, endpoint))[0]?.log[0]);
  return attempt.status ?? attempt.error;
}

type Work = (untilWaitingFor: (count: number) => Promise<unknown>) => Promise<readonly Promise<Reply>[]>;

/** Runs the work while nothing can read the table of parent programs. The responses that it returns then succeed. */
async function whileLocked(databaseUrl: string, work: Work): Promise<void> {
  const responses = await withClient(databaseUrl, async (locking) => {
    await locking.query('begin');
    await locking.query('lock table parent_programs');
    // On another connection: within a transaction, pg_stat_activity never changes.
    return withClient(databaseUrl, (asking) => work((count) => untilWaiting(asking, count)));
  });
  for (const { status } of await Promise.all(responses)) expect(status).toBe(200);
}

/** Stores a number where the contract has a text, which no request could. */
async function breakProgram(databaseUrl: string, id: string): Promise<void> {
  await withClient(databaseUrl, (writer) =>
    writer.query(`update parent_programs set metadata = '{"number": 5}' where id = $1`, [id]),
  );
}

/** The client of the tests would refuse a response that breaks the contract. */
async function getUnchecked(origin: string, path: string, key = ''): Promise<void> {
  const response = await fetch(`${origin}${path}`, { headers: { Authorization: `Bearer ${key}` } });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('"number": 5');
}

function reportsOf({ printed }: Running): number {
  return printed.stdout.split('a response broke the contract').length - 1;
}

function atCommonAddress(ip: string): Browser {
  return new Browser(url, { localAddress: HOST, headers: { Host: 'common.example.org', 'X-Forwarded-For': ip } });
}

let mail: Promise<string> | undefined;

/** The mail with the reset link of the user. Only three an hour are sent. */
function mailOfReset(): Promise<string> {
  mail ??= awaitMail();
  return mail;
}

async function awaitMail(): Promise<string> {
  const headers = { 'X-Forwarded-For': FORWARDED_IP };
  expect((await askForReset(url, { email, headers })).status).toBe(200);
  return until('the mail', () => smtp.mails.find((text) => text.includes('/welcome/')));
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

/** A server with only these variables and a free port, in development. */
async function withServer(
  env: Record<string, string>,
  work: (running: Running, url: string) => Promise<void>,
): Promise<void> {
  const running = startFile('src/main.ts', [], { PORT: '0', ...env });
  try {
    const [, printedUrl = ''] = await untilPrinted(running, SERVES);
    await work(running, printedUrl);
  } finally {
    await kill(running);
  }
}
