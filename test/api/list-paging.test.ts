import { idsOf, insertPrograms, nextOf, walk } from '../support/data/programs.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

type Shown = { id: string; name: string; created_at: string; updated_at: string };

const server = await useServer();

const LIST = '/api/parent_programs';
const SORTS = ['created_at', '-created_at', 'updated_at', '-updated_at', 'name', '-name'];

/** 67 rows; many share a name or an instant. */
async function organizationOf67() {
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

/** By code point, as the contract says; UTF-16 would put 😀 before U+FFFD. */
function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

test.each(SORTS)('the list pages of sort=%s together hold every row in order', async (sort) => {
  const { client } = await organizationOf67();
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
  const { client } = await organizationOf67();
  const page = await client.get(LIST);
  expect(page.body.page.limit).toBe(25);
  expect(page.text).toBe((await client.get(`${LIST}?limit=25&sort=created_at`)).text);
});

test('limit accepts 1 and 100', async () => {
  const { client } = await organizationOf67();
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
  const { client } = await organizationOf67();
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

test('no list page contains rows of another organization', async () => {
  const [ours, theirs] = [await organizationOf67(), await organizationOf67()];
  const shown = new Set(idsOf(await walk(ours.client, `${LIST}?limit=10&sort=name`)));
  const foreign = idsOf(await walk(theirs.client, `${LIST}?limit=10&sort=name`));
  expect(shown.size).toBe(67);
  expect(foreign.filter((id) => shown.has(id))).toEqual([]);
});
