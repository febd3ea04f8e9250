import { NIL } from 'uuid';
import { FEED_START } from '../../src/domain/resources/event-position.ts';
import { deleteExpiredEvents, listEvents } from '../../src/store/resources/events.ts';
import { positionOf, type SortField } from '../../src/store/resources/list.ts';
import { type ListQuery, listParentPrograms } from '../../src/store/resources/parent-program-list.ts';
import { findRow } from '../../src/store/resources/rows.ts';
import { PARENT_PROGRAMS } from '../../src/store/resources/tables/parent-programs.ts';
import { listKeysByHash } from '../../src/store/unscoped/keys.ts';
import { listUsersByEmail } from '../../src/store/unscoped/operator.ts';
import { operations } from '../support/contract/contract.ts';
import { openWithAutoExplain, type Plan } from '../support/postgres/plans.ts';
import { writeRows } from '../support/postgres/postgres.ts';
import { createKeyRow, createTenant, useDatabase } from '../support/postgres/store.ts';

// An SQL query that scans a whole table is fast in every other test, and slow with a million rows.

const ROWS = 20_000;
const PAGE: ListQuery = { sortField: 'created_at', descending: false, limit: 101, after: null };

const database = await useDatabase();
const ours = await createTenant(database.db);
const theirs = await createTenant(database.db);
for (const { scope } of [ours, theirs]) await fill(scope.organizationId);
await database.db.pool.query(
  `insert into organizations (id, name, cursor_key)
   select gen_random_uuid(), 'Other', cursor_key
   from generate_series(1, 5000), (select cursor_key from organizations limit 1) encrypted`,
);
await database.db.pool.query('vacuum analyze organizations, parent_programs, events');
const planned = await openWithAutoExplain(database.url);
afterAll(() => planned.db.close());

function fill(organizationId: string) {
  return writeRows(
    database.db,
    `insert into parent_programs (organization_id, id, name, external_id, created_at, updated_at)
     select $1, gen_random_uuid(), 'Programme ' || md5(i::text) || case when i % 250 = 0 then ' Seldom' else '' end, 'EXT-' || i,
            timestamptz '2026-01-01' + i * interval '1 minute', timestamptz '2026-01-01' + i * interval '1 minute'
     from generate_series(1, ${ROWS}) i`,
    [organizationId],
  );
}

/**
 * Returns the plan of the last of eight executions, because PostgreSQL may switch a prepared statement to a generic plan after
 * five executions.
 */
async function planOfPage(query: Partial<ListQuery>): Promise<Plan | undefined> {
  const plans = await planned.explainAll(async () => {
    for (let i = 0; i < 8; i += 1) await listParentPrograms(planned.db, ours.scope, { ...PAGE, ...query });
  });
  expect(plans.length).toBeGreaterThanOrEqual(8);
  for (const { text } of plans) expect(text).not.toContain('Seq Scan');
  return plans.at(-1);
}

const DEEP: Record<SortField, string> = {
  created_at: '2026-01-08T00:00:00Z',
  updated_at: '2026-01-08T00:00:00Z',
  name: 'Programme 8',
};

test.each([
  ...(['created_at', 'updated_at', 'name'] as const).flatMap((sortField) =>
    [false, true].map((descending) => ({ sortField, descending })),
  ),
])(
  'a list page by $sortField, descending $descending, costs the same at the start and deep in the list',
  async (order) => {
    const first = await planOfPage(order);
    const place = { value: DEEP[order.sortField], id: ours.userId };
    const deep = await planOfPage({ ...order, after: positionOf(place, order.sortField) });
    for (const plan of [first, deep]) {
      expect(plan?.text).toContain(`parent_programs_organization_id_${order.sortField}_id_idx`);
      expect(plan?.text).not.toContain('Sort');
      // At worst, each of the 101 rows is in a block of its own. The other blocks are for the descent of the index.
      expect(plan?.blocks).toBeLessThan(120);
    }
  },
);

test('a search uses the trigram index', async () => {
  const plan = await planOfPage({ search: 'C4CA4238A0' });
  expect(plan?.text).toContain('parent_programs_search_form_idx');
  expect(plan?.blocks).toBeLessThan(500);
});

// The bug: PostgreSQL expected 1 in 10,000 rows to match, whatever the search. With 10,000,000 rows, it read and sorted 35,000
// rows.
test('PostgreSQL expects about as many rows of a search as match', async () => {
  const plan = await planOfPage({ search: 'seldom' });
  const [, expected] = / on parent_programs .*?rows=(\d+) /.exec(plan?.text ?? '') ?? [];
  expect(Number(expected)).toBeGreaterThan(ROWS / 250 / 4);
  expect(Number(expected)).toBeLessThan((ROWS / 250) * 4);
});

test('a search that matches half of all rows reads a list page in index order', async () => {
  const plan = await planOfPage({ search: 'programme' });
  expect(plan?.text).toContain('parent_programs_organization_id_created_at_id_idx');
});

test('updated_since uses the index of updated_at, or in order of creation that of changes', async () => {
  const updatedSince = new Date('2026-01-14T20:00:00Z');
  for (const sortField of ['created_at', 'updated_at', 'name'] as const) {
    const plan = await planOfPage({ sortField, updatedSince });
    const isByCreation = sortField === 'created_at';
    expect(plan?.text).toContain(`parent_programs_${isByCreation ? 'changes' : 'organization_id_updated_at_id'}_idx`);
    // In order of creation, each of the 80 rows is read by its primary key, which takes three more blocks.
    expect(plan?.blocks).toBeLessThan(isByCreation ? 120 + 80 * 3 : 120);
  }
});

test('external_id uses its unique index', async () => {
  const plan = await planOfPage({ equals: { external_id: 'EXT-19999' } });
  expect(plan?.text).toContain('parent_programs_organization_id_external_id_key');
  expect(plan?.blocks).toBeLessThan(10);
});

/** The parameters of a list that do not filter by equality. */
const OTHERS = new Set(['limit', 'cursor', 'sort', 'search', 'updated_since']);

// The risk: without an index, a filter reads every row of the organization for one page.
test('each filter of a list for equal values has an index that begins with the organization and its column', async () => {
  const { rows } = await database.db.pool.query<{ columns: string }>(`
    select i.indrelid::regclass || '.' || string_agg(a.attname, ', ' order by a.attnum = i.indkey[1]) as columns
    from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum in (i.indkey[0], i.indkey[1])
    where i.indpred is null group by i.indexrelid, i.indrelid`);
  const indexed = rows.map(({ columns }) => columns);
  const filters = operations.flatMap(({ method, path, parameters = [] }) => {
    const names = parameters.filter((each) => each.in === 'query').map(({ name }) => name);
    const table = path.replace('/api/', '');
    return method === 'get' && names.includes('sort')
      ? names.filter((name) => !OTHERS.has(name)).map((name) => `${table}.organization_id, ${name}`)
      : [];
  });
  expect(filters).toContain('parent_programs.organization_id, external_id');
  expect(filters.filter((each) => !indexed.includes(each))).toEqual([]);
});

test('a page of the feed is one index scan, which costs the same at the start and deep in the feed', async () => {
  const { rows } = await database.db.pool.query<{ id: string }>(
    'select id from events where organization_id = $1 order by id offset $2 limit 1',
    [ours.scope.organizationId, ROWS - 200],
  );
  for (const types of [undefined, ['parent_program.created'], ['parent_program.deleted', 'parent_program.updated']]) {
    for (const after of [FEED_START, rows[0]?.id ?? '']) {
      const plans = await planned.explainAll(async () => {
        for (let i = 0; i < 8; i += 1) await listEvents(planned.db, ours.scope, { after, types, limit: 101 });
      });
      const index = types === undefined ? 'events_pkey' : 'events_organization_id_type_id_idx';
      for (const { text, blocks } of plans) {
        expect(text).toContain(index);
        expect(text).not.toMatch(/Seq Scan|Bitmap/);
        expect(blocks).toBeLessThan(120);
      }
    }
  }
});

// The bug: every chunk began again with the first organization, so a run with many chunks read each organization many times.
test('the deletion of expired events goes through the organizations once, however many chunks it takes', async () => {
  const { rows } = await database.db.pool.query<{ count: number }>(
    `with written as (
       insert into events (organization_id, id, type, "timestamp", data)
       select id, event_id(old, 1), 'parent_program.created', event_timestamp(old), '{}'
       from organizations, cast(extract(epoch from timestamptz '2026-01-01') * 1000000 as bigint) old
       where name = 'Other' returning 1)
     select count(*)::int as count from written`,
  );
  const count = rows[0]?.count ?? 0;
  expect(count).toBe(5000);
  let deleted = 0;
  const plans = await planned.explainAll(async () => {
    deleted = await deleteExpiredEvents(planned.db, { now: new Date('2026-05-01') }, 30);
  });
  expect(deleted).toBe(count);
  const looks = plans.flatMap(({ text }) => [...text.matchAll(/using events_pkey on events.*loops=(\d+)/g)]);
  // One look-up for each organization to find its events, and one to delete each event.
  expect(looks.reduce((sum, [, loops]) => sum + Number(loops), 0)).toBeLessThan(2 * count + 100);
});

test.each([
  { key: { id: NIL }, index: 'parent_programs_pkey' },
  { key: { ownId: 'sis-1' }, index: 'parent_programs_organization_id_external_id_key' },
])('one parent program is found by $index', async ({ key, index }) => {
  const [plan] = await planned.explainAll(() => findRow(planned.db, ours.scope, PARENT_PROGRAMS, key));
  expect(plan?.text).toContain(index);
});

test('a key is found by its hash and a user by e-mail, among many, in indexed statements', async () => {
  const { hash } = await createKeyRow(database.db, ours);
  await database.db.pool.query(
    `insert into users (organization_id, id, email, name, role)
     select $1, gen_random_uuid(), 'many-' || i || '@example.test', 'Test', 'viewer' from generate_series(1, 5000) i`,
    [ours.scope.organizationId],
  );
  await database.db.pool.query(
    `insert into api_keys (organization_id, id, user_id, name, name_key, key_hash, key_prefix, permissions)
     select organization_id, gen_random_uuid(), id, 'Test', sha256(id::text::bytea), sha256(id::text::bytea), 'charter_live_0000', '{}' from users`,
  );
  await database.db.pool.query('analyze');
  const find = () => listKeysByHash(planned.db, [hash.toString('hex')]);
  // The first look-up of a connection also loads PostgreSQL's type catalog.
  await find();
  const [byHash, more] = await planned.explainAll(find);
  expect(byHash?.text).toContain('api_keys_key_hash_key');
  expect(byHash?.text).toContain('users_pkey');
  expect(byHash?.blocks).toBeLessThan(15);
  expect(more).toBeUndefined();
  const [byEmail] = await planned.explainAll(() => listUsersByEmail(planned.db, ours.email));
  expect(byEmail?.text).toContain('users_accepted_email_key');
});
