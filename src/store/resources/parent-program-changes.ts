import { ORGANIZATION_VERSION } from './table.ts';

// List pages of the parent programs that have changed since an instant, in order of creation. Changed rows are found period by
// period of their creation, until there are enough for a list page. A scan of all rows in order of creation could read a million
// to find the few that changed; a sort of all changed rows could sort nearly as many.

/** A period is 90 days, in hours because a day can have 23 hours in the time zone of a session. */
const PERIOD = `interval '2160 hours'`;

/** SQL for the start of an instant's period, as in the index parent_programs_changes_idx. */
const periodOf = (instant: string) => `date_bin(${PERIOD}, ${instant}, timestamptz '2000-01-01T00:00:00Z')`;

/**
 * A period with more changed rows is read in order of creation, row by row, because many of its rows have changed. With fewer,
 * sorting them is faster.
 */
const MOST_SORTED = 2000;

/**
 * PostgreSQL does not know a value in a subquery when it plans. Knowing the instant, PostgreSQL would expect few rows, find a new
 * plan cheaper than the prepared one, and plan at every execution.
 */
const SINCE = '(select $3::timestamptz)';

type Kind = {
  readonly columns: string;
  readonly maxRows: number;
  readonly descending: boolean;
  readonly isFirst: boolean;
};

/**
 * SQL for a list page. Its parameters are the organization, the limit (at most `maxRows`), the instant, and for later pages the
 * `created_at` and the id of the row before.
 */
export function changesSql({ columns, maxRows, descending, isFirst }: Kind): string {
  const direction = descending ? 'desc' : 'asc';
  const order = `created_at ${direction}, id ${direction}`;
  const after = isFirst ? '' : `and (created_at, id) ${descending ? '<' : '>'} ($4::timestamptz, $5::uuid)`;
  const start = isFirst ? creationAtEnd(direction) : '$4::timestamptz';
  const end = creationAtEnd(descending ? 'asc' : 'desc');
  const changed = `organization_id = $1 and ${periodOf('created_at')} = start and updated_at >= ${SINCE}`;
  // "offset 0" and the innermost limit keep PostgreSQL from other plans: it assumes that any third of the rows has changed.
  return `
    select row_to_json(program) as json, ${ORGANIZATION_VERSION} as version from (
      select period, created_at, id from (
        select start, period,
               exists (select from parent_programs where ${changed} offset ${MOST_SORTED}) as has_many
        from generate_series(${periodOf(start)}, ${periodOf(end)}, ${descending ? '-' : ''}${PERIOD})
          with ordinality as series (start, period)
        order by period offset 0
      ) periods
      cross join lateral (
        (select created_at, id from (
           select created_at, id from parent_programs where ${changed} order by updated_at limit ${MOST_SORTED}
         ) few
         where not has_many ${after} order by ${order} limit ${maxRows})
        union all
        (select created_at, id from (
           select created_at, id, updated_at from parent_programs
           where organization_id = $1 and created_at >= start and created_at < start + ${PERIOD} ${after}
           order by ${order} offset 0
         ) listed
         where has_many and updated_at >= ${SINCE} order by ${order} limit ${maxRows})
      ) found
      order by period, ${order} limit ${maxRows}
    ) changes
    cross join lateral (
      select ${columns} from parent_programs where organization_id = $1 and id = changes.id offset 0
    ) program
    order by period, changes.created_at ${direction}, changes.id ${direction} limit $2`;
}

/** SQL for the creation of the oldest or the newest row. */
function creationAtEnd(direction: 'asc' | 'desc'): string {
  const order = `order by created_at ${direction}, id ${direction}`;
  return `(select created_at from parent_programs where organization_id = $1 ${order} limit 1)`;
}
