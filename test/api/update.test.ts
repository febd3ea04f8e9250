import fc from 'fast-check';
import { useMock } from '../support/servers/mock.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();
const mock = await useMock({ isStateful: true });

const LIST = '/api/parent_programs';
const FULL = { name: 'Full', description: 'Text', external_id: 'e-1', metadata: { colour: 'green', region: 'nordic' } };

async function created(content: object = FULL) {
  const { client } = await createTestOrganization(server);
  const { body, headers } = await client.post(LIST, content);
  return { client, body, url: `${LIST}/${body.id}`, tag: headers['etag'] };
}

const text = fc.stringMatching(/^[a-z]{1,8}$/);
const PATCHES = fc.array(
  fc.record(
    {
      name: text,
      description: fc.option(text),
      external_id: fc.option(text),
      metadata: fc.option(fc.dictionary(fc.constantFrom('colour', 'region', 'size'), fc.option(text))),
    },
    { requiredKeys: [] },
  ),
  { minLength: 1, maxLength: 4 },
);

type Content = Readonly<Record<string, unknown>>;

/** Applies a merge patch (RFC 7396) to content whose only nested object is `metadata`. */
function merged(content: Content, patch: Content): Content {
  const metadata = { ...Object(content['metadata']), ...Object(patch['metadata']) };
  const kept = Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null));
  return { ...content, ...patch, metadata: patch['metadata'] === null ? {} : kept };
}

test('after any merge patches, a program is what RFC 7396 makes of them, on the server and on the mock', async () => {
  const ours = await createTestOrganization(server);
  for (const client of [ours.client, mock.client])
    await fc.assert(
      fc.asyncProperty(PATCHES, async (patches) => {
        const { body } = await client.post(LIST, { ...FULL, external_id: null });
        let expected: Content = { ...FULL, external_id: null };
        for (const patch of patches) {
          expected = merged(expected, patch);
          const reply = await client.patch(`${LIST}/${body.id}`, patch);
          expect(reply).toMatchObject({ status: 200 });
          expect(reply.body).toEqual({ ...body, ...expected, updated_at: reply.body.updated_at });
          const got = await client.get(`${LIST}/${body.id}`);
          expect([got.text, got.headers['etag']]).toEqual([reply.text, reply.headers['etag']]);
        }
        await client.delete(`${LIST}/${body.id}`);
      }),
      { numRuns: 20 },
    );
});

test.each([
  {},
  { name: 'Full' },
  FULL,
  { metadata: {} },
  { metadata: { region: 'nordic' } },
  { metadata: { absent: null } },
  { metadata: { region: 'nordic', colour: 'green' } },
])('the patch %j changes nothing, updated_at and ETag included', async (patch) => {
  const { client, body, url, tag } = await created();
  const response = await client.patch(url, patch);
  expect(response).toMatchObject({ status: 200, body, headers: { etag: tag } });
});

test('updated_at grows with every change and created_at stays the same, even within one millisecond', async () => {
  const { client, body, url } = await created();
  const instants = [body.updated_at];
  for (let i = 0; i < 20; i += 1) {
    const response = await client.patch(url, { name: `Name ${i}` });
    expect(response.body.created_at).toBe(body.created_at);
    instants.push(response.body.updated_at);
  }
  expect(instants).toEqual([...new Set(instants)].sort());
});

// If updated_at were set by the clock alone, a sync by updated_since would miss a change after the clock was set back.
test('updated_at grows even after the clock was set back', async () => {
  const { client, body, url } = await created();
  const updatedAt = new Date('2040-01-01T00:00:00.000Z');
  await server.db.prisma.parentProgram.updateMany({ where: { id: body.id }, data: { updatedAt } });
  expect((await client.patch(url, { name: 'New' })).body.updated_at).toBe('2040-01-01T00:00:00.001Z');
});

test('422 if more than 50 metadata entries would remain, 200 if a patch removes as many as it adds', async () => {
  const entries = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 'v']));
  const { client, body, url } = await created({ name: 'x', metadata: entries });
  const response = await client.patch(url, { metadata: { more: 'v' } });
  expect(response.status).toBe(422);
  expect(response.body.errors).toEqual({
    metadata: ['must have at most 50 entries after the change. Remove some by setting them to null.'],
  });
  expect((await client.get(url)).body).toEqual(body);
  expect((await client.patch(url, { metadata: { more: 'v', k0: null } })).status).toBe(200);
});

test('409 for an external_id of another program, and nothing changes', async () => {
  const { client, body, url } = await created();
  const other = await client.post(LIST, { name: 'Other', external_id: 'taken' });
  const response = await client.patch(url, { name: 'Changed', external_id: 'taken' });
  expect(response.status).toBe(409);
  expect(response.body.message).toContain('"taken"');
  expect(response.body.message).toContain(other.body.id);
  expect((await client.get(url)).body).toEqual(body);
});

test('an update may use an external_id of another organization, or one that was cleared or deleted', async () => {
  const { client, url } = await created();
  const theirs = await created({ name: 'Theirs', external_id: 'free' });
  expect((await client.patch(url, { external_id: 'free' })).status).toBe(200);
  expect((await theirs.client.get(theirs.url)).body.external_id).toBe('free');
  const other = await client.post(LIST, { name: 'Other', external_id: 'e-1' });
  await client.delete(`${LIST}/${other.body.id}`);
  expect((await client.patch(url, { external_id: 'e-1' })).status).toBe(200);
});

const BY_OWN_ID = `${LIST}/by_external_id/e-1`;

describe.each(['id', 'external_id'])('delete by %s', (name) => {
  const addressOf = (url: string) => (name === 'id' ? url : BY_OWN_ID);

  test('returns 204 without a body, and every later request gets a 404 that names what was sent', async () => {
    const { client, url } = await created();
    expect(await client.delete(addressOf(url))).toMatchObject({ status: 204, text: '' });
    const later = [client.get(url), client.patch(url, { name: 'x' }), client.delete(url)];
    const laterByOwnId = [client.get(BY_OWN_ID), client.delete(BY_OWN_ID)];
    const [byId, byOwnId] = [await Promise.all(later), await Promise.all(laterByOwnId)];
    expect([byId, byOwnId].map((replies) => replies.map(({ status }) => status))).toEqual([
      [404, 404, 404],
      [404, 404],
    ]);
    expect(byId[0]?.body.message).toBe('There is no parent program with this id.');
    for (const { body } of byOwnId) expect(body.message).toBe('There is no parent program with this external_id.');
    expect((await client.get(LIST)).body.data).toEqual([]);
  });

  test('of ten concurrent requests, one gets 204 and nine get 404', async () => {
    const { client, url } = await created();
    const responses = await Promise.all(Array.from({ length: 10 }, () => client.delete(addressOf(url))));
    expect(responses.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(404)]);
  });

  test('adds the event of the deletion, with the program as it was last', async () => {
    const { client, body, url } = await created();
    await client.delete(addressOf(url));
    const { data } = (await client.get('/api/events')).body;
    expect(data.at(-1)).toMatchObject({ type: 'parent_program.deleted', data: body });
  });
});

// The race: while the deletion waits, the external_id passes to another program.
test('a delete by external_id deletes the program that has it when the delete is made', async () => {
  const { client, body, url } = await created();
  const other = await client.post(LIST, { name: 'Other', external_id: 'e-2' });
  const [batch, deletion] = await Promise.all([
    client.post(`${LIST}/batch`, {
      changes: [
        { action: 'update', id: body.id, body: { external_id: null } },
        { action: 'update', id: other.body.id, body: { external_id: 'e-1' } },
      ],
    }),
    client.delete(BY_OWN_ID),
  ]);
  expect([batch.status, deletion.status]).toEqual([200, 204]);
  const left = [await client.get(url), await client.get(`${LIST}/${other.body.id}`)].map(({ status }) => status);
  const wasDeletedFirst = batch.body.results[0].status === 404;
  expect(left).toEqual(wasDeletedFirst ? [404, 200] : [200, 404]);
});

test('an id may be in upper case', async () => {
  const { client, body } = await created();
  const url = `${LIST}/${body.id.toUpperCase()}`;
  const read = await client.get(url);
  expect(read.body).toEqual(body);
  const updated = await client.patch(
    url,
    { name: 'New name' },
    { headers: { 'If-Match': read.headers['etag'] ?? '' } },
  );
  expect(updated).toMatchObject({ status: 200, body: { id: body.id } });
  const { headers } = await client.get(url);
  expect(updated.headers['etag']).toBe(headers['etag']);
  expect((await client.delete(url, { headers: { 'If-Match': headers['etag'] ?? '' } })).status).toBe(204);
});

test.each([
  'application/json',
  'application/merge-patch+json',
  'Application/Merge-Patch+JSON; charset="UTF-8"',
  'application/merge-patch+json;version=1',
])('a merge patch may be sent as %s', async (type) => {
  const { client, url } = await created();
  const headers = { 'Content-Type': type };
  expect(await client.patch(url, { description: null }, { headers })).toMatchObject({
    status: 200,
    body: { ...FULL, description: null },
  });
  for (const body of ['[]', 'null', '"x"', '3']) {
    const refused = await client.patch(url, body, { headers });
    expect(refused).toMatchObject({ status: 422, body: { errors: { body: ['must be an object.'] } } });
  }
});

test.each([
  { 'Content-Type': 'application/json-patch+json' },
  { 'Content-Type': 'application/merge-patch+json; charset=latin1' },
  { 'Content-Type': 'text/plain' },
  { 'Content-Encoding': 'gzip' },
])('415 for a patch sent with %j, naming the accepted media types', async (headers) => {
  const { client, url } = await created();
  const refused = await client.patch(url, { name: 'New' }, { headers });
  expect(refused).toMatchObject({
    status: 415,
    headers: { 'accept-patch': 'application/json, application/merge-patch+json' },
  });
  if (headers['Content-Type'] !== undefined)
    expect(refused.body.message).toContain('Send Content-Type: application/json or application/merge-patch+json.');
  expect((await client.post(LIST, FULL, { headers })).headers['accept-patch']).toBeUndefined();
});

test('415 for a merge patch as the body of a create', async () => {
  const { client } = await created();
  const refused = await client.post(LIST, FULL, { headers: { 'Content-Type': 'application/merge-patch+json' } });
  expect(refused).toMatchObject({
    status: 415,
    body: { message: 'The body must be JSON in UTF-8. Send Content-Type: application/json.' },
  });
});
