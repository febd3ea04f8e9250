import { createProgram } from '../support/contract/every-operation.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();

/** An organization with one program, and the paths that support conditional requests. */
async function addresses() {
  const ours = await createTestOrganization(server);
  const id = await createProgram(ours);
  return { ours, id, urls: ['/api/parent_programs', `/api/parent_programs/${id}`] };
}

test('the ETag stays the same while nothing changes, and differs after every change', async () => {
  const { ours, id, urls } = await addresses();
  const tags = async () => Promise.all(urls.map(async (url) => (await ours.client.get(url)).headers['etag']));
  const before = await tags();
  expect(await tags()).toEqual(before);
  await ours.client.patch(`/api/parent_programs/${id}`, { description: 'Changed' });
  const after = await tags();
  expect(after[0]).not.toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
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

test.each([
  ['the tag', (tag: string) => tag],
  ['the tag, weak', (tag: string) => `W/${tag}`],
  ['a list that holds it', (tag: string) => `"other", W/"another" ,${tag}`],
  ['an asterisk', () => '*'],
])('304 without a body for GET and HEAD if If-None-Match has %s', async (_, header) => {
  const { ours, urls } = await addresses();
  for (const url of urls) {
    const { headers } = await ours.client.get(url);
    for (const method of ['GET', 'HEAD']) {
      const again = await ours.client.send(method, url, {
        headers: { 'If-None-Match': header(headers['etag'] ?? '') },
      });
      expect(again).toMatchObject({ status: 304, text: '', headers: { etag: headers['etag'] } });
    }
  }
});

test('200 for an If-None-Match with other tags, empty tags or parts of the current tag', async () => {
  const { ours, urls } = await addresses();
  for (const url of urls) {
    const tag = (await ours.client.get(url)).headers['etag'] ?? '';
    for (const other of ['"x"', '""', `${tag.slice(0, -2)}"`, `"${tag.slice(1, -1)}=="`, `"W/${tag.slice(1)}`]) {
      expect((await ours.client.get(url, { headers: { 'If-None-Match': other } })).status).toBe(200);
    }
  }
});

test('200 for the old ETag after a change', async () => {
  const { ours, id, urls } = await addresses();
  for (const url of urls) {
    const tag = (await ours.client.get(url)).headers['etag'] ?? '';
    await ours.client.patch(`/api/parent_programs/${id}`, { name: url });
    expect((await ours.client.get(url, { headers: { 'If-None-Match': tag } })).status).toBe(200);
  }
});

// Attack: a cache that serves one organization's rows to another because their ETags are equal.
test('200 for an ETag of another organization', async () => {
  const [mine, theirs] = [await addresses(), await addresses()];
  const tag = (await theirs.ours.client.get('/api/parent_programs')).headers['etag'] ?? '';
  expect((await mine.ours.client.get('/api/parent_programs', { headers: { 'If-None-Match': tag } })).status).toBe(200);
});

test.each(['abc', '"', '"a', 'a"', '"a" "b"', '"a",', ',"a"', '*, "a"', 'w/"a"', '"a b"', '"é"', ''])(
  '422 for If-None-Match: %s, naming it',
  async (value) => {
    const { ours, urls } = await addresses();
    for (const url of urls) {
      const response = await ours.client.get(url, { headers: { 'If-None-Match': value } });
      expect(response.status).toBe(422);
      expect(response.body.errors).toEqual({
        'If-None-Match': ['is not valid. Send * or a comma-separated list of entity tags, each in double quotes.'],
      });
    }
  },
);

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
