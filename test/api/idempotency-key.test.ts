import type { Client } from '../support/http/client.ts';
import { createTestOrganization, useServer } from '../support/http/server.ts';

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
