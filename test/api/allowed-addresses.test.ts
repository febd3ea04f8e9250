import { DEFAULT_LIMITS } from '../../src/domain/keys/request-limits.ts';
import { restrictKey } from '../../src/service/keys/restrict-key.ts';
import { revokeKeyByText } from '../../src/service/operator/keys.ts';
import { suspendOrganization } from '../../src/service/operator/organizations.ts';
import { Client } from '../support/clients/client.ts';
import { operations } from '../support/contract/contract.ts';
import { prepare, sendTo } from '../support/contract/every-operation.ts';
import { createPeople, giveKey, times } from '../support/data/actors.ts';
import { createTestOrganization, startServer, type TestOrganization, useServer } from '../support/servers/server.ts';

const LIST = '/api/parent_programs';
const HERE = '203.0.113.7';
const ELSEWHERE = '198.51.100.9';
/** The server's time, fixed so that no day ends in the middle of a test. */
const NOW = new Date();
const proxied = await useServer({ trustedProxies: ['loopback'], clock: () => NOW.getTime() });
const direct = await startServer({ databaseUrl: proxied.databaseUrl });
afterAll(() => direct.close());

const from = (forwardedFor: string) => ({ headers: { 'X-Forwarded-For': forwardedFor } });

async function allow({ id: organizationId }: TestOrganization, addresses: string[]): Promise<void> {
  await proxied.db.prisma.apiKey.updateMany({ where: { organizationId }, data: { allowedAddresses: addresses } });
}

async function restricted(...addresses: string[]): Promise<TestOrganization> {
  const ours = await createTestOrganization(proxied);
  await allow(ours, addresses);
  return ours;
}

const REFUSED = {
  status: 403,
  headers: {
    'www-authenticate': 'Bearer realm="charter", error="insufficient_scope"',
    'cache-control': 'no-store',
  },
  body: {
    message: `This API key may not be used from your address, ${ELSEWHERE}. Use an allowed address, or ask the person who manages your keys to allow this one.`,
  },
};

test.each(operations)(
  '$operationId: 403 from an address that is not in the list, and the usual response from one that is',
  async (operation) => {
    const { ours, client, request } = await prepare(proxied, operation);
    await allow(ours, ['203.0.113.0/24']);
    const headers = (address: string) => ({ ...request, headers: { ...request.headers, 'X-Forwarded-For': address } });
    const refused = await sendTo(client, headers(ELSEWHERE));
    expect(refused).toMatchObject(REFUSED);
    expect(refused.headers['ratelimit-policy']).toBeUndefined();
    expect((await sendTo(client, headers(HERE))).status).toBeLessThan(300);
  },
);

test('the message has the address that the server sees, and nothing of the list', async () => {
  const { client } = await restricted('203.0.113.0/24', '2001:db8:1::/48');
  for (const [forwardedFor, address] of [
    ['198.51.100.9:41234', ELSEWHERE],
    ['::ffff:198.51.100.9', ELSEWHERE],
    [`${HERE}, ${ELSEWHERE}`, ELSEWHERE],
    ['2001:DB8:2:0:0:0:0:1', '2001:db8:2::1'],
    ['[2001:db8:2::1]:443', '2001:db8:2::1'],
  ] as const) {
    const { status, body, text } = await client.get('/api/key', from(forwardedFor));
    expect([forwardedFor, status]).toEqual([forwardedFor, 403]);
    expect(body.message).toContain(`may not be used from your address, ${address}. `);
    expect(text).not.toMatch(/203\.0\.113|2001:db8:1/);
  }
  expect((await client.get('/api/key', from('unknown'))).body.message).toContain('from an unknown address. ');
});

test.each([
  ['203.0.113.7', [HERE, '::ffff:203.0.113.7', '203.0.113.7:443', `1.2.3.4, ${HERE}`], ['203.0.113.8', '203.0.113.6']],
  ['203.0.113.0/24', ['203.0.113.0', '203.0.113.255'], ['203.0.112.255', '203.0.114.0', '::203.0.113.7']],
  ['2001:db8:1::/48', ['2001:db8:1::', '2001:DB8:1:FFFF::1', '[2001:db8:1::1]:80'], ['2001:db8:2::', '2001:db8::1']],
  ['0.0.0.0/0', ['0.0.0.0', '255.255.255.255', '::ffff:1.2.3.4'], ['2001:db8::1', '::1']],
  ['::/0', ['::', '2001:db8::1'], ['203.0.113.7', '::ffff:203.0.113.7']],
])('a key with %s', async (network, allowed, refused) => {
  const { client } = await restricted(network);
  for (const [addresses, status] of [
    [allowed, 200],
    [refused, 403],
  ] as const) {
    for (const address of addresses) {
      const response = await client.get('/api/key', from(address));
      expect([address, response.status]).toEqual([address, status]);
    }
  }
});

test('without a trusted proxy, no header changes the address', async () => {
  // The attack: a thief of the key guesses an allowed address and sends it in a header.
  const ours = await restricted(HERE);
  const client = new Client(direct.url, ours.key);
  for (const header of [
    'X-Forwarded-For',
    'Forwarded',
    'X-Real-IP',
    'Client-IP',
    'CF-Connecting-IP',
    'True-Client-IP',
  ]) {
    for (const value of [HERE, `for=${HERE}`, `${HERE}, 127.0.0.1`, '::ffff:203.0.113.7']) {
      const response = await client.get('/api/key', { headers: { [header]: value } });
      expect([header, value, response.status]).toEqual([header, value, 403]);
      expect(response.body.message).toContain('your address, 127.0.0.1.');
    }
  }
  await allow(ours, ['127.0.0.1']);
  expect((await client.get('/api/key', from(ELSEWHERE))).status).toBe(200);
});

test('behind a trusted proxy, only the address that the proxy saw counts', async () => {
  // The attack: a client sends X-Forwarded-For itself, and the proxy appends the client's address to the header.
  const { client } = await restricted(HERE);
  expect((await client.get('/api/key', from(`${HERE}, ${ELSEWHERE}`))).status).toBe(403);
  const twice = { headers: { 'X-Forwarded-For': [HERE, ELSEWHERE] } };
  expect((await client.get('/api/key', twice)).status).toBe(403);
});

test('requests of one look-up are judged each by its own address', async () => {
  const { client } = await restricted('203.0.113.0/25');
  const addresses = Array.from({ length: 64 }, (_, i) => `203.0.113.${i * 4}`);
  const responses = await Promise.all(addresses.map((address) => client.get('/api/key', from(address))));
  expect(responses.map(({ status }) => status)).toEqual(addresses.map((_, i) => (i < 32 ? 200 : 403)));
});

test('a connection that is kept open is judged by each of its requests', async () => {
  const { client } = await restricted(HERE);
  for (let i = 0; i < 6; i += 1) {
    const { status } = await client.get(LIST, from(i % 2 === 0 ? HERE : ELSEWHERE));
    expect([i, status]).toEqual([i, i % 2 === 0 ? 200 : 403]);
  }
});

test('an ended key gets 401 from everywhere, and the address is judged before the organization and the permission', async () => {
  const ours = await restricted(HERE);
  await suspendOrganization(proxied.db, ours.id);
  expect(await ours.client.get('/api/key', from(ELSEWHERE))).toMatchObject(REFUSED);
  expect((await ours.client.get('/api/key', from(HERE))).body.message).toMatch(/is suspended/);
  await revokeKeyByText(proxied.db, ours.key);
  expect((await ours.client.get('/api/key', from(ELSEWHERE))).status).toBe(401);
});

test('refused requests count as refused in the use of the key, but not as its last use', async () => {
  const ours = await restricted(HERE);
  await ours.client.get('/api/key', from(ELSEWHERE));
  await proxied.keyUses.flush();
  const key = await proxied.db.prisma.apiKey.findFirstOrThrow({ where: { organizationId: ours.id } });
  expect(key).toMatchObject({ lastUsedAt: null, lastUsedNetwork: null, usedNetworks: {} });
  const uses = await proxied.db.prisma.keyUse.findMany({ where: { organizationId: ours.id, period: 'day' } });
  expect(uses).toMatchObject([{ successful: 0n, refused: 1n, failed: 0n }]);
});

test('from elsewhere, nobody uses up the limit of the key, and only the address itself is limited', async () => {
  await using limited = await startServer({
    databaseUrl: proxied.databaseUrl,
    trustedProxies: ['loopback'],
    requestLimits: { perKey: 500, perOrganization: 1000, perAddress: 2 },
    refusalPauseMs: 1,
  });
  const { key, id: organizationId } = await restricted(HERE);
  const client = new Client(limited.url, key);
  // The requests are sent concurrently, because a busy machine may serve fewer than two per second.
  const replies = await times(12, () => client.get('/api/key', from(ELSEWHERE)));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([403, 429]));
  for (const { headers, body } of replies.filter(({ status }) => status === 429)) {
    expect([headers['retry-after'], headers['ratelimit-policy']]).toEqual(['1', undefined]);
    expect(body.message).toMatch(/^Too many requests come from your address with an API key/);
  }
  expect(await client.get('/api/key', from(HERE))).toMatchObject({
    status: 200,
    headers: { ratelimit: '"key";r=499;t=1' },
  });
  // The attack: somebody who has found the key sends so many requests that its holder gets a notice about the limit.
  await limited.keyUses.flush();
  const uses = await proxied.db.prisma.keyUse.findMany({ where: { organizationId, period: 'hour' } });
  expect(uses.map((use) => [use.refused > 0n, use.limited])).toEqual([[true, 0n]]);
});

describe('the networks from which a key was used', () => {
  async function networksOf({ id: organizationId }: TestOrganization) {
    await proxied.keyUses.flush();
    return (await proxied.db.prisma.apiKey.findFirstOrThrow({ where: { organizationId } })).usedNetworks;
  }
  const today = NOW.toISOString().slice(0, 10);

  test('each network is recorded, however often the others are used within the second', async () => {
    const ours = await createTestOrganization(proxied);
    const send = (address: string) => ours.client.get('/api/key', from(address));
    for (const address of [HERE, HERE, ELSEWHERE, HERE, '2001:db8:7:9::1', HERE, '2001:db8:7:9::2'])
      await send(address);
    const seen = { [HERE]: today, [ELSEWHERE]: today, '2001:db8:7:9::/64': today };
    expect(await networksOf(ours)).toEqual(seen);
    // A later flush adds networks and keeps those of earlier flushes.
    await send('192.0.2.1');
    await proxied.keyUses.flush();
    await send(HERE);
    expect(await networksOf(ours)).toEqual({ ...seen, '192.0.2.1': today });
  });

  test('the last 20 are kept, by the day of their last use', async () => {
    const ours = await createTestOrganization(proxied);
    const old = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`192.0.2.${i}`, `2026-01-${10 + i}`]));
    await proxied.db.prisma.apiKey.updateMany({ where: { organizationId: ours.id }, data: { usedNetworks: old } });
    await ours.client.get('/api/key', from('192.0.2.5'));
    await ours.client.get('/api/key', from(HERE));
    const { '192.0.2.0': oldest, ...kept } = old;
    expect(oldest).toBe('2026-01-10');
    expect(await networksOf(ours)).toEqual({ ...kept, '192.0.2.5': today, [HERE]: today });
  });

  test('more than 20 within a minute leave 20', async () => {
    const ours = await createTestOrganization(proxied);
    for (let i = 0; i < 30; i += 1) await ours.client.get('/api/key', from(`192.0.2.${i}`));
    expect(Object.keys(Object(await networksOf(ours)))).toHaveLength(20);
  });
});

test('a list that is added, narrowed or removed counts from the next request on', async () => {
  const { administrator, member } = await createPeople(proxied.db);
  const { id: keyId, key } = await giveKey(proxied.db, member);
  const client = new Client(proxied.url, key);
  const status = async (address: string) => (await client.get(LIST, from(address))).status;
  for (const [addresses, expected] of [
    ['', [200, 200]],
    ['203.0.113.0/24 198.51.100.0/24', [200, 200]],
    [HERE, [200, 403]],
    [ELSEWHERE, [403, 200]],
    ['', [200, 200]],
  ] as const) {
    const change = { addresses, requestsPerSecond: null, requestLimits: DEFAULT_LIMITS, lockedOut: [] };
    expect(await restrictKey(proxied.db, administrator, { keyId, userId: member.userId, ...change })).toEqual({
      kind: 'done',
    });
    expect([addresses, await status(HERE), await status(ELSEWHERE)]).toEqual([addresses, ...expected]);
  }
});
