import type { Client } from '../support/clients/client.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();

const LIST = '/api/parent_programs';
const BODY = { name: 'Once', description: 'd', external_id: 'e-1', metadata: { a: '1', b: '2' } };

function create(client: Client, body: unknown = BODY, key: string | string[] = 'key-1') {
  return client.post(LIST, body, { headers: { 'Idempotency-Key': key } });
}

async function countOf(client: Client): Promise<number> {
  return (await client.get(`${LIST}?limit=100`)).body.data.length;
}

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

// The attack: idempotency keys are stored in clear, and unknown names are repeated in responses, which end up in logs.
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
