import { createHash } from 'node:crypto';
import { issueKeyByEmail } from '../../src/service/operator/keys.ts';
import type { Client, Reply } from '../support/clients/client.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();

const LIST = '/api/parent_programs';
const BODY = { name: 'Once', description: 'd', external_id: 'e-1', metadata: { a: '1', b: '2' } };

function create(client: Client, body: unknown = BODY, key: string | string[] = 'key-1') {
  return client.post(LIST, body, { headers: { 'Idempotency-Key': key } });
}

/** Returns the response without the request ID, the date and the rate limit, which differ between two equal requests. */
function shown({ status, headers: { 'x-request-id': _, date: __, ratelimit: ___, ...headers }, text }: Reply) {
  return { status, headers, text };
}

async function countOf(client: Client): Promise<number> {
  return (await client.get(`${LIST}?limit=100`)).body.data.length;
}

test('the same key with the same body gets the first response again, byte for byte, and creates nothing', async () => {
  const { client } = await createTestOrganization(server);
  const first = await create(client);
  expect(first.status).toBe(201);
  expect(shown(await create(client))).toEqual(shown(first));
  expect(await countOf(client)).toBe(1);
});

// The risk: a client repeats a creation during an upgrade, while servers of both versions respond.
test('what is kept of a creation is the same in servers of the previous version', async () => {
  const { id: organizationId, client } = await createTestOrganization(server);
  const { body } = await create(client);
  const where = { organizationId_key: { organizationId, key: 'key-1' } };
  const { requestHash, result } = await server.db.prisma.idempotencyKey.findUniqueOrThrow({ where });
  const request =
    '["parent_programs",{"name":"Once","description":"d","externalId":"e-1","metadata":{"a":"1","b":"2"}}]';
  expect(Buffer.from(requestHash)).toEqual(createHash('sha256').update(request).digest());
  const { id, created_at: createdAt, updated_at: updatedAt } = body;
  const { external_id: externalId, ...content } = BODY;
  expect(JSON.parse(result)).toMatchObject({ id, ...content, externalId, createdAt, updatedAt });
});

test('of fifty concurrent creates with one key, one creates a program and all get its response', async () => {
  const { client } = await createTestOrganization(server);
  const responses = await Promise.all(Array.from({ length: 50 }, () => create(client)));
  const [first] = responses;
  expect(first?.status).toBe(201);
  for (const response of responses) expect(response.text).toBe(first?.text);
  expect(new Set(responses.map(({ headers }) => `${headers['location']} ${headers['etag']}`)).size).toBe(1);
  expect(await countOf(client)).toBe(1);
});

test.each([
  ['another name', { ...BODY, name: 'Twice' }],
  ['another letter case', { ...BODY, name: 'once' }],
  ['another description', { ...BODY, description: '' }],
  ['no external_id', { ...BODY, external_id: null }],
  ['another metadata value', { ...BODY, metadata: { a: '1', b: '3' } }],
  ['metadata values that changed places', { ...BODY, metadata: { a: '2', b: '1' } }],
  ['one metadata entry more', { ...BODY, metadata: { ...BODY.metadata, c: '' } }],
])('422 naming Idempotency-Key for the same key with %s; nothing is created', async (_, body) => {
  const { client } = await createTestOrganization(server);
  await create(client);
  const response = await create(client, body);
  expect(response.status).toBe(422);
  expect(response.body.errors).toEqual({
    'Idempotency-Key': ['was used with another body within the last 24 hours. Use a new key for a new request.'],
  });
  expect(await countOf(client)).toBe(1);
});

test('a body that differs only in whitespace and field order counts as the same body', async () => {
  const { client } = await createTestOrganization(server);
  const first = await create(client);
  const again = await create(
    client,
    '\n{ "metadata" : {"b":"2","a":"\\u0031"},"external_id":"e-1",\t"description":"d","name":"Once" }\n',
  );
  expect(shown(again)).toEqual(shown(first));
});

test('a replayed response contains metadata named __proto__', async () => {
  const { client } = await createTestOrganization(server);
  const body = '{"name":"x","metadata":{"__proto__":"p","b":"1"}}';
  const first = await create(client, body);
  expect(shown(await create(client, body))).toEqual(shown(first));
  expect((await create(client, '{"name":"x","metadata":{"__proto__":"q","b":"1"}}')).status).toBe(422);
});

test('another key creates another program', async () => {
  const { client } = await createTestOrganization(server);
  const ids = [await create(client, { name: 'x' }, 'k'), await create(client, { name: 'x' }, 'K')].map(
    ({ body }) => body.id,
  );
  expect(new Set(ids).size).toBe(2);
});

test('an idempotency key applies across all API keys of the organization', async () => {
  const { client, email } = await createTestOrganization(server);
  const { key } = await issueKeyByEmail(server.db, {
    email,
    name: 'Second',
    permissions: ['parent_programs:write'],
    lifeDays: 1,
    environment: 'live',
  });
  const first = await create(client);
  const again = await client.post(LIST, BODY, { key, headers: { 'Idempotency-Key': 'key-1' } });
  expect(again.text).toBe(first.text);
});

test('a refused create does not use up its idempotency key', async () => {
  const { client } = await createTestOrganization(server);
  const { body } = await client.post(LIST, { name: 'Holder', external_id: 'e-1' });
  expect((await create(client)).status).toBe(409);
  expect((await create(client, { name: '' })).status).toBe(422);
  await client.delete(`${LIST}/${body.id}`);
  expect((await create(client)).status).toBe(201);
});

test('of ten concurrent creates with different keys and one external_id, one succeeds, and the other keys remain unused', async () => {
  const { client } = await createTestOrganization(server);
  const responses = await Promise.all(Array.from({ length: 10 }, (_, i) => create(client, BODY, `key-${i}`)));
  expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
  const loser = responses.findIndex(({ status }) => status === 409);
  expect((await create(client, { name: 'Another' }, `key-${loser}`)).status).toBe(201);
});

test('a replay returns the first response even after the program was changed or deleted', async () => {
  const { client } = await createTestOrganization(server);
  const first = await create(client);
  await client.patch(`${LIST}/${first.body.id}`, { name: 'Changed' });
  expect(shown(await create(client))).toEqual(shown(first));
  await client.delete(`${LIST}/${first.body.id}`);
  expect(shown(await create(client))).toEqual(shown(first));
  expect(await countOf(client)).toBe(0);
});

test('a key is remembered for 24 hours and is unused afterwards', async () => {
  const { id, client } = await createTestOrganization(server);
  const first = await create(client, { name: 'x' });
  const age = (minutes: number) =>
    server.db.pool.query(
      `update idempotency_keys set created_at = now() - make_interval(mins => $2) where organization_id = $1`,
      [id, minutes],
    );
  await age(24 * 60 - 1);
  expect((await create(client, { name: 'x' })).text).toBe(first.text);
  await age(24 * 60 + 1);
  const second = await create(client, { name: 'y' });
  expect(second.status).toBe(201);
  expect((await create(client, { name: 'y' })).text).toBe(second.text);
  expect((await create(client, { name: 'x' })).status).toBe(422);
});

test.each(['x', 'x'.repeat(255), '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', '0b8f3c52-6a0d-4a53-9d2e-7f1c60e1b9aa'])(
  'accepts the key %s',
  async (key) => {
    const { client } = await createTestOrganization(server);
    const first = await create(client, BODY, key);
    expect(first.status).toBe(201);
    expect((await create(client, BODY, key)).text).toBe(first.text);
  },
);

test.each([
  ['an empty key', ''],
  ['a key of 256 characters', 'x'.repeat(256)],
  ['a key with a space', 'a b'],
  ['a key with a tab', 'a\tb'],
  ['a key beyond ASCII', 'clé'],
  ['two headers', ['a', 'b']],
  ['two headers alike', ['a', 'a']],
])('422 naming Idempotency-Key for %s', async (_, key) => {
  const { client } = await createTestOrganization(server);
  const response = await create(client, BODY, key);
  expect(response.status).toBe(422);
  expect(response.body.errors).toEqual({ 'Idempotency-Key': [expect.any(String)] });
  expect(await countOf(client)).toBe(0);
});

// The attack: reading an API key in the table of idempotency keys, which is not encrypted, or in a log of responses, because
// responses repeat unknown names.
test('an API key in the wrong place is neither stored nor repeated', async () => {
  const { id, key, client } = await createTestOrganization(server);
  const asIdempotencyKey = await create(client, BODY, `retry-${key}`);
  expect(asIdempotencyKey).toMatchObject({
    status: 422,
    body: { errors: { 'Idempotency-Key': [expect.any(String)] } },
  });
  const asField = await client.post(LIST, { ...BODY, [key]: 'x' });
  const asParameter = await client.get(`${LIST}?${key}=1`);
  for (const { status, text } of [asIdempotencyKey, asField, asParameter]) {
    expect(status).toBe(422);
    expect(text).not.toContain(key.slice(17));
  }
  expect(Object.keys(asField.body.errors)).toEqual([`${key.slice(0, 17)}…`]);
  const inPath = await client.get(`${LIST}/${key}/`);
  const malformed = await client.get(`${LIST}?search=${key}%zz`);
  expect([inPath.status, malformed.status]).toEqual([404, 400]);
  for (const { text } of [inPath, malformed]) expect(text).toContain(`${key.slice(0, 17)}…`);
  const stored = await server.db.pool.query('select 1 from idempotency_keys where organization_id = $1', [id]);
  expect(stored.rowCount).toBe(0);
});
