import { createTestOrganization, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

async function created() {
  const { client } = await createTestOrganization(server);
  const { headers } = await client.post('/api/parent_programs', { name: 'First' });
  return { client, url: headers['location'] ?? '', tag: headers['etag'] ?? '' };
}

describe.each([
  ['PATCH', 200, { name: 'Changed' }],
  ['DELETE', 204, undefined],
])('%s', (method, success, body) => {
  const withBody = body === undefined ? {} : { body };

  test.each([
    ['the current tag', (tag: string) => tag],
    ['an asterisk', () => '*'],
    ['a list that holds the current tag', (tag: string) => `"x", W/"y" ,${tag}`],
  ])('is done with If-Match of %s', async (_, header) => {
    const { client, url, tag } = await created();
    expect((await client.send(method, url, { ...withBody, headers: { 'If-Match': header(tag) } })).status).toBe(
      success,
    );
  });

  test.each([
    ['a stale tag', () => '"stale"'],
    ['the current tag, weak', (tag: string) => `W/${tag}`],
    ['a list without the current tag', () => '"x", "y"'],
    ['an empty tag', () => '""'],
  ])('412 with If-Match of %s, and nothing is changed', async (_, header) => {
    const { client, url, tag } = await created();
    const before = await client.get(url);
    const answer = await client.send(method, url, { ...withBody, headers: { 'If-Match': header(tag) } });
    expect(answer.status).toBe(412);
    expect((await client.get(url)).text).toBe(before.text);
  });

  test('412 with a tag of before somebody else changed it', async () => {
    const { client, url, tag } = await created();
    await client.patch(url, { description: 'Theirs' });
    expect((await client.send(method, url, { ...withBody, headers: { 'If-Match': tag } })).status).toBe(412);
    expect((await client.get(url)).body).toMatchObject({ name: 'First', description: 'Theirs' });
  });

  test.each(['abc', '"a', 'a"', '"a" "b"', '*, "a"', '"a",', 'w/"a"', '"a b"', ''])(
    '422 for If-Match: %s, naming it',
    async (value) => {
      const { client, url } = await created();
      const answer = await client.send(method, url, { ...withBody, headers: { 'If-Match': value } });
      expect(answer.status).toBe(422);
      expect(Object.keys(answer.body.errors)).toEqual(['If-Match']);
      expect(answer.body.message).toMatch(/^If-Match /);
    },
  );

  test('404 goes before 412 for an id that does not exist', async () => {
    const { client } = await created();
    const url = `/api/parent_programs/${crypto.randomUUID()}`;
    for (const value of ['*', '"stale"']) {
      expect((await client.send(method, url, { ...withBody, headers: { 'If-Match': value } })).status).toBe(404);
    }
  });
});

test('412 goes before 409', async () => {
  const { client, url } = await created();
  await client.post('/api/parent_programs', { name: 'Other', external_id: 'taken' });
  const answer = await client.patch(url, { external_id: 'taken' }, { headers: { 'If-Match': '"stale"' } });
  expect(answer.status).toBe(412);
});

test('the tag of an update is good for the next one', async () => {
  const { client, url, tag } = await created();
  const first = await client.patch(url, { name: 'Second' }, { headers: { 'If-Match': tag } });
  const next = await client.patch(url, { name: 'Third' }, { headers: { 'If-Match': first.headers['etag'] } });
  expect(next.body.name).toBe('Third');
});

// The race: twenty read the same version, and each writes in the belief that it is the last one.
test('of twenty updates at once with one ETag, one succeeds and nineteen get 412', async () => {
  const { client, url, tag } = await created();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => client.patch(url, { name: `Writer ${i}` }, { headers: { 'If-Match': tag } })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(412)]);
  const winner = answers.find(({ status }) => status === 200);
  expect((await client.get(url)).text).toBe(winner?.text);
});

test('of updates and deletes at once with one ETag, one succeeds', async () => {
  const { client, url, tag } = await created();
  const headers = { 'If-Match': tag };
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      i % 2 === 0 ? client.delete(url, { headers }) : client.patch(url, { name: `Writer ${i}` }, { headers }),
    ),
  );
  const others = answers.map(({ status }) => status).filter((status) => status >= 300);
  expect(others).toHaveLength(9);
  expect([404, 412]).toEqual(expect.arrayContaining(others));
});

// The race: two read the same metadata, each adds its own entry and writes the whole back.
test('of twenty updates at once without If-Match, each of its own metadata entry, all are kept', async () => {
  const { client, url } = await created();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => client.patch(url, { metadata: { [`k${i}`]: 'v' } })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(new Set(answers.map(({ body }) => body.updated_at)).size).toBe(20);
  expect(Object.keys((await client.get(url)).body.metadata)).toHaveLength(20);
});
