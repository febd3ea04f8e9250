import { countRowsOfCell } from '../../src/store/organizations/cells.ts';
import { createTenant, useDatabase } from '../support/postgres/store.ts';

const { db } = await useDatabase();

test('the rows of a cell are exact up to 10,000 of a table, and beyond as many as PostgreSQL estimates', async () => {
  const { organizationId } = (await createTenant(db)).scope;
  const insert = (rows: number) =>
    db.pool.query(
      `insert into parent_programs (organization_id, id, name) select $1, gen_random_uuid(), 'Many' from generate_series(1, $2)`,
      [organizationId, rows],
    );
  expect(await countRowsOfCell(db)).toEqual({ organizations: 1, parent_programs: 0, events: 0 });
  await db.pool.query('alter table parent_programs set (autovacuum_enabled = false)');
  await insert(10_000);
  expect(await countRowsOfCell(db)).toMatchObject({ parent_programs: 10_000, events: 10_000 });
  await insert(2000);
  expect(await countRowsOfCell(db)).toMatchObject({ parent_programs: 10_001 });
  await db.pool.query('analyze parent_programs');
  expect(await countRowsOfCell(db)).toMatchObject({ parent_programs: 12_000 });
});
