import { exampleOf } from '../support/contract/contract.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();

const LIST = '/api/parent_programs';

test('a create needs only a name; all other fields get their defaults', async () => {
  const { client } = await createTestOrganization(server);
  const before = Date.now();
  const minimal = exampleOf('ParentProgramMinimal');
  const { status, body } = await client.post(LIST, { name: minimal.name });
  expect(status).toBe(201);
  const { id, created_at } = body;
  expect(body).toEqual({ ...minimal, id, created_at, updated_at: created_at });
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);
  expect(Date.parse(created_at)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(created_at)).toBeLessThanOrEqual(Date.now());
});

test('a create stores every field as sent', async () => {
  const { client } = await createTestOrganization(server);
  const sent = {
    name: '  Ünï 😀 "quoted" \\ <b> \u2028 ',
    description: 'Line\r\nline\ttab \u007f \u0001',
    external_id: "sis/1?2#3%20'--",
    metadata: { colour: 'green', '': undefined, 'a.b/c~d': '', 10: 'ten', 9: 'nine', é: '😀' },
  };
  const { body } = await client.post(LIST, sent);
  expect(body).toMatchObject(JSON.parse(JSON.stringify(sent)));
});

test('Location leads to the new program, with the ETag and body of the response', async () => {
  const { client } = await createTestOrganization(server);
  const metadata = { zz: '1', a: '2', 10: 'ten', 9: 'nine', bbb: '3' };
  const created = await client.post(LIST, { name: 'x', description: 'y', external_id: 'z', metadata });
  expect(created.headers['location']).toBe(`${LIST}/${created.body.id}`);
  const got = await client.get(created.headers['location'] ?? '');
  expect(got.text).toBe(created.text);
  expect(got.headers['etag']).toBe(created.headers['etag']);
});

test('the entries of metadata are in the order of the lengths of their keys, then of their bytes, in every response', async () => {
  const { client } = await createTestOrganization(server);
  const metadata = { zz: '', é: '', a: '', 10: '', 9: '', B: '', aaa: '', 4294967295: '' };
  const ordered = '"metadata":{"9":"","B":"","a":"","10":"","zz":"","é":"","aaa":"","4294967295":""}';
  const created = await client.post(LIST, { name: 'x', metadata });
  const path = `${LIST}/${created.body.id}`;
  const patched = await client.patch(path, { name: 'y' }, { headers: { 'If-Match': created.headers['etag'] } });
  const upsert = { action: 'upsert', external_id: 'own', body: { name: 'z', metadata } };
  const batch = await client.post(`${LIST}/batch`, { changes: [upsert] });
  for (const reply of [
    created,
    patched,
    await client.get(path),
    await client.get(LIST),
    await client.get('/api/events'),
    batch,
  ])
    expect([reply.status < 300, reply.text.replaceAll(/"([:,]) "/g, '"$1"')]).toEqual([
      true,
      expect.stringContaining(ordered),
    ]);
  expect(batch.body.results[0].etag).toBe(
    (await client.get(`${LIST}/${batch.body.results[0].body.id}`)).headers['etag'],
  );
});

// The attack: names that are special in JavaScript change the server's objects or get lost.
test('metadata keys are stored as sent, regardless of the keys in earlier requests', async () => {
  // A V8 bug: JSON.parse read "\n" as the key "\\" that it had seen at the same place in another request.
  const { client } = await createTestOrganization(server);
  const first = Buffer.from('{"name":"x","metadata":{"first":"1","\\\\":"2"}}');
  expect((await client.post(LIST, first)).body.metadata).toEqual({ first: '1', '\\': '2' });
  for (const key of ['\n', '"', 'é', '\\']) {
    const metadata = { first: '1', [key]: '2' };
    const { body, headers } = await client.post(LIST, { name: 'x', metadata });
    expect(body.metadata).toEqual(metadata);
    const path = headers['location'] ?? '';
    expect((await client.get(path)).body.metadata).toEqual(metadata);
    const changed = await client.patch(path, { name: 'y', metadata: { [key]: '3' } });
    expect(changed.body).toMatchObject({ name: 'y', metadata: { ...metadata, [key]: '3' } });
    expect((await client.get(path)).text).toBe(changed.text);
  }
});

test('metadata stores __proto__, constructor and toString like any other key', async () => {
  const { client } = await createTestOrganization(server);
  const metadata = '{"__proto__":"p","constructor":"c","toString":"t","hasOwnProperty":"h"}';
  const created = await client.post(LIST, `{"name":"x","metadata":${metadata}}`);
  expect(created.status).toBe(201);
  const expected = Object.entries(JSON.parse(metadata)).sort();
  expect(Object.entries(created.body.metadata).sort()).toEqual(expected);
  expect((await client.get(created.headers['location'] ?? '')).text).toBe(created.text);
  const changed = await client.patch(
    created.headers['location'] ?? '',
    '{"metadata":{"__proto__":"q","constructor":null}}',
  );
  expect(new Map(Object.entries(changed.body.metadata))).toEqual(
    new Map([
      ['__proto__', 'q'],
      ['toString', 't'],
      ['hasOwnProperty', 'h'],
    ]),
  );
});

// The attack: values that look like Prisma's internal markers, so that Prisma stores or runs something else.
test.each([
  { $type: 'Raw', value: 'now()' },
  { $type: 'Json', value: '{"a":1}' },
  { $type: 'FieldRef', value: '{"_ref":"name"}' },
  { prisma__type: 'param', prisma__value: 'x' },
  { toJSON: 'x', set: 'y', increment: '1' },
])('metadata stores %j unchanged', async (metadata) => {
  const { client } = await createTestOrganization(server);
  const created = await client.post(LIST, { name: 'x', metadata });
  expect(created.body.metadata).toEqual(metadata);
  expect(
    (await client.patch(created.headers['location'] ?? '', { metadata: { ...metadata, more: 'z' } })).body.metadata,
  ).toEqual({
    ...metadata,
    more: 'z',
  });
});

test('409 for an external_id already in use, naming it and the program that has it; nothing is created', async () => {
  const { client } = await createTestOrganization(server);
  // The attack: learning the id of another organization's program by its external_id.
  const theirs = await createTestOrganization(server);
  await theirs.client.post(LIST, { name: 'Theirs', external_id: 'sis-1' });
  const { body: first } = await client.post(LIST, { name: 'First', external_id: 'sis-1' });
  for (const headers of [{}, { 'Idempotency-Key': 'once' }]) {
    const response = await client.post(LIST, { name: 'Second', external_id: 'sis-1' }, { headers });
    expect(response.status).toBe(409);
    expect(response.body.message).toBe(
      `The parent program ${first.id} in your organization already has the external_id "sis-1". Use a different external_id, or update that parent program.`,
    );
  }
  expect((await client.get(LIST)).body.data).toHaveLength(1);
});

test('two organizations may use the same external_id, and two programs may have none', async () => {
  for (const { client } of [await createTestOrganization(server), await createTestOrganization(server)]) {
    expect((await client.post(LIST, { name: 'x', external_id: 'shared' })).status).toBe(201);
    expect((await client.post(LIST, { name: 'x' })).status).toBe(201);
    expect((await client.post(LIST, { name: 'x' })).status).toBe(201);
  }
});

test('of ten concurrent creates with one external_id, one succeeds and nine get 409', async () => {
  const { client } = await createTestOrganization(server);
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => client.post(LIST, { name: 'x', external_id: 'once' })),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
});

test('the message of a 409 stays within its maximum length for the longest external_id', async () => {
  const { client } = await createTestOrganization(server);
  const external_id = '"'.repeat(255);
  const { body: first } = await client.post(LIST, { name: 'x', external_id });
  const response = await client.post(LIST, { name: 'x', external_id });
  expect(response.status).toBe(409);
  expect(response.body.message).toContain(first.id);
});
