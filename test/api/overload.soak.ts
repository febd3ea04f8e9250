// The attack: one client sends so many requests that other clients are refused.
import { pino } from 'pino';
import { mintKey } from '../../src/domain/keys/api-key.ts';
import { Browser } from '../support/dashboard/dashboard.ts';
import { createAccount, PASSWORD } from '../support/data/accounts.ts';
import { untilWaiting, withClient } from '../support/postgres/postgres.ts';
import { createTestOrganization, startServer, useServer } from '../support/servers/server.ts';
import { flood, keptRequest } from '../support/traffic/flood.ts';
import { isLoadRefusal } from '../support/traffic/load.ts';
import { length, until } from '../support/wait.ts';

const LIST = '/api/parent_programs';
const OTHERS_REQUESTS = length({ full: 15, figures: 45 });
/** How often each kind of request is sent while a table is locked. */
const LOOKS = length({ full: 5, figures: 100 });
/**
 * The number of requests of an organization that run concurrently while no other organization sends any. Otherwise, the number is
 * three.
 */
const MOST = 5;
const PAGE = ['Accept: text/html'];

const server = await useServer({ responseCacheBytes: 0 });

/** Sends requests of another organization and to /readyz in turn, and returns their statuses. */
async function statusesOfOthers(): Promise<{ others: number[]; ready: number }> {
  const { client } = await createTestOrganization(server);
  const others: number[] = [];
  for (let i = 0; i < OTHERS_REQUESTS; i += 1) {
    const sent = i % 3 === 0 ? client.post(LIST, { name: `Other ${i}` }) : client.get(`${LIST}?search=other${i}`);
    others.push((await sent).status);
  }
  return { others, ready: (await server.anonymous.get('/readyz')).status };
}

const NONE_REFUSED = {
  others: Array.from({ length: OTHERS_REQUESTS }, (_, i) => (i % 3 === 0 ? 201 : 200)),
  ready: 200,
};

test('1,500 pipelined requests over one connection cost another organization no request', async () => {
  const { key } = await createTestOrganization(server);
  // Each request is different, because equal concurrent requests would share one SQL query.
  const text = (number: number) => keptRequest(`GET ${LIST}?search=none${number}`, [`Authorization: Bearer ${key}`]);
  const flooding = await flood(server.url, { connections: 1, requests: 1500, text, isEndless: true });
  expect(await statusesOfOthers()).toEqual(NONE_REFUSED);
  await flooding.stop();
  expect([...flooding.statuses.keys()]).toEqual([200]);
});

const ATTACKS: readonly [string, () => string][] = [
  ['session cookies', () => keptRequest('GET /profile', [...PAGE, `Cookie: charter=${'s'.repeat(43)}`])],
  ['welcome links', () => keptRequest(`GET /welcome/${'w'.repeat(43)}`, PAGE)],
  ['keys', () => keptRequest(`GET ${LIST}`, [`Authorization: Bearer ${mintKey('live').key}`])],
];

test.each(ATTACKS)('a flood of made-up %s costs no organization a request', async (_, request) => {
  await using _flooding = await flood(server.url, { connections: 4, requests: 400, text: request, isEndless: true });
  expect(await statusesOfOthers()).toEqual(NONE_REFUSED);
});

test('while a table is locked, the current key, the readiness and the sign-in are served', async () => {
  const [first, second] = [await createTestOrganization(server), await createTestOrganization(server)];
  const account = await createAccount(server.db);
  await withClient(server.databaseUrl, async (blocker) => {
    await blocker.query('begin');
    await blocker.query('lock table parent_programs');
    const text = (key: string) => (i: number) =>
      keptRequest(`GET ${LIST}?search=locked${i}`, [`Authorization: Bearer ${key}`]);
    const floods = await Promise.all(
      [first, second].map(({ key }) => flood(server.url, { connections: 150, requests: 4, text: text(key) })),
    );
    await untilWaiting(server.db.pool, 6);
    for (let i = 0; i < LOOKS; i += 1) {
      expect((await first.client.get('/api/key')).status).toBe(200);
      expect((await server.anonymous.get('/readyz')).status).toBe(200);
      expect((await new Browser(server.url).signIn(account.email, PASSWORD)).status).toBe(303);
    }
    await blocker.query('rollback');
    await Promise.all(floods.map((flooding) => flooding.stop()));
  });
  expect((await first.client.get(LIST)).status).toBe(200);
});

// The attack: clients give up and send again, until the server works only for clients that have closed their connections.
test('the requests of closed connections are not carried out', async () => {
  const { client, key } = await createTestOrganization(server);
  const body = '{"name":"Abandoned"}';
  const headers = [`Authorization: Bearer ${key}`, 'Content-Type: application/json', `Content-Length: ${body.length}`];
  const text = keptRequest(`POST ${LIST}`, headers) + body;
  const half = { connections: 200, requests: 1, text: () => text };
  await withClient(server.databaseUrl, async (blocker) => {
    await blocker.query('begin');
    await blocker.query('lock table parent_programs');
    const [reset, ended] = await Promise.all([flood(server.url, half), flood(server.url, half)]);
    await untilWaiting(server.db.pool, [3, MOST]);
    await reset.stop();
    // These clients close their sending side only. They may still read a response, so they get a 503, but their requests are not
    // carried out.
    for (const socket of ended.sockets) socket.end();
    await until('their refusals', () => (ended.statuses.get(503) ?? 0) >= half.connections - MOST);
    await blocker.query('rollback');
    await ended.stop();
  });
  expect((await client.post(LIST, { name: 'The last in the queue' })).status).toBe(201);
  const { body: page } = await client.get(`${LIST}?search=Abandoned&limit=100`);
  // Some requests may have begun before their connection closed, and a busy server may not have noticed that other connections
  // closed.
  expect(page.data.length).toBeLessThan(half.connections / 2);
});

// The attack: a client closes its sending side after a request whose response is shared with equal requests of other clients.
test('a client that closes its sending side fails no other request for the same response', async () => {
  const { client, key } = await createTestOrganization(server);
  const text = (url: string) => keptRequest(`GET ${url}`, [`Authorization: Bearer ${key}`]);
  const floodOf = (requests: { connections: number; text: (number: number) => string }) =>
    flood(server.url, { ...requests, requests: 1 });
  await withClient(server.databaseUrl, async (blocker) => {
    await blocker.query('begin');
    await blocker.query('lock table parent_programs');
    const others = await floodOf({ connections: MOST + 2, text: (i) => text(`${LIST}?search=other${i}`) });
    await untilWaiting(server.db.pool, [3, MOST]);
    const shared = `${LIST}?search=shared`;
    const halfClosing = await floodOf({ connections: 1, text: () => text(shared) });
    // Keys are looked up in order, so this response shows that the keys of all earlier requests have been looked up.
    expect((await client.get('/api/key')).status).toBe(200);
    const sharing = client.get(shared);
    expect((await client.get('/api/key')).status).toBe(200);
    for (const socket of halfClosing.sockets) socket.end();
    await until('its refusal', () => halfClosing.statuses.get(503) === 1);
    await blocker.query('rollback');
    expect((await sharing).status).toBe(200);
    await Promise.all([others.stop(), halfClosing.stop()]);
  });
});

test('a request that waits too long for its turn gets 503 with Retry-After; each is counted in the log, and has no line of its own', async () => {
  const logged: string[] = [];
  const logger = pino({ level: 'info', base: null }, { write: (line) => logged.push(line) });
  const limited = await startServer({ logger, maxWaitMs: 200 });
  const { client } = await createTestOrganization(limited);
  const refused = new Set<string | undefined>();
  const send = async (search: string) => {
    const { status, headers } = await client.get(`${LIST}?search=${search}`);
    const isRefused = isLoadRefusal({ status, retryAfter: headers['retry-after'] });
    if (isRefused) refused.add(headers['x-request-id']);
    return isRefused;
  };
  await withClient(limited.databaseUrl, async (blocker) => {
    await blocker.query('begin');
    await blocker.query('lock table parent_programs');
    // A busy machine may refuse some of these requests, too, before they wait for the lock.
    let isOver = false;
    const holding = Array.from({ length: MOST }, async (_, i) => {
      while (!isOver) await send(`held${i}`);
    });
    await untilWaiting(limited.db.pool, MOST);
    await until('a refusal', () => send('late'));
    await Promise.all(Array.from({ length: 20 }, (_, i) => send(`more${i}`)));
    isOver = true;
    await blocker.query('rollback');
    await Promise.all(holding);
  });
  await until('a success', async () => (await client.get(LIST)).status === 200);
  await limited.close();
  const lines = logged.map((line) => JSON.parse(line));
  const summaries = lines.filter(({ msg }) => msg === 'refused requests under load');
  expect(summaries[0]).toMatchObject({ level: 40, refused: { api: 1 } });
  expect(summaries.reduce((sum, line) => sum + line.refused.api, 0)).toBe(refused.size);
  expect(lines.filter(({ requestId }) => requestId !== undefined && refused.has(requestId))).toEqual([]);
});
