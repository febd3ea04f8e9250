import { changeLimits } from '../../src/service/operator/organizations.ts';
import { Client } from '../support/clients/client.ts';
import { createTestOrganization, startServer, type TestOrganization, useServer } from '../support/servers/server.ts';
import { until } from '../support/wait.ts';

const LIST = '/api/parent_programs';
const requestLimits = { perKey: 500, perOrganization: 1000, perAddress: 0 };
const first = await useServer({ requestLimits });
const second = await startServer({ databaseUrl: first.databaseUrl, requestLimits });
const unlimited = await startServer({
  databaseUrl: first.databaseUrl,
  requestLimits: { perKey: 0, perOrganization: 0, perAddress: 0 },
});
afterAll(() => Promise.all([second.close(), unlimited.close()]));

async function limitTo(requestsPerSecond: number | null, { id: organizationId }: TestOrganization): Promise<void> {
  await first.db.prisma.apiKey.updateMany({ where: { organizationId }, data: { requestsPerSecond } });
}

async function limited(requestsPerSecond: number): Promise<TestOrganization> {
  const ours = await createTestOrganization(first);
  await limitTo(requestsPerSecond, ours);
  return ours;
}

const policyOf = async (client: Client) => (await client.get('/api/key')).headers['ratelimit-policy'];

test('the headers show the limit of the key, from the first request after its change', async () => {
  const ours = await createTestOrganization(first);
  for (const [requestsPerSecond, q] of [
    [null, 500],
    [40, 40],
    [7, 7],
    [400, 400],
    [500, 500],
    [null, 500],
  ] as const) {
    await limitTo(requestsPerSecond, ours);
    const { headers } = await ours.client.get('/api/key');
    expect(headers['ratelimit-policy']).toBe(`"key";q=${q};w=1, "organization";q=1000;w=1`);
    expect(headers['ratelimit']).toMatch(/^"key";r=\d+;t=1$/);
    expect(Number(/r=(\d+)/.exec(headers['ratelimit'] ?? '')?.[1])).toBeLessThanOrEqual(q);
  }
});

test('the lower limit applies, of the key and of its organization', async () => {
  const ours = await limited(40);
  await changeLimits(first.db, ours.id, { perKey: 30, perOrganization: undefined });
  expect(await policyOf(ours.client)).toBe('"key";q=30;w=1, "organization";q=1000;w=1');
  await changeLimits(first.db, ours.id, { perKey: 0, perOrganization: undefined });
  expect(await policyOf(ours.client)).toBe('"key";q=40;w=1, "organization";q=1000;w=1');
});

test('a key has its limit on a server without limits, too', async () => {
  const ours = await limited(40);
  expect(await policyOf(new Client(unlimited.url, ours.key))).toBe('"key";q=40;w=1');
});

test('the 429 says that the limit is one of the key', async () => {
  const { client } = await limited(1);
  const responses = await Promise.all(Array.from({ length: 6 }, () => client.get('/api/key')));
  expect(responses.find(({ status }) => status === 429)).toMatchObject({
    headers: { 'ratelimit-policy': '"key";q=1;w=1, "organization";q=1000;w=1', ratelimit: '"key";r=0;t=1' },
    body: {
      message:
        'This API key has a limit of its own: it can send 1 request per second. Wait for the number of seconds in Retry-After, then send fewer.',
    },
  });
});

test('each change of a batch counts for the limit of the key', async () => {
  const { client } = await limited(1);
  const changes = Array.from({ length: 100 }, () => ({ action: 'create', body: { name: 'x' } }));
  expect(await client.post(`${LIST}/batch`, { changes })).toMatchObject({
    status: 200,
    headers: { ratelimit: '"key";r=0;t=1' },
  });
  await until('the limit to refuse', async () => {
    const { status, headers, body } = await client.get('/api/key');
    // A bucket of 1 token owes 99, which takes 99 seconds: longer than the batch and this request on a busy machine.
    if (status === 429) expect(headers['retry-after']).toMatch(/^\d{1,3}$/);
    if (status === 429) expect(body.message).toContain('a limit of its own: it can send 1 request per second');
    return status === 429;
  });
});
