// Changed rows are found period by period of their creation, until there are enough for a list page. A scan of all rows in order
// of creation could read a million to find the few that changed; a sort of all changed rows could sort nearly as many.

/** A period is 90 days, in hours because a day can have 23 hours in the time zone of a session. */
const PERIOD = `interval '2160 hours'`;

/** SQL for the start of an instant's period, as in the index parent_programs_changes_idx. */
const periodOf = (instant: string) => `date_bin(${PERIOD}, ${instant}, timestamptz '2000-01-01T00:00:00Z')`;

/**
 * A period with more changed rows is read in order of creation, row by row, because one in every few of its rows has changed.
 * With fewer, sorting them is faster.
 */
const MOST_SORTED = 2000;

export type ChangesSql = {
  readonly descending: boolean;
  /** The position after which the rows start. Null: at the first row. */
  readonly after: { readonly createdAt: string; readonly id: string } | null;
  readonly since: string;
  /** Maximum number of rows. */
  readonly limit: number;
};

/**
 * SQL that selects `created_at` and `id` of the first rows of the organization $1 that changed at or after `since`. Their order
 * is that of `period`, `created_at` and `id`, the last two in the direction of the list. The values are SQL, too.
 */
export function selectChanges({ descending, after, since, limit }: ChangesSql): string {
  const direction = descending ? 'desc' : 'asc';
  const order = `order by created_at ${direction}, id ${direction}`;
  const isAfter =
    after === null ? 'true' : `(created_at, id) ${descending ? '<' : '>'} (${after.createdAt}, ${after.id})`;
  const [first, last] = descending ? [newest, oldest] : [oldest, newest];
  const changed = `organization_id = $1 and ${periodOf('created_at')} = start and updated_at >= ${since}`;
  // "offset 0" and the inner limit keep PostgreSQL from other plans: it assumes that any third of the rows has changed.
  return `
    select period, created_at, id
    from generate_series(${periodOf(after?.createdAt ?? first)}, ${periodOf(last)}, ${descending ? '-' : ''}${PERIOD})
      with ordinality as periods (start, period)
    cross join lateral (
      select exists (select from parent_programs where ${changed} offset ${MOST_SORTED}) as are_many offset 0
    ) changes
    cross join lateral (
      (select created_at, id
       from (select created_at, id from parent_programs where ${changed} order by updated_at limit ${MOST_SORTED}) few
       where not are_many and ${isAfter} ${order} limit ${limit})
      union all
      (select created_at, id
       from (select created_at, id, updated_at from parent_programs
             where organization_id = $1 and created_at >= start and created_at < start + ${PERIOD} and ${isAfter}
             ${order} offset 0) listed
       where are_many and updated_at >= ${since} ${order} limit ${limit})
    ) found
    order by period, created_at ${direction}, id ${direction} limit ${limit}`;
}

const creationOfFirst = (direction: 'asc' | 'desc') =>
  `(select created_at from parent_programs where organization_id = $1 order by created_at ${direction}, id ${direction} limit 1)`;
const oldest = creationOfFirst('asc');
const newest = creationOfFirst('desc');
