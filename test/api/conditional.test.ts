import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();

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
  ])('succeeds with If-Match of %s', async (_, header) => {
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
  ])('412 for If-Match of %s, and nothing changes', async (_, header) => {
    const { client, url, tag } = await created();
    const before = await client.get(url);
    const response = await client.send(method, url, { ...withBody, headers: { 'If-Match': header(tag) } });
    expect(response.status).toBe(412);
    expect((await client.get(url)).text).toBe(before.text);
  });

  // Behind a proxy that weakens tags, "has changed" would be false, and reading it again would not end.
  test.each([
    ['the current tag', (tag: string) => `W/${tag}`],
    ['the current tag among others', (tag: string) => `"x", W/${tag}`],
    ['another tag', () => 'W/"stale"'],
    ['another tag, beside a stale one', () => '"stale", W/"other"'],
  ])('412 for the weak form of %s says why it never matches', async (_, header) => {
    const { client, url, tag } = await created();
    const { status, body: refusal } = await client.send(method, url, {
      ...withBody,
      headers: { 'If-Match': header(tag) },
    });
    expect(status).toBe(412);
    expect(refusal.message).toMatch(/^A weak entity tag, .* never matches in If-Match .* Send the strong tag .* proxy/);
  });

  test.each(['-gzip', '--gzip', ';gzip', '-br', ':zstd', '+x-gzip', '-df'])(
    '412 for a tag to which a proxy has appended "%s" says so',
    async (suffix) => {
      const { client, url, tag } = await created();
      const headers = { 'If-Match': `"x", ${tag.slice(0, -1)}${suffix}"` };
      const { status, body: refusal } = await client.send(method, url, { ...withBody, headers });
      expect([status, refusal.message]).toEqual([
        412,
        expect.stringMatching(/^The entity tag ends in ".*", .* without it.* proxy/),
      ]);
      expect(refusal.message).toContain(`"${suffix}"`);
    },
  );

  test('412 for stale tags, none of them weak, says that the program has changed', async () => {
    const { client, url } = await created();
    const headers = { 'If-Match': '"stale", "other"' };
    const { body: refusal } = await client.send(method, url, { ...withBody, headers });
    expect(refusal.message).toMatch(/^The parent program has changed since you read it\./);
  });

  test("412 for a tag that predates another client's change", async () => {
    const { client, url, tag } = await created();
    await client.patch(url, { description: 'Theirs' });
    expect((await client.send(method, url, { ...withBody, headers: { 'If-Match': tag } })).status).toBe(412);
    expect((await client.get(url)).body).toMatchObject({ name: 'First', description: 'Theirs' });
  });

  test.each(['abc', '"a', 'a"', '"a" "b"', '*, "a"', '"a",', 'w/"a"', '"a b"', ''])(
    '422 for If-Match: %s, naming it',
    async (value) => {
      const { client, url } = await created();
      const response = await client.send(method, url, { ...withBody, headers: { 'If-Match': value } });
      expect(response.status).toBe(422);
      expect(Object.keys(response.body.errors)).toEqual(['If-Match']);
      expect(response.body.message).toMatch(/^If-Match /);
    },
  );

  test('404 takes precedence over 412 for an unknown id', async () => {
    const { client } = await created();
    const url = `/api/parent_programs/${crypto.randomUUID()}`;
    for (const value of ['*', '"stale"']) {
      expect((await client.send(method, url, { ...withBody, headers: { 'If-Match': value } })).status).toBe(404);
    }
  });
});

test('412 takes precedence over 409', async () => {
  const { client, url } = await created();
  await client.post('/api/parent_programs', { name: 'Other', external_id: 'taken' });
  const response = await client.patch(url, { external_id: 'taken' }, { headers: { 'If-Match': '"stale"' } });
  expect(response.status).toBe(412);
});

test('the ETag of an update is valid as If-Match of the next update', async () => {
  const { client, url, tag } = await created();
  const first = await client.patch(url, { name: 'Second' }, { headers: { 'If-Match': tag } });
  const next = await client.patch(url, { name: 'Third' }, { headers: { 'If-Match': first.headers['etag'] } });
  expect(next.body.name).toBe('Third');
});

// The race: twenty clients read the same version, and each writes as if that version were still current.
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

// The race: two clients read the same metadata, each adds an entry and writes everything back.
test('twenty concurrent updates without If-Match that each add a metadata entry keep all twenty', async () => {
  const { client, url } = await created();
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, i) => client.patch(url, { metadata: { [`k${i}`]: 'v' } })),
  );
  expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(new Set(responses.map(({ body }) => body.updated_at)).size).toBe(20);
  expect(Object.keys((await client.get(url)).body.metadata)).toHaveLength(20);
});
