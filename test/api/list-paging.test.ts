import { issueKeyByEmail } from '../../src/service/operator/keys.ts';
import { idsOf, insertPrograms, nextOf, walk } from '../support/data/programs.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

type Shown = { id: string; name: string; created_at: string; updated_at: string };

const server = await useServer();

const LIST = '/api/parent_programs';
const SORTS = ['created_at', '-created_at', 'updated_at', '-updated_at', 'name', '-name'];

/** Creates an organization with 67 rows. Many of the rows have the same name or the same time. */
async function createOrganizationOf67() {
  const ours = await createTestOrganization(server);
  const instant = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute, 0, minute % 1000));
  const rows = Array.from({ length: 67 }, (_, i) => ({
    name: ['Zeta', 'alpha', 'Åse', '😀 smile', '\uFFFD odd', 'Beta'][i % 6] ?? '',
    createdAt: instant(i % 9),
    updatedAt: instant(100 - (i % 13)),
  }));
  await insertPrograms(server, ours, rows);
  return ours;
}

const { client } = await createOrganizationOf67();

/** Compares by code point, as the contract says. A comparison of UTF-16 code units would put 😀 before U+FFFD. */
function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

test.each(SORTS)('the list pages of sort=%s together hold every row in order', async (sort) => {
  const whole: Shown[] = (await walk(client, `${LIST}?limit=100`)).flatMap(({ body }) => body.data);
  const field = sort.replace('-', '');
  const sortValue = (row: Shown) =>
    field === 'name' ? row.name : field === 'created_at' ? row.created_at : row.updated_at;
  const sorted = whole.toSorted((a, b) => compare(sortValue(a), sortValue(b)) || compare(a.id, b.id));
  if (sort.startsWith('-')) sorted.reverse();
  for (const limit of [7, 67, 66, 68]) {
    const pages = await walk(client, `${LIST}?sort=${sort}&limit=${limit}`);
    expect(idsOf(pages)).toEqual(sorted.map(({ id }) => id));
    expect(pages).toHaveLength(Math.ceil(67 / limit));
  }
});

test('the default order is created_at and the default list page holds 25 rows', async () => {
  const page = await client.get(LIST);
  expect(page.body.page.limit).toBe(25);
  expect(page.text).toBe((await client.get(`${LIST}?limit=25&sort=created_at`)).text);
});

test('limit accepts 1 and 100', async () => {
  expect((await client.get(`${LIST}?limit=1`)).body).toMatchObject({ data: [{}], page: { limit: 1 } });
  const all = await client.get(`${LIST}?limit=100`);
  expect(all.body.page).toEqual({ limit: 100, next_cursor: null });
  expect(all.body.data).toHaveLength(67);
});

test.each([1, 100])(
  'a list of exactly limit=%d rows has no next page, and one more row adds a next page',
  async (limit) => {
    const ours = await createTestOrganization(server);
    const { client } = ours;
    const rows = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `Program ${i}` }));
    await insertPrograms(server, ours, rows(limit));
    const only = await client.get(`${LIST}?limit=${limit}`);
    expect(only.body.page.next_cursor).toBeNull();
    expect(only.headers['link']).toBeUndefined();
    await insertPrograms(server, ours, rows(1));
    const next = nextOf(await client.get(`${LIST}?limit=${limit}`));
    expect((await client.get(next ?? '')).body.data).toHaveLength(1);
  },
);

test('an organization without rows gets one empty list page', async () => {
  const { client } = await createTestOrganization(server);
  expect((await client.get(LIST)).body).toEqual({ data: [], page: { limit: 25, next_cursor: null } });
});

test('the link to the next page keeps limit, sort and every filter', async () => {
  const ours = await createTestOrganization(server);
  const updatedAt = new Date('2026-05-01T00:00:00.000Z');
  await insertPrograms(server, ours, [
    ...Array.from({ length: 5 }, (_, i) => ({ name: `R&D = +50% "<é>" ${i}`, updatedAt })),
    { name: 'R&D = +50% "<é>" of long ago', updatedAt: new Date('2020-01-01T00:00:00.000Z') },
    { name: 'Another', updatedAt },
  ]);
  const search = encodeURIComponent('r&d = +50% "<É>"');
  const url = `${LIST}?limit=2&sort=-name&search=${search}&updated_since=2026-05-01T02:00:00%2B02:00`;
  const pages = await walk(ours.client, url);
  expect(pages.map(({ body }) => body.data.length)).toEqual([2, 2, 1]);
  const sent = new URL(url, 'http://x').searchParams;
  for (const { headers, body } of pages.slice(0, -1)) {
    const [, next = ''] = /^<([^>]*)>; rel="next"$/.exec(headers['link'] ?? '') ?? [];
    const kept = Object.fromEntries(new URL(next, 'http://x').searchParams);
    expect(kept).toEqual({ ...Object.fromEntries(sent), cursor: body.page.next_cursor });
  }
});

test('the limit may change from page to page', async () => {
  const first = await client.get(`${LIST}?limit=3&sort=-name`);
  const rest = await client.get(`${LIST}?limit=100&sort=-name&cursor=${first.body.page.next_cursor}`);
  const whole = await walk(client, `${LIST}?limit=100&sort=-name`);
  expect([...idsOf([first]), ...idsOf([rest])]).toEqual(idsOf(whole));
});

test('a list sorted by name pages through names of 200 emoji', async () => {
  const ours = await createTestOrganization(server);
  await insertPrograms(
    server,
    ours,
    Array.from({ length: 4 }, () => ({ name: '\u{1F600}'.repeat(200) })),
  );
  const pages = await walk(
    ours.client,
    `${LIST}?limit=1&sort=name&search=${encodeURIComponent('\u{1F600}'.repeat(100))}`,
  );
  expect(new Set(idsOf(pages)).size).toBe(4);
});

const ours = await createTestOrganization(server);
await insertPrograms(server, ours, [{ name: 'One' }, { name: 'Two' }, { name: 'Three' }]);
const cursor = (await ours.client.get('/api/parent_programs?limit=1&sort=name')).body.page.next_cursor;

const NOT_OURS =
  'is not a cursor of this list. Send next_cursor unchanged with the same sort and filters, or start again without a cursor.';
const UNREADABLE = 'is not valid. Send the next_cursor of the previous page unchanged.';

async function messagesFor(query: string, of = ours.client): Promise<unknown> {
  const response = await of.get(`/api/parent_programs?${query}`);
  expect(response.status).toBe(422);
  expect(Object.keys(response.body.errors)).toEqual(['cursor']);
  return response.body.errors.cursor;
}

test('a cursor works with the parameters of the list that returned it', async () => {
  const response = await ours.client.get(`/api/parent_programs?sort=name&cursor=${cursor}`);
  expect(response.body.data).toMatchObject([{ name: 'Three' }, { name: 'Two' }]);
});

// The attack: a forged cursor that starts at a row or a text of the attacker's choice.
test('422 for a cursor with one character changed', async () => {
  const forged = `${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}`;
  expect(await messagesFor(`sort=name&cursor=${forged}`)).toEqual([NOT_OURS]);
});

test.each(['=', '==', '+', '%2F', '.', '%C3%A9'])('422 for a cursor followed by %s', async (tail) => {
  expect(await messagesFor(`sort=name&cursor=${cursor}${tail}`)).toEqual([UNREADABLE]);
});

test('422 for an empty cursor, and for one of 1201 characters', async () => {
  expect(await messagesFor('cursor=')).toEqual(['must not be blank.']);
  expect(await messagesFor(`cursor=${'A'.repeat(1201)}`)).toEqual([
    'must be at most 1200 characters long; it has 1201.',
  ]);
  expect(await messagesFor(`cursor=${'A'.repeat(1200)}`)).toEqual([NOT_OURS]);
});

test.each([
  ['sort=-name', 'with sort=name'],
  ['sort=created_at', 'with sort=name'],
  ['limit=1', 'with sort=name'],
  ['sort=name&search=One', 'without search'],
  ['sort=name&external_id=x', 'without external_id'],
  ['sort=name&updated_since=2020-01-01T00:00:00Z', 'without updated_since'],
])('422 for a cursor used with %s says to send it %s', async (query, remedy) => {
  const message = `belongs to another list. Send it ${remedy}, or start again without a cursor.`;
  expect(await messagesFor(`${query}&cursor=${cursor}`)).toEqual([message]);
});

test('422 for a cursor whose list differs in more than one parameter', async () => {
  expect(await messagesFor(`search=One&cursor=${cursor}`)).toEqual([NOT_OURS]);
});

// The attack: moving a text from one filter to another, if the cursor's signature covers the filters without a delimiter.
test('422 for a cursor whose search text is sent as external_id', async () => {
  const mine = await createTestOrganization(server);
  await insertPrograms(server, mine, [{ name: 'same text' }, { name: 'same text' }]);
  const { body } = await mine.client.get('/api/parent_programs?limit=1&search=same%20text');
  const query = `external_id=same%20text&cursor=${body.page.next_cursor}`;
  expect(await messagesFor(query, mine.client)).toEqual([NOT_OURS]);
});

test('a cursor still works after the row it points at is deleted', async () => {
  const mine = await createTestOrganization(server);
  await insertPrograms(server, mine, [{ name: 'a' }, { name: 'b' }]);
  const first = await mine.client.get('/api/parent_programs?limit=1&sort=name');
  await mine.client.delete(`/api/parent_programs/${first.body.data[0].id}`);
  const next = await mine.client.get(`/api/parent_programs?sort=name&cursor=${first.body.page.next_cursor}`);
  expect(next.body.data).toMatchObject([{ name: 'b' }]);
});

test('a cursor works with another key of the same organization', async () => {
  const { key } = await issueKeyByEmail(server.db, {
    email: ours.email,
    name: 'Second',
    permissions: ['parent_programs:read'],
    lifeDays: 1,
    environment: 'live',
  });
  const response = await ours.client.get(`/api/parent_programs?sort=name&cursor=${cursor}`, { key });
  expect(response.status).toBe(200);
});

const STANDING = 24;

test.each(SORTS)(
  'paging through sort=%s while rows are added and deleted returns each remaining row exactly once',
  async (sort) => {
    const ours = await createTestOrganization(server);
    const row = (i: number) => ({ name: `Program ${i % 8}`, createdAt: instant(i), updatedAt: instant(i) });
    const standing: string[] = await insertPrograms(
      server,
      ours,
      Array.from({ length: STANDING }, (_, i) => row(i)),
    );
    const passing: string[] = await insertPrograms(
      server,
      ours,
      Array.from({ length: STANDING }, (_, i) => row(i)),
    );

    const seen: string[] = [];
    let next: string | undefined = `/api/parent_programs?limit=6&sort=${sort}`;
    for (let i = 0; next !== undefined; i += 1) {
      // Adds one row before, one among and one after the rows read so far. Deletes other rows, including the row of the cursor.
      const writes = [0, i * 6, STANDING].map((at) => ({ ...row(at), name: `Program ${at % 8}` }));
      const [page] = await Promise.all([
        ours.client.get(next),
        insertPrograms(server, ours, i < STANDING ? writes : []),
        ...passing.splice(0, 3).map((id) => ours.client.delete(`/api/parent_programs/${id}`)),
      ]);
      seen.push(...idsOf([page]));
      next = nextOf(page);
      const last = seen.at(-1) ?? '';
      if (!standing.includes(last)) await ours.client.delete(`/api/parent_programs/${last}`);
    }

    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => standing.includes(id)).sort()).toEqual(standing.toSorted());
  },
);

function instant(i: number): Date {
  return new Date(Date.UTC(2026, 0, 1, 0, 0, 0, Math.floor(i / 6)));
}

test('paging through the newest rows while the API creates rows returns no row twice', async () => {
  const { client } = await createTestOrganization(server);
  const create = (count: number) =>
    Promise.all(Array.from({ length: count }, () => client.post('/api/parent_programs', { name: 'Same' })));
  const first = (await create(12)).map(({ body }) => body.id);
  const seen: string[] = [];
  for (let next: string | undefined = '/api/parent_programs?limit=4&sort=-created_at'; next !== undefined; ) {
    const [page] = await Promise.all([client.get(next), create(3)]);
    seen.push(...idsOf([page]));
    next = nextOf(page);
  }
  expect(new Set(seen).size).toBe(seen.length);
  expect(first.filter((id) => !seen.includes(id))).toEqual([]);
});
