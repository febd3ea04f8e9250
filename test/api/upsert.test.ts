import type { Client } from '../support/clients/client.ts';
import { exampleOf } from '../support/contract/contract.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();

const LIST = '/api/parent_programs';
const urlOf = (externalId: string) => `${LIST}/by_external_id/${encodeURIComponent(externalId)}`;
const FULL = { name: 'Full', description: 'Text', metadata: { colour: 'green', region: 'nordic' } };

async function listed(client: Client) {
  return (await client.get(`${LIST}?limit=100`)).body.data;
}

test('the first request creates the parent program, the second one replaces its content', async () => {
  const { client } = await createTestOrganization(server);
  const created = await client.put(urlOf('e-1'), FULL);
  expect(created).toMatchObject({ status: 201, body: { ...FULL, external_id: 'e-1' } });
  const got = await client.get(created.headers['location'] ?? '');
  expect(got.text).toBe(created.text);
  expect(got.headers['etag']).toBe(created.headers['etag']);
  const replaced = await client.put(urlOf('e-1'), { ...FULL, name: 'New' });
  expect(replaced).toMatchObject({
    status: 200,
    body: { ...created.body, name: 'New', updated_at: replaced.body.updated_at },
  });
  expect(replaced.headers['location']).toBeUndefined();
  expect(replaced.body.updated_at > created.body.updated_at).toBe(true);
  expect(await listed(client)).toEqual([replaced.body]);
});

test('a field that is omitted gets the value that it has after a creation without it', async () => {
  const { client } = await createTestOrganization(server);
  const { id, created_at } = (await client.put(urlOf('e-1'), exampleOf('ParentProgramUpsertFull'))).body;
  const minimal = exampleOf('ParentProgramMinimal');
  const replaced = await client.put(urlOf('e-1'), { name: minimal.name });
  const { updated_at } = replaced.body;
  expect(replaced.body).toEqual({ ...minimal, id, external_id: 'e-1', created_at, updated_at });
});

test('the same content changes nothing, updated_at and ETag included, and adds no event', async () => {
  const { client } = await createTestOrganization(server);
  const created = await client.put(urlOf('e-1'), FULL);
  const again = await client.put(urlOf('e-1'), { ...FULL, metadata: { region: 'nordic', colour: 'green' } });
  expect(again).toMatchObject({ status: 200, text: created.text, headers: { etag: created.headers['etag'] } });
  expect((await client.get('/api/events')).body.data).toHaveLength(1);
});

test.each([
  ['a slash', 'a/b'],
  ['a space', 'a b'],
  ['letters of other scripts', 'ä€\u{1f469}'],
  ['a percent-encoding', '%2F'],
  ['the name of another operation', 'batch'],
  ['the separators of a URL', 'a?b=c#d'],
  ['a line break', '\n'],
  ["PostgreSQL's quote", "'"],
  ['255 characters', 'x'.repeat(255)],
  ['255 characters of four bytes', '\u{1f469}'.repeat(255)],
])('an external_id with %s is addressed by its percent-encoding', async (_, externalId) => {
  const { client } = await createTestOrganization(server);
  const { status, body } = await client.put(urlOf(externalId), { name: 'x' });
  expect({ status, externalId: body.external_id }).toEqual({ status: 201, externalId });
  const replaced = await client.put(urlOf(externalId), { name: 'y' });
  expect(replaced.status).toBe(200);
  const { text, headers } = await client.get(urlOf(externalId));
  expect([text, headers['etag']]).toEqual([replaced.text, replaced.headers['etag']]);
  expect((await client.delete(urlOf(externalId))).status).toBe(204);
});

test('parent programs without an external_id are never replaced', async () => {
  const { client } = await createTestOrganization(server);
  const { body } = await client.post(LIST, { name: 'x' });
  expect((await client.put(urlOf('null'), { name: 'y' })).status).toBe(201);
  expect((await client.delete(urlOf('null'))).status).toBe(204);
  for (const method of ['GET', 'PUT', 'DELETE'])
    expect((await client.send(method, `${LIST}/by_external_id/`)).status).toBe(404);
  expect((await client.get(`${LIST}/${body.id}`)).body).toEqual(body);
});

test('an external_id of another organization is not touched', async () => {
  const [ours, theirs] = [await createTestOrganization(server), await createTestOrganization(server)];
  const { body } = await theirs.client.put(urlOf('e-1'), FULL);
  expect((await ours.client.get(urlOf('e-1'))).status).toBe(404);
  expect((await ours.client.delete(urlOf('e-1'))).status).toBe(404);
  expect((await ours.client.put(urlOf('e-1'), { name: 'x' }, { headers: { 'If-None-Match': '*' } })).status).toBe(201);
  expect(await listed(theirs.client)).toEqual([body]);
});

describe('If-None-Match', () => {
  test('"*" creates, but never replaces', async () => {
    const { client } = await createTestOrganization(server);
    const headers = { 'If-None-Match': '*' };
    expect((await client.put(urlOf('e-1'), FULL, { headers })).status).toBe(201);
    const refused = await client.put(urlOf('e-1'), { name: 'x' }, { headers });
    expect(refused.status).toBe(412);
    expect(refused.body.message).toBe(
      'A parent program with this external_id exists already. Send the request without If-None-Match to replace it.',
    );
    expect(await listed(client)).toMatchObject([FULL]);
  });

  test('an entity tag refuses to replace exactly that content', async () => {
    const { client } = await createTestOrganization(server);
    const { headers } = await client.put(urlOf('e-1'), FULL);
    const etag = headers['etag'];
    expect((await client.put(urlOf('e-1'), FULL, { headers: { 'If-None-Match': `W/${etag}` } })).status).toBe(412);
    expect((await client.put(urlOf('e-1'), { name: 'x' }, { headers: { 'If-None-Match': '"other"' } })).status).toBe(
      200,
    );
  });
});

describe('If-Match', () => {
  test('replaces what the client has read, and refuses what has changed since', async () => {
    const { client } = await createTestOrganization(server);
    const { headers } = await client.put(urlOf('e-1'), FULL);
    const ifMatch = { headers: { 'If-Match': headers['etag'] } };
    expect((await client.put(urlOf('e-1'), { name: 'x' }, ifMatch)).status).toBe(200);
    expect((await client.put(urlOf('e-1'), { name: 'y' }, ifMatch)).status).toBe(412);
    expect(await listed(client)).toMatchObject([{ name: 'x' }]);
  });

  test.each(['*', '"5PCSWvuqX5dplNHdfbjbVq"'])('%s never creates', async (ifMatch) => {
    const { client } = await createTestOrganization(server);
    const response = await client.put(urlOf('e-1'), FULL, { headers: { 'If-Match': ifMatch } });
    expect(response.status).toBe(412);
    expect(response.body.message).toContain('There is no parent program with this external_id');
    expect(await listed(client)).toEqual([]);
  });
});

test('of twenty concurrent requests for one external_id, one creates and the others replace', async () => {
  const { client } = await createTestOrganization(server);
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, i) => client.put(urlOf('e-1'), { name: `Name ${i}` })),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
  expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1);
  expect(await listed(client)).toHaveLength(1);
});

test('the request waits for a transaction that creates the same external_id, and replaces its content', async () => {
  const { client, id } = await createTestOrganization(server);
  const other = await server.db.pool.connect();
  try {
    await other.query('begin');
    await other.query(
      "insert into parent_programs (organization_id, id, name, external_id, created_at, updated_at) values ($1, $2, 'x', 'e-1', now(), now())",
      [id, crypto.randomUUID()],
    );
    const response = client.put(urlOf('e-1'), FULL);
    await other.query('commit');
    expect(await response).toMatchObject({ status: 200, body: FULL });
  } finally {
    other.release();
  }
});
