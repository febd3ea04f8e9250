import { requireIfMatch } from '../../src/api/response.ts';
import { createProgram } from '../support/contract/every-operation.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();

const BY_OWN_ID = '/api/parent_programs/by_external_id/own';

/** Creates a program, and returns its address: the path with the id or, with `isOwn`, the path with the client's own id. */
async function created(isOwn = false) {
  const { client } = await createTestOrganization(server);
  const { headers } = await client.post('/api/parent_programs', { name: 'First', external_id: 'own' });
  const byId = headers['location'] ?? '';
  return { client, byId, url: isOwn ? BY_OWN_ID : byId, tag: headers['etag'] ?? '' };
}

const TAG = '"5PCSWvuqX5dplNHdfbjbVq"';
const judge = (header: string | undefined) => requireIfMatch(header, (tag) => tag === TAG, 'It has changed.');

test.each([undefined, TAG, '*', `"x", W/"y" ,${TAG}`])('If-Match: %s is met', (header) => {
  expect(() => judge(header)).not.toThrow();
});

// A proxy may weaken or extend the tag of an unchanged row. "It has changed." would then be wrong, and the client would get the
// same tag again.
test.each([
  ...['"stale"', '"x", "y"', '""'].map((header) => [header, /^It has changed\.$/] as const),
  ...[`W/${TAG}`, `"x", W/${TAG}`, 'W/"stale"', '"stale", W/"other"'].map(
    (header) => [header, /^A weak entity tag, .* never matches in If-Match .* Send the strong tag .* proxy/] as const,
  ),
  ...['-gzip', '--gzip', ';gzip', '-br', ':zstd', '+x-gzip', '-df'].map(
    (suffix) =>
      [`"x", ${TAG.slice(0, -1)}${suffix}"`, /^The entity tag ends in "[^"]+", .* without it.* proxy/] as const,
  ),
])('If-Match: %s is not met, and the message says why', (header, message) => {
  expect(() => judge(header)).toThrow(message);
});

describe.each([
  ['PATCH by id', 200, { name: 'Changed' }],
  ['DELETE by id', 204, undefined],
  ['DELETE by external_id', 204, undefined],
])('%s', (title, success, body) => {
  const [method = ''] = title.split(' ');
  const isOwn = title.endsWith('external_id');
  const withBody = body === undefined ? {} : { body };

  test('succeeds with the current tag in If-Match', async () => {
    const { client, url, tag } = await created(isOwn);
    expect((await client.send(method, url, { ...withBody, headers: { 'If-Match': tag } })).status).toBe(success);
  });

  test("412 for a tag that predates another client's change, which stays", async () => {
    const { client, url, byId, tag } = await created(isOwn);
    await client.patch(byId, { description: 'Theirs' });
    const refused = await client.send(method, url, { ...withBody, headers: { 'If-Match': tag } });
    expect([refused.status, refused.body.message]).toEqual([
      412,
      expect.stringMatching(/^The parent program has changed since you read it\./),
    ]);
    expect((await client.get(url)).body).toMatchObject({ name: 'First', description: 'Theirs' });
  });

  test('404 takes precedence over 412 for an unknown id', async () => {
    const { client } = await created();
    const url = `/api/parent_programs/${isOwn ? 'by_external_id/' : ''}${crypto.randomUUID()}`;
    for (const value of ['*', '"stale"']) {
      expect((await client.send(method, url, { ...withBody, headers: { 'If-Match': value } })).status).toBe(404);
    }
  });
});

test.each(['abc', '"', '"a', 'a"', '"a" "b"', '"a",', ',"a"', '*, "a"', 'w/"a"', '"a b"', '"é"', ''])(
  '422 for If-Match and If-None-Match: %s, naming it',
  async (value) => {
    const { client, url } = await created();
    for (const [name, method] of [
      ['If-Match', 'DELETE'],
      ['If-None-Match', 'GET'],
    ] as const) {
      const { status, body } = await client.send(method, url, { headers: { [name]: value } });
      expect({ status, errors: body.errors }).toEqual({
        status: 422,
        errors: { [name]: ['is not valid. Send * or a comma-separated list of entity tags, each in double quotes.'] },
      });
    }
  },
);

test('412 takes precedence over 409', async () => {
  const { client, url } = await created();
  await client.post('/api/parent_programs', { name: 'Other', external_id: 'taken' });
  const response = await client.patch(url, { external_id: 'taken' }, { headers: { 'If-Match': '"stale"' } });
  expect(response.status).toBe(412);
});

test('of twenty concurrent updates with one ETag, one succeeds and nineteen get 412', async () => {
  const { client, url, tag } = await created();
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, i) => client.patch(url, { name: `Writer ${i}` }, { headers: { 'If-Match': tag } })),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(412)]);
  const winner = responses.find(({ status }) => status === 200);
  expect((await client.get(url)).text).toBe(winner?.text);
});

test('of concurrent updates and deletes with one ETag, exactly one succeeds', async () => {
  const { client, url, tag } = await created();
  const headers = { 'If-Match': tag };
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      i % 2 === 0 ? client.delete(url, { headers }) : client.patch(url, { name: `Writer ${i}` }, { headers }),
    ),
  );
  const others = responses.map(({ status }) => status).filter((status) => status >= 300);
  expect(others).toHaveLength(9);
  expect([404, 412]).toEqual(expect.arrayContaining(others));
});

// The race: two clients read the same metadata, and each adds an entry and writes all entries back.
test('twenty concurrent updates without If-Match that each add a metadata entry keep all twenty', async () => {
  const { client, url } = await created();
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, i) => client.patch(url, { metadata: { [`k${i}`]: 'v' } })),
  );
  expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(new Set(responses.map(({ body }) => body.updated_at)).size).toBe(20);
  expect(Object.keys((await client.get(url)).body.metadata)).toHaveLength(20);
});

/** Creates an organization with one program, and returns the paths that support conditional requests. */
async function addresses() {
  const ours = await createTestOrganization(server);
  const { body } = await ours.client.post('/api/parent_programs', { name: 'Nordic Scholars', external_id: 'own' });
  const id = String(body.id);
  return { ours, id, urls: ['/api/parent_programs', `/api/parent_programs/${id}`, BY_OWN_ID] };
}

test('the ETag stays the same while nothing changes, and differs after every change', async () => {
  const { ours, id, urls } = await addresses();
  const tags = async () => Promise.all(urls.map(async (url) => (await ours.client.get(url)).headers['etag']));
  const before = await tags();
  expect(await tags()).toEqual(before);
  await ours.client.patch(`/api/parent_programs/${id}`, { description: 'Changed' });
  const after = await tags();
  for (const [i, tag] of after.entries()) expect(tag).not.toBe(before[i]);
  expect(after[2]).toBe(after[1]);
});

test('the ETag of a list changes with a create and a delete', async () => {
  const { ours, id } = await addresses();
  const tag = async () => (await ours.client.get('/api/parent_programs')).headers['etag'];
  const tags = [await tag()];
  await createProgram(ours, 'Another');
  tags.push(await tag());
  await ours.client.delete(`/api/parent_programs/${id}`);
  tags.push(await tag());
  expect(new Set(tags).size).toBe(3);
});

test('200 for the old ETag after a change', async () => {
  const { ours, id, urls } = await addresses();
  for (const url of urls) {
    const tag = (await ours.client.get(url)).headers['etag'] ?? '';
    await ours.client.patch(`/api/parent_programs/${id}`, { name: url });
    expect((await ours.client.get(url, { headers: { 'If-None-Match': tag } })).status).toBe(200);
  }
});

test('422 for an If-None-Match of 1025 characters', async () => {
  const { ours } = await addresses();
  const response = await ours.client.get('/api/parent_programs', {
    headers: { 'If-None-Match': `"${'a'.repeat(1023)}"` },
  });
  expect(response.body.errors).toEqual({ 'If-None-Match': ['must be at most 1024 characters long; it has 1025.'] });
});

test('two If-None-Match headers form one list', async () => {
  const { ours } = await addresses();
  const tag = (await ours.client.get('/api/parent_programs')).headers['etag'] ?? '';
  const response = await ours.client.get('/api/parent_programs', { headers: { 'If-None-Match': ['"x"', tag] } });
  expect(response.status).toBe(304);
});
