import { handlers } from '../../src/api/handlers/index.ts';
import { readDocument } from '../../src/contract/contract.ts';
import { mintKey } from '../../src/domain/keys/api-key.ts';
import { Metrics } from '../../src/observability/metrics/metrics.ts';
import { revokeKeyById } from '../../src/service/operator/keys.ts';
import { changeLimits, resumeOrganization, suspendOrganization } from '../../src/service/operator/organizations.ts';
import { startKeyUses } from '../../src/traffic/last-used.ts';
import { Client, type Sending } from '../support/clients/client.ts';
import { fromCache } from '../support/observability/metrics.ts';
import { untilWaiting, withClient } from '../support/postgres/postgres.ts';
import { createTestOrganization, startServer, type TestOrganization, useServer } from '../support/servers/server.ts';

const LIST = '/api/parent_programs';
/** The server's time: one minute before the end of an hour, on a Monday. */
const NOW = Date.parse('2026-05-04T12:59:00.000Z');
const HOUR_MS = 3_600_000;
/** The number of requests of an organization that run concurrently while no other organization sends any. */
const MOST_AT_ONCE = 5;

let time = NOW;
const metrics = new Metrics();
const server = await useServer({
  metrics,
  clock: () => time,
  contract: {
    definition: await readDocument(),
    handlers: {
      ...handlers,
      deleteParentProgram: async () => {
        throw new Error('A fault.');
      },
    },
  },
});
beforeEach(() => {
  time = NOW;
});

type Counted = { period: string; startsAt: string; successful: number; refused: number; failed: number };

/** Returns the organization's counts in the database, after all pending counts have been written. */
async function counted({ id }: TestOrganization): Promise<Counted[]> {
  await server.keyUses.flush();
  const rows = await server.db.prisma.keyUse.findMany({
    where: { organizationId: id },
    orderBy: [{ period: 'asc' }, { startsAt: 'asc' }],
  });
  return rows.map(({ period, startsAt, successful, refused, failed }) => ({
    period,
    startsAt: startsAt.toISOString().slice(0, 16),
    successful: Number(successful),
    refused: Number(refused),
    failed: Number(failed),
  }));
}

/** Returns these counts twice: for one hour and for its day. */
function once(counts: { successful?: number; refused?: number; failed?: number }): Counted[] {
  const all = { successful: 0, refused: 0, failed: 0, ...counts };
  return [
    { period: 'hour', startsAt: '2026-05-04T12:00', ...all },
    { period: 'day', startsAt: '2026-05-04T00:00', ...all },
  ];
}

const keyIdOf = async ({ client }: TestOrganization): Promise<string> => (await client.get('/api/key')).body.id;

test('2xx and 3xx count as successful, 4xx as refused and 5xx as failed, whether or not the response is cached', async () => {
  const ours = await createTestOrganization(server);
  const { client } = ours;
  const created = await client.post(LIST, { name: 'Program' });
  const { headers } = await client.get(LIST);
  const cached = (sent: Sending = {}) => fromCache(metrics, () => client.get(LIST, sent));
  const statuses = [
    ...[await cached(), await cached({ headers: { 'If-None-Match': headers['etag'] } })],
    ...[created, await client.send('HEAD', LIST)],
    ...[await client.post(LIST, { name: '' }), await client.get(`${LIST}/${crypto.randomUUID()}`)],
    ...[await client.get(LIST, { headers: { Accept: 'text/html' } })],
    ...[await client.delete(`${LIST}/${crypto.randomUUID()}`)],
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 304, 201, 200, 422, 404, 406, 500]);
  expect(await counted(ours)).toEqual(once({ successful: 5, refused: 3, failed: 1 }));
});

test('a batch counts as its changes, as it does in the rate limits', async () => {
  const ours = await createTestOrganization(server);
  const changes = ['A', 'B', 'C'].map((name) => ({ action: 'create', body: { name } }));
  expect((await ours.client.post(`${LIST}/batch`, { changes })).status).toBe(200);
  expect((await ours.client.post(`${LIST}/batch`, { changes: [] })).status).toBe(422);
  expect(await counted(ours)).toEqual(once({ successful: 3, refused: 1 }));
});

test('401 to an ended key, 403 and 429 count as refused', async () => {
  const reader = await createTestOrganization(server, { permissions: ['parent_programs:read'] });
  expect((await reader.client.post(LIST, { name: 'Program' })).status).toBe(403);
  await suspendOrganization(server.db, reader.id);
  expect((await reader.client.get('/api/key')).status).toBe(403);
  await resumeOrganization(server.db, reader.id);
  expect(await counted(reader)).toEqual(once({ refused: 2 }));

  const revoked = await createTestOrganization(server);
  await revokeKeyById(server.db, await keyIdOf(revoked));
  expect((await revoked.client.get(LIST)).status).toBe(401);
  expect(await counted(revoked)).toEqual(once({ successful: 1, refused: 1 }));

  const limited = await createTestOrganization(server);
  await changeLimits(server.db, limited.id, { perKey: 1, perOrganization: undefined });
  const replies = await Promise.all(Array.from({ length: 6 }, () => limited.client.get('/api/key')));
  const refused = replies.filter(({ status }) => status === 429).length;
  expect(refused).toBeGreaterThan(0);
  expect(await counted(limited)).toEqual(once({ successful: 6 - refused, refused }));
});

test('an expired key counts its refused requests, though it is no refused use of a rotated or revoked one', async () => {
  const ours = await createTestOrganization(server, { lifeDays: 1 });
  const id = await keyIdOf(ours);
  await server.db.prisma.apiKey.updateMany({ where: { id }, data: { expiresAt: new Date(NOW) } });
  expect((await ours.client.get(LIST)).status).toBe(401);
  expect(await counted(ours)).toEqual(once({ successful: 1, refused: 1 }));
  const { refusedUses } = await server.db.prisma.apiKey.findFirstOrThrow({ where: { id } });
  expect(refusedUses).toBe(0);
});

test('a request without a known key, and one to an unknown path, count for no key', async () => {
  // The attack: requests with made-up keys fill the table.
  const ours = await createTestOrganization(server);
  const before = await server.db.prisma.keyUse.count();
  for (const key of [mintKey('live').key, `${ours.key.slice(0, -1)}_`, undefined])
    expect((await new Client(server.url, key).get(LIST)).status).toBe(401);
  expect((await ours.client.get('/api/nothing')).status).toBe(404);
  expect(await counted(ours)).toEqual([]);
  expect(await server.db.prisma.keyUse.count()).toBe(before);
});

test('a request whose client gives up while it waits is no failure of the server', async () => {
  const ours = await createTestOrganization(server);
  const { client, key } = ours;
  await withClient(server.databaseUrl, async (blocker) => {
    await blocker.query('begin');
    await blocker.query('lock table parent_programs');
    const running = Array.from({ length: MOST_AT_ONCE }, (_, i) => client.get(`${LIST}?search=running${i}`));
    await untilWaiting(server.db.pool, [3, MOST_AT_ONCE]);
    const givesUp = new AbortController();
    const headers = { Authorization: `Bearer ${key}` };
    const abandoned = fetch(`${server.url}${LIST}?search=abandoned`, { headers, signal: givesUp.signal });
    // The server handles requests in the order of their arrival. So after the first three, it has received the abandoned request,
    // and after the last three, it knows of the abort.
    for (let i = 0; i < 3; i += 1) await client.get('/api/key');
    givesUp.abort();
    await expect(abandoned).rejects.toThrow('aborted');
    for (let i = 0; i < 3; i += 1) await client.get('/api/key');
    await blocker.query('rollback');
    await Promise.all(running);
  });
  expect(await counted(ours)).toEqual(once({ successful: MOST_AT_ONCE + 6 }));
});

test('a request counts in the hour and the day in which it began', async () => {
  const ours = await createTestOrganization(server);
  await ours.client.get('/api/key');
  time = NOW + HOUR_MS;
  await ours.client.get('/api/key');
  time = NOW + 12 * HOUR_MS;
  await ours.client.get('/api/key');
  const one = { successful: 1, refused: 0, failed: 0 };
  expect(await counted(ours)).toEqual([
    { period: 'hour', startsAt: '2026-05-04T12:00', ...one },
    { period: 'hour', startsAt: '2026-05-04T13:00', ...one },
    { period: 'hour', startsAt: '2026-05-05T00:00', ...one },
    { period: 'day', startsAt: '2026-05-04T00:00', ...one, successful: 2 },
    { period: 'day', startsAt: '2026-05-05T00:00', ...one },
  ]);
});

test('two processes add their counts to the same rows', async () => {
  const ours = await createTestOrganization(server);
  const second = await startServer({ databaseUrl: server.databaseUrl, clock: () => time });
  for (let i = 0; i < 3; i += 1) await ours.client.get('/api/key');
  await counted(ours);
  await new Client(second.url, ours.key).get('/api/key');
  await ours.client.get('/api/key');
  await second.close();
  expect(await counted(ours)).toEqual(once({ successful: 5 }));
});

const SECOND = 1000;

async function clientOf({ id: organizationId }: TestOrganization) {
  await server.keyUses.flush();
  const { lastUsedNetwork, lastUsedClient } = await server.db.prisma.apiKey.findFirstOrThrow({
    where: { organizationId },
  });
  return { network: lastUsedNetwork, client: lastUsedClient };
}

const by = (userAgent: string) => ({ headers: { 'User-Agent': userAgent } });

test('the network and the product of the client of the last use are recorded', async () => {
  const ours = await createTestOrganization(server);
  await ours.client.get('/api/key', by('curl/8.5.0 (x86_64)'));
  expect(await clientOf(ours)).toEqual({ network: '127.0.0.1', client: 'curl/8.5.0' });
  time += SECOND;
  await ours.client.get('/api/key', by('export/2'));
  expect(await clientOf(ours)).toEqual({ network: '127.0.0.1', client: 'export/2' });
  time += SECOND;
  await ours.client.get('/api/key');
  expect(await clientOf(ours)).toEqual({ network: '127.0.0.1', client: null });
});

test('a refused use of a revoked key does not change the client of the last use', async () => {
  // The attack: somebody who finds a revoked key uses it to hide which client used it last.
  const ours = await createTestOrganization(server);
  const { body } = await ours.client.get('/api/key', by('curl/8.5.0'));
  expect(await clientOf(ours)).toEqual({ network: '127.0.0.1', client: 'curl/8.5.0' });
  await revokeKeyById(server.db, body.id);
  time += SECOND;
  expect((await ours.client.get('/api/key', by('found/1'))).status).toBe(401);
  expect(await clientOf(ours)).toEqual({ network: '127.0.0.1', client: 'curl/8.5.0' });
});

test('of two processes, the one with the later use names the client', async () => {
  const ours = await createTestOrganization(server);
  const { id } = (await ours.client.get('/api/key')).body;
  const key = { organizationId: ours.id, id };
  const [early, late] = [new Date(time + 60 * SECOND), new Date(time + 120 * SECOND)];
  for (const [at, client] of [
    [late, 'late'],
    [early, 'early'],
  ] as const) {
    const uses = startKeyUses(server.db, { onFailure: (error) => expect(error).toBeNull() });
    const use = uses.of(key, at);
    use.noteAcceptance(at);
    use.noteClient({ network: '192.0.2.1', client }, {}, at);
    await uses.stop();
  }
  expect(await clientOf(ours)).toEqual({ network: '192.0.2.1', client: 'late' });
});
