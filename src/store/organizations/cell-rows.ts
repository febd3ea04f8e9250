import type { Database } from '../sql/database.ts';

const TABLES = ['organizations', 'parent_programs', 'events'] as const;
/** More rows are not counted: PostgreSQL's own estimate, from the last ANALYZE, costs nothing. */
const MAX_COUNTED = 10_000;

export type CellRows = Readonly<Record<(typeof TABLES)[number], number>>;

const COUNT = {
  name: 'count_rows_of_cell',
  text: `select ${TABLES.map(
    (table) => `
      (select case when rows > ${MAX_COUNTED} then greatest(rows, reltuples) else rows end
       from (select count(*) as rows from (select from ${table} limit ${MAX_COUNTED + 1}) first) counted,
            (select reltuples from pg_class where oid = '${table}'::regclass) estimated) as ${table}`,
  ).join(',')}`,
};

/** The rows of all organizations: exact up to 10,000 of a table, and estimated beyond. */
export async function countRowsOfCell({ pool }: Database): Promise<CellRows> {
  const { rows } = await pool.query<CellRows>(COUNT);
  const [counted] = rows;
  if (counted === undefined) throw new Error('The rows were not counted.');
  return counted;
}
