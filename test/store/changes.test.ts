import { type ListQuery, listParentPrograms } from '../../src/store/resources/parent-program-list.ts';
import { openWithAutoExplain, type Plan } from '../support/postgres/plans.ts';
import { writeRows } from '../support/postgres/postgres.ts';
import { connectTo, createTenant, type Tenant, useDatabase } from '../support/postgres/store.ts';

// A client that synchronizes a copy lists what has changed since a time. The cost of a page must not depend on how many rows
// there are, or on how many of them have changed.

const ROWS = 8000;
const PAGE: ListQuery = { sortField: 'created_at', descending: false, limit: 26, after: null };
const EVER = new Date('2000-01-01T00:00:00Z');

const database = await useDatabase();
/** An organization whose rows were created over three years. One row in four was changed later. */
const spread = await createTenant(database.db);
/** An organization whose rows were created in two hours of 2024, and changed in random order in the three years since then. */
const imported = await createTenant(database.db);
await fill(
  spread,
  `timestamptz '2023-05-01' + i * interval '200 minutes'`,
  `case when fraction < 0.25 then created_at + 4 * fraction * (timestamptz '2026-05-01' - created_at) else created_at end`,
);
await fill(
  imported,
  `timestamptz '2024-02-01' + i / 3 * interval '1 second'`,
  `created_at + fraction * (timestamptz '2026-05-01' - created_at)`,
);
await database.db.pool.query('vacuum analyze parent_programs');
const planned = await openWithAutoExplain(database.url);
afterAll(() => planned.db.close());

function fill({ scope }: Tenant, createdAt: string, updatedAt: string) {
  return writeRows(
    database.db,
    `insert into parent_programs (organization_id, id, name, created_at, updated_at)
     select $1, gen_random_uuid(), 'Programme', created_at, ${updatedAt}
     from (select (${createdAt})::timestamptz(3) as created_at, (hashint4(i) + 2147483648) / 4294967296.0 as fraction
           from generate_series(1, ${ROWS}) i) created`,
    [scope.organizationId],
  );
}

async function walk({ scope }: Tenant, query: Partial<ListQuery>): Promise<string[]> {
  const ids: string[] = [];
  let after: Buffer | null = null;
  do {
    const { rows } = await listParentPrograms(database.db, scope, { ...PAGE, limit: 101, ...query, after });
    ids.push(...rows.map(({ json }) => JSON.parse(json).id));
    after = rows.at(-1)?.position ?? null;
  } while (after !== null);
  return ids;
}

async function idsChanged({ scope }: Tenant, { sortField, descending, updatedSince }: ListQuery): Promise<string[]> {
  const direction = descending ? 'desc' : 'asc';
  const { rows } = await database.db.pool.query<{ id: string }>(
    `select id from parent_programs where organization_id = $1 and updated_at >= $2
     order by ${sortField} ${direction}, id ${direction}`,
    [scope.organizationId, updatedSince],
  );
  return rows.map(({ id }) => id);
}

/** Returns the time since which this number of rows has changed. */
async function instantOf({ scope }: Tenant, changedRows: number): Promise<Date> {
  const text =
    'select updated_at as at from parent_programs where organization_id = $1 order by updated_at desc offset $2';
  const { rows } = await database.db.pool.query<{ at: Date }>(`${text} limit 1`, [
    scope.organizationId,
    changedRows - 1,
  ]);
  return rows[0]?.at ?? EVER;
}

const CHANGED_ROWS = [1, 20, 600, 3000, ROWS];

test.each(
  (['created_at', 'updated_at', 'name'] as const).flatMap((sortField) =>
    [false, true].map((descending) => ({ sortField, descending })),
  ),
)('the list pages of all changes hold every changed row in order: %j', async (order) => {
  const walked = order.sortField === 'name' ? [600] : order.descending ? [1, 3000] : [20, 600, ROWS];
  for (const tenant of [spread, imported]) {
    for (const changedRows of walked) {
      const query = { ...PAGE, ...order, updatedSince: await instantOf(tenant, changedRows) };
      const expected = await idsChanged(tenant, query);
      expect(expected.length).toBeGreaterThanOrEqual(changedRows);
      expect(await walk(tenant, query)).toEqual(expected);
    }
  }
});

/**
 * Returns the plan of the last of eight executions, because PostgreSQL may switch a prepared statement to a generic plan after
 * five executions.
 */
async function planOfPage({ scope }: Tenant, query: Partial<ListQuery>): Promise<Plan> {
  const plans = await planned.explainAll(async () => {
    for (let i = 0; i < 8; i += 1) await listParentPrograms(planned.db, scope, { ...PAGE, ...query });
  });
  expect(plans).toHaveLength(8);
  for (const { text } of plans) expect(text).not.toContain('Seq Scan');
  const [last] = plans.slice(-1);
  if (last === undefined) throw new Error('PostgreSQL has sent no plan.');
  return last;
}

/** Returns the largest number of rows that any part of the plan has returned or removed. */
function mostRowsIn({ text }: Plan): number {
  const actual = [...text.matchAll(/\(actual rows=([\d.]+) loops=(\d+)\)/g)];
  const removed = [...text.matchAll(/Rows Removed by [^:]+: (\d+)/g)];
  return Math.max(
    ...actual.map(([, rows, loops]) => Number(rows) * Number(loops)),
    ...removed.map(([, rows]) => Number(rows)),
  );
}

test.each(CHANGED_ROWS)(
  'in order of creation, a list page of %d changed rows among 8,000 reads few of the others',
  async (changedRows) => {
    for (const descending of [false, true]) {
      for (const tenant of [spread, imported]) {
        const plan = await planOfPage(tenant, { descending, updatedSince: await instantOf(tenant, changedRows) });
        expect(plan.text).toContain('parent_programs_changes_idx');
        expect(mostRowsIn(plan)).toBeLessThanOrEqual(2001);
      }
    }
  },
);

test('in order of updated_at, a list page of changes reads nothing but its rows', async () => {
  for (const descending of [false, true]) {
    for (const changedRows of CHANGED_ROWS) {
      const updatedSince = await instantOf(spread, changedRows);
      const plan = await planOfPage(spread, { sortField: 'updated_at', descending, updatedSince });
      expect(plan.text).toContain('parent_programs_organization_id_updated_at_id_idx');
      expect(plan.text).not.toContain('Sort');
      expect(mostRowsIn(plan)).toBeLessThanOrEqual(26);
    }
  }
});

test.each(
  (['created_at', 'updated_at'] as const).flatMap((sortField) =>
    [false, true].map((descending) => ({ sortField, descending })),
  ),
)('a list page of changes is not planned anew each time, whether many rows have changed or few: %j', async (order) => {
  for (const changedRows of [3000, 20]) {
    await using db = connectTo(database.url, 1);
    const query = { ...PAGE, ...order, updatedSince: await instantOf(spread, changedRows) };
    // PostgreSQL plans a prepared statement five times before it may choose a generic plan.
    for (let i = 0; i < 8; i += 1) await listParentPrograms(db, spread.scope, query);
    const plans = await db.pool.query('select custom_plans::int, generic_plans::int from pg_prepared_statements');
    expect(plans.rows).toEqual([{ custom_plans: 5, generic_plans: 3 }]);
  }
});
