import { mintKey } from '../../src/domain/keys/api-key.ts';
import { changeLimits, suspendOrganization } from '../../src/service/operator/organizations.ts';
import { Client } from '../support/clients/client.ts';
import { operations, requireUnlimitedConformity } from '../support/contract/contract.ts';
import { requestFor, sendTo } from '../support/contract/every-operation.ts';
import { STOPPED_URL } from '../support/postgres/postgres.ts';
import { createTestOrganization, startServer, type TestOrganization, useServer } from '../support/servers/server.ts';
import { flood, keptRequest } from '../support/traffic/flood.ts';
import { until } from '../support/wait.ts';

const LIST = '/api/parent_programs';
const server = await useServer({ requestLimits: { perKey: 500, perOrganization: 1000, perAddress: 1_000_000 } });
const unlimited = await startServer({
  databaseUrl: server.databaseUrl,
  requestLimits: { perKey: 0, perOrganization: 0, perAddress: 0 },
});
afterAll(() => unlimited.close());

/** Creates an organization with a limit of one request per second, whose bucket holds one token. */
async function limitedToOne(limit: 'perKey' | 'perOrganization') {
  const ours = await createTestOrganization(server);
  await changeLimits(server.db, ours.id, { perKey: 0, perOrganization: 0, [limit]: 1 });
  return ours;
}

test('429 beyond the limit, with what to wait for', async () => {
  const ours = await createTestOrganization(server);
  await changeLimits(server.db, ours.id, { perKey: 1, perOrganization: undefined });
  const responses = await Promise.all(Array.from({ length: 6 }, () => ours.client.get(LIST)));
  expect(responses.find(({ status }) => status === 429)).toMatchObject({
    headers: {
      'retry-after': '1',
      'ratelimit-policy': '"key";q=1;w=1, "organization";q=1000;w=1',
      ratelimit: '"key";r=0;t=1',
      'cache-control': 'no-store',
    },
    body: {
      message:
        'This API key can send 1 request per second. Wait for the number of seconds in Retry-After, then send fewer.',
    },
  });
});

test('each change of a batch counts: a batch that is larger than the bucket is made, and the requests after it wait', async () => {
  const ours = await createTestOrganization(server);
  await changeLimits(server.db, ours.id, { perKey: 0, perOrganization: 20 });
  const changes = Array.from({ length: 100 }, () => ({ action: 'create', body: { name: 'x' } }));
  let beganAt = 0;
  const sendBatch = async () => {
    const sentAt = performance.now();
    const reply = await ours.client.post(`${LIST}/batch`, { changes });
    if (reply.status === 200) beganAt = sentAt;
    return reply;
  };
  expect(await sendBatch()).toMatchObject({ status: 200, headers: { ratelimit: '"organization";r=0;t=1' } });
  // 100 changes take 96 tokens more than the bucket of 4 holds. The bucket gets 96 tokens in 4.8 seconds, counted from the start
  // of the batch, which takes a while on a busy machine.
  const secondsLeft = () => 4.8 - (performance.now() - beganAt) / 1000;
  await until('the limit to refuse', async () => {
    const { status, headers, body } = secondsLeft() > 0 ? await ours.client.get('/api/key') : await sendBatch();
    if (status === 429) expect(headers['retry-after']).toMatch(/^[1-5]$/);
    if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(secondsLeft());
    if (status === 429) expect(body.message).toContain('20 requests per second');
    return status === 429;
  });
  await until('the bucket to be refilled', async () => (await ours.client.get('/api/key')).status === 200);
  expect(secondsLeft()).toBeLessThanOrEqual(0);
});

test('every response to a key has the limits and the requests that are left: 200, 304, 404, 406, 422', async () => {
  const { client } = await createTestOrganization(server);
  const { headers } = await client.get(LIST);
  const responses = [
    await client.get(LIST, { headers: { 'If-None-Match': headers['etag'] } }),
    await client.get(`${LIST}/${crypto.randomUUID()}`),
    await client.get(LIST, { headers: { Accept: 'text/html' } }),
    await client.get(`${LIST}?limit=0`),
  ];
  expect(responses.map(({ status }) => status)).toEqual([304, 404, 406, 422]);
  for (const response of responses) {
    expect(response.headers['ratelimit-policy']).toBe('"key";q=500;w=1, "organization";q=1000;w=1');
    expect(response.headers['ratelimit']).toMatch(/^"key";r=(49\d|500);t=1$/);
  }
});

test('no header of the limits where no key was accepted: 401, 404 for an unknown path, 405', async () => {
  const { client } = await createTestOrganization(server);
  const responses = [
    await server.anonymous.get(LIST),
    await client.get('/api/nothing'),
    await client.send('PUT', LIST),
  ];
  expect(responses.map(({ status }) => status)).toEqual([401, 404, 405]);
  for (const { headers } of responses) {
    expect(headers).not.toHaveProperty('ratelimit-policy');
    expect(headers).not.toHaveProperty('ratelimit');
  }
});

test('refusals and 304 responses count like any request', async () => {
  // Another organization requests the entity tag, because the request would count towards the tested limit. An empty list has the
  // same tag in every organization.
  const { headers } = await createTestOrganization(server).then(({ client }) => client.get(LIST));
  const sendings: [status: number, url: string, headers: Record<string, string>][] = [
    [422, `${LIST}?limit=0`, {}],
    [304, LIST, { 'If-None-Match': headers['etag'] ?? '' }],
  ];
  for (const [status, url, sent] of sendings) {
    const ours = await limitedToOne('perKey');
    const responses = await Promise.all(Array.from({ length: 6 }, () => ours.client.get(url, { headers: sent })));
    expect(new Set(responses.map((response) => response.status))).toEqual(new Set([status, 429]));
  }
});

test('429 before 403 and 422, after 404 for an unknown path, 405 and 401', async () => {
  const ours = await limitedToOne('perKey');
  await suspendOrganization(server.db, ours.id);
  const responses = await Promise.all(Array.from({ length: 6 }, () => ours.client.get(`${LIST}?limit=0`)));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([403, 429]));
  expect((await ours.client.get('/api/nothing')).status).toBe(404);
  expect((await ours.client.send('PUT', LIST)).status).toBe(405);
  expect((await server.anonymous.get(LIST)).status).toBe(401);
});

test('the keys of an organization share its limit', async () => {
  const ours = await limitedToOne('perOrganization');
  const responses = await Promise.all(Array.from({ length: 6 }, () => ours.client.get('/api/key')));
  const refused = responses.find(({ status }) => status === 429);
  expect(refused?.headers['ratelimit-policy']).toBe('"organization";q=1;w=1');
  expect(refused?.headers['ratelimit']).toBe('"organization";r=0;t=1');
  expect(refused?.body.message).toMatch(/^All API keys of your organization together can send 1 request per second\./);
});

test('without limits, there is no 429 and no header', async () => {
  const { key } = await createTestOrganization(server);
  const { status, headers } = await new Client(unlimited.url, key, requireUnlimitedConformity).get(LIST);
  expect(status).toBe(200);
  expect(headers).not.toHaveProperty('ratelimit-policy');
  expect(headers).not.toHaveProperty('ratelimit');
});

describe('without a valid key', () => {
  // The attack: a flood of invented keys. Each key costs a look-up.
  test.each([
    ['no key', {}],
    ['a mistyped key', { key: 'charter_live_nothing' }],
    ['an unknown key', { key: mintKey('live').key }],
  ])(
    '429 in the place of 401 for an address that sends %s too often; a good key from there is not affected',
    async (_title, sending) => {
      await using strict = await startServer({ requestLimits: { perKey: 500, perOrganization: 1000, perAddress: 2 } });
      const responses = await Promise.all(Array.from({ length: 12 }, () => strict.anonymous.get(LIST, sending)));
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([401, 429]));
      const refused = responses.find(({ status }) => status === 429);
      expect(refused?.headers).toMatchObject({ 'retry-after': '1' });
      expect(refused?.headers).not.toHaveProperty('ratelimit');
      const { client } = await createTestOrganization(strict);
      expect((await client.get(LIST)).status).toBe(200);
    },
  );
});

// The attack: a flood of requests that need no key. Each costs processor time, which requests with a valid key then lack.
test.each([
  ['the sign-in page', 'GET /sign-in', 200, ''],
  ['a sign-in without a form token', 'POST /sign-in', 403, 'email=a&password=b'],
  ['a page without a session', 'GET /profile', 303, ''],
  ['a page that does not exist', 'GET /people/nobody/nothing', 404, ''],
  ['a path that the API does not have', 'GET /api/nothing', 404, ''],
  ['a method that the path does not have', `PUT ${LIST}`, 405, ''],
  ['a list with an invented key', `GET ${LIST}`, 401, ''],
])(
  'a flood of requests for %s is slowed beyond the limit of the address, and a good key from there is not',
  async (_title, line, status, body) => {
    const requestLimits = { perKey: 1000, perOrganization: 1000, perAddress: 1 };
    await using slow = await startServer({ requestLimits, refusalPauseMs: 600_000 });
    const connections = 60;
    const headers = [`Content-Length: ${body.length}`, 'Content-Type: application/x-www-form-urlencoded'];
    const authorization = () => (status === 401 ? [`Authorization: Bearer ${mintKey('live').key}`] : []);
    const text = () => `${keptRequest(line, [...headers, ...authorization()])}${body}`;
    await using flooding = await flood(slow.url, { connections, requests: 1, text });
    const { client } = await createTestOrganization(slow);
    await until('a request within the limit', () => flooding.statuses.get(status));
    for (let i = 0; i < 20; i += 1) expect((await client.get(LIST)).status).toBe(200);
    expect([...flooding.statuses.keys()]).toEqual([status]);
    expect(flooding.statuses.get(status)).toBeLessThan(connections);
  },
);

test('an outage of the database is a 503 and a 401, and never a 429', async () => {
  await using stopped = await startServer({
    databaseUrl: STOPPED_URL,
    requestLimits: { perKey: 1, perOrganization: 1, perAddress: 1 },
  });
  const [operation] = operations;
  if (operation === undefined) throw new Error('The contract has no operation.');
  const request = requestFor(operation, { id: crypto.randomUUID() });
  const { key } = mintKey('live');
  const responses = await Promise.all(
    [1, 2, 3, 4].flatMap(() => [sendTo(stopped.anonymous, request, { key }), sendTo(stopped.anonymous, request)]),
  );
  expect(responses.map(({ status }) => status)).toEqual([503, 401, 503, 401, 503, 401, 503, 401]);
});

async function limitTo(requestsPerSecond: number | null, { id: organizationId }: TestOrganization): Promise<void> {
  await server.db.prisma.apiKey.updateMany({ where: { organizationId }, data: { requestsPerSecond } });
}

async function limited(requestsPerSecond: number): Promise<TestOrganization> {
  const ours = await createTestOrganization(server);
  await limitTo(requestsPerSecond, ours);
  return ours;
}

const policyOf = async (client: Client) => (await client.get('/api/key')).headers['ratelimit-policy'];

describe('a limit of the key itself', () => {
  test('the headers show the limit of the key, from the first request after its change', async () => {
    const ours = await createTestOrganization(server);
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
    await changeLimits(server.db, ours.id, { perKey: 30, perOrganization: undefined });
    expect(await policyOf(ours.client)).toBe('"key";q=30;w=1, "organization";q=1000;w=1');
    await changeLimits(server.db, ours.id, { perKey: 0, perOrganization: undefined });
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
      // 100 changes take 99 tokens more than the bucket of 1 holds. The bucket gets 99 tokens in 99 seconds, so the next request
      // is refused even on a busy machine.
      if (status === 429) expect(headers['retry-after']).toMatch(/^\d{1,3}$/);
      if (status === 429) expect(body.message).toContain('a limit of its own: it can send 1 request per second');
      return status === 429;
    });
  });
});
