import { issueKeyByEmail } from '../../src/service/operator/keys.ts';
import { Client } from '../support/clients/client.ts';
import { createTestOrganization, startServer, useServer } from '../support/servers/server.ts';
import { until } from '../support/wait.ts';

const LIMIT = 100;
/**
 * By how much the two processes together may exceed the limit, in seconds at the limit's rate. The excess consists of the full
 * bucket and of the tokens that each process holds, or spends before it has a lease (token-leases.ts).
 */
const AHEAD_SECONDS = 0.5;
const MS = 10_000;
/** The minimum share of the limit that must be admitted. */
const LEAST = 0.95;

const requestLimits = { perKey: LIMIT, perOrganization: 0, perAddress: 0 };
const first = await useServer({ requestLimits });
const second = await startServer({ databaseUrl: first.databaseUrl, requestLimits });
afterAll(() => second.close());

type Counted = { readonly seconds: number; readonly sent: number; readonly admitted: number };

/** Runs clients that each send to both servers in turn, the next request as soon as the response has arrived. */
async function send(keys: readonly string[], clients: number): Promise<Counted> {
  const beganAt = performance.now();
  const statuses: number[] = [];
  const loop = async (i: number) => {
    const key = keys[i % keys.length] ?? '';
    const both = [new Client(first.url, key), new Client(second.url, key)];
    for (let turn = i; performance.now() - beganAt < MS; turn += 1) {
      const response = await both[turn % 2]?.get('/api/key');
      statuses.push(response?.status ?? 0);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, i) => loop(i)));
  expect(statuses.every((status) => status === 200 || status === 429)).toBe(true);
  const admitted = statuses.filter((status) => status === 200).length;
  return { seconds: (performance.now() - beganAt) / 1000, sent: statuses.length, admitted };
}

/**
 * Checks that the number of admitted requests never exceeds the limit, and is near the limit in at least one of several tries. A
 * busy machine delays a lease now and then, but a server that admits too little admits too little in every try.
 */
async function judge(keys: readonly string[], clients: number, limit = LIMIT): Promise<void> {
  await until('enough to be admitted', async () => {
    const { seconds, sent, admitted } = await send(keys, clients);
    expect(admitted).toBeLessThanOrEqual(limit * (seconds + AHEAD_SECONDS));
    expect(admitted).toBeLessThanOrEqual(1.05 * limit * seconds);
    // A single client may send fewer requests than the limit allows.
    return admitted >= Math.floor(LEAST * Math.min((limit * MS) / 1000, sent));
  });
}

test.each([
  ['one client', 1],
  ['64 clients', 64],
])(
  `over two processes, %s with one key get at most the limit and half a second of it ahead, and at least ${100 * LEAST}%% of it`,
  async (_title, clients) => {
    const { key } = await createTestOrganization(first);
    await judge([key], clients);
  },
);

test('over two processes, 16 clients with one key get at most the limit of its own', async () => {
  const { id: organizationId, key } = await createTestOrganization(first);
  await first.db.prisma.apiKey.updateMany({ where: { organizationId }, data: { requestsPerSecond: LIMIT / 2 } });
  await judge([key], 16, LIMIT / 2);
});

test('over two processes, 64 clients with four keys get at most the limit of the organization, and at least 95% of it', async () => {
  const ours = await createTestOrganization(first);
  await first.db.prisma.organization.update({
    where: { id: ours.id },
    data: { requestsPerKey: 0, requestsPerOrganization: LIMIT },
  });
  const others = await Promise.all(
    ['B', 'C', 'D'].map((name) =>
      issueKeyByEmail(first.db, {
        email: ours.email,
        name,
        permissions: ['parent_programs:read'],
        lifeDays: 365,
        environment: 'live',
      }),
    ),
  );
  await judge([ours.key, ...others.map(({ key }) => key)], 64);
});

test('a bucket that PostgreSQL lost in a crash is full again', async () => {
  const { client } = await createTestOrganization(first);
  expect((await client.get('/api/key')).status).toBe(200);
  await first.db.pool.query('truncate rate_limits');
  expect((await client.get('/api/key')).status).toBe(200);
});
