import { type CharterClient, createClient, ResponseError } from '../../src/client/charter-client.ts';
import { revokeKeyById } from '../../src/service/operator/keys.ts';
import { insertPrograms } from '../support/data/programs.ts';
import { respondsWith, useScriptedServer } from '../support/servers/scripted-server.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const PROGRAMS = '/api/parent_programs';
const NAMES = Array.from({ length: 7 }, (_, i) => `Program ${i + 1}`);

const server = await useServer();
const scripted = await useScriptedServer();

/** Creates a client of an organization with seven parent programs, and records the URLs that the client requests. */
async function openList(): Promise<{ charter: CharterClient; asked: URL[] }> {
  const ours = await createTestOrganization(server);
  await insertPrograms(
    server,
    ours,
    NAMES.map((name, i) => ({ name, createdAt: new Date(Date.UTC(2026, 0, i + 1)) })),
  );
  const asked: URL[] = [];
  const charter = createClient({
    baseUrl: server.url,
    apiKey: ours.key,
    fetch: (request) => {
      asked.push(new URL(request.url));
      return fetch(request);
    },
  });
  return { charter, asked };
}

test('iterating over items reads every list page, in order', async () => {
  const { charter, asked } = await openList();
  const names: string[] = [];
  for await (const { name } of charter.items(PROGRAMS, { params: { query: { limit: 3 } } })) names.push(name);
  expect(names).toEqual(NAMES);
  expect(asked).toHaveLength(3);
});

test('the request for every list page contains the filters and the sort order', async () => {
  const { charter, asked } = await openList();
  const query = { search: 'program', sort: '-name', limit: 4 } as const;
  const sizes: number[] = [];
  for await (const { data } of charter.pages(PROGRAMS, { params: { query } })) sizes.push(data.length);
  expect(sizes).toEqual([4, 3]);
  for (const { searchParams } of asked) {
    expect(Object.fromEntries(searchParams)).toMatchObject({ search: 'program', sort: '-name', limit: '4' });
  }
});

test('iterating over list pages continues from a cursor', async () => {
  const { charter } = await openList();
  const first = await charter.GET(PROGRAMS, { params: { query: { limit: 5 } } });
  if (!first.ok || first.data.page.next_cursor === null) throw new Error('There is no second page.');
  const query = { cursor: first.data.page.next_cursor };
  const names: string[] = [];
  for await (const { name } of charter.items(PROGRAMS, { params: { query } })) names.push(name);
  expect(names).toEqual(NAMES.slice(5));
});

test('an empty list is one list page without items', async () => {
  const { charter } = await openList();
  const query = { search: 'nothing like it' };
  for await (const item of charter.items(PROGRAMS, { params: { query } })) expect(item).toBeUndefined();
  const pages = charter.pages(PROGRAMS, { params: { query } });
  expect(await pages.next()).toMatchObject({ done: false, value: { data: [] } });
  expect(await pages.next()).toMatchObject({ done: true });
});

test('stopping an iteration early requests no further list page', async () => {
  const { charter, asked } = await openList();
  let seen = 0;
  for await (const _ of charter.items(PROGRAMS, { params: { query: { limit: 2 } } })) {
    seen += 1;
    if (seen === 2) break;
  }
  expect(asked).toHaveLength(1);
});

test('a key revoked between two list pages ends the iteration with the exception', async () => {
  const { charter } = await openList();
  const pages = charter.pages(PROGRAMS, { params: { query: { limit: 3 } } });
  expect(await pages.next()).toMatchObject({ done: false });
  const key = await charter.GET('/api/key');
  if (!key.ok) throw new Error(key.error.message);
  await revokeKeyById(server.db, key.data.id);
  const failing = pages.next();
  await expect(failing).rejects.toBeInstanceOf(ResponseError);
  await expect(failing).rejects.toMatchObject({
    name: 'ResponseError',
    message: expect.stringMatching(/^GET \/api\/parent_programs got 401: .*revoked/),
    status: 401,
    exception: { message: expect.stringContaining('revoked') },
    result: { status: 401, ok: false, tries: 1 },
  });
  expect(await pages.next()).toEqual({ done: true, value: undefined });
});

test('a refused filter throws an exception that names its fields', async () => {
  const { charter } = await openList();
  const failing = charter.items(PROGRAMS, { params: { query: { search: 'ab' } } }).next();
  await expect(failing).rejects.toMatchObject({ status: 422, exception: { errors: { search: [expect.any(String)] } } });
});

test("the caller's signal also ends an iteration between two items", async () => {
  const { charter, asked } = await openList();
  const ending = new AbortController();
  const items = charter.items(PROGRAMS, { signal: ending.signal });
  expect(await items.next()).toMatchObject({ value: { name: NAMES[0] } });
  ending.abort('no more');
  await expect(items.next()).rejects.toBe('no more');
  expect(asked).toHaveLength(1);
});

test('iterating over the feed ends with its last page, whose cursor continues it later', async () => {
  const { charter, asked } = await openList();
  const followed = async (query: { cursor?: string }) => {
    const names: string[] = [];
    let position = query;
    for await (const { data, page } of charter.pages('/api/events', { params: { query: { limit: 3, ...query } } })) {
      names.push(...data.map(({ data: program }) => ('name' in program ? program.name : '')));
      position = { cursor: page.next_cursor };
    }
    return { names, position };
  };
  const first = await followed({});
  expect(first.names.toSorted()).toEqual(NAMES);
  expect(asked).toHaveLength(3);
  expect((await followed(first.position)).names).toEqual([]);
  await charter.POST(PROGRAMS, { body: { name: 'Later' } });
  expect((await followed(first.position)).names).toEqual(['Later']);
});

test('a list with a repeating cursor ends with an error', async () => {
  scripted.play(respondsWith(200, {}, { data: [{ name: 'Once' }], page: { limit: 1, next_cursor: 'same' } }));
  const pages = createClient({ baseUrl: scripted.url, apiKey: 'charter_test_key' }).pages(PROGRAMS);
  await pages.next();
  await pages.next();
  await expect(pages.next()).rejects.toMatchObject({ name: 'UnexpectedResponseError' });
  expect(scripted.received).toHaveLength(2);
});

test('a response that is not a list page is refused', async () => {
  for (const body of [null, 'page', { data: [] }, { data: {}, page: { next_cursor: null } }]) {
    scripted.play(respondsWith(200, {}, body));
    const pages = createClient({ baseUrl: scripted.url, apiKey: 'charter_test_key' }).pages(PROGRAMS);
    await expect(pages.next()).rejects.toMatchObject({ name: 'UnexpectedResponseError', status: 200 });
  }
});
