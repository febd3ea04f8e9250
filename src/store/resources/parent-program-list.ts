import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Database } from '../sql/database.ts';
import { likeInSearchForm, partPattern } from '../sql/lists.ts';
import { bytesBefore } from '../sql/values.ts';
import {
  type Bind,
  type Equals,
  equalsSql,
  ID_BYTES,
  type ListPage,
  type ListStatement,
  listRows,
  MAX_ROWS,
  type PageQuery,
  pageStatement,
  readPage,
} from './list.ts';
import { ORGANIZATION_VERSION } from './table.ts';
import { PARENT_PROGRAMS, type ParentProgram } from './tables/parent-programs.ts';

const LAST_ID = Buffer.alloc(ID_BYTES, 0xff);

export type ListQuery = PageQuery & {
  /** A part of the name, at least 3 characters long, ignoring the letter case. */
  readonly search?: string | undefined;
  readonly updatedSince?: Date | undefined;
  readonly equals?: Equals<ParentProgram>;
};

/** Reads a page of the parent programs. Without `search` and `updatedSince`, the page is read like that of any other table. */
export async function listParentPrograms(db: Database, scope: OrganizationScope, query: ListQuery): Promise<ListPage> {
  const { search, updatedSince, ...page } = query;
  if (search === undefined && updatedSince === undefined) return listRows(db, scope, PARENT_PROGRAMS, page);
  const statement = isOfChanges(query) ? changesPage(scope, query) : await filteredPage(db, scope, query);
  return readPage(db, statement, page);
}

async function filteredPage(db: Database, scope: OrganizationScope, query: ListQuery): Promise<ListStatement> {
  const { sortField, descending, limit, updatedSince } = query;
  const areFew = await areChangesFew(db, scope, query);
  const page = { sortField, descending, limit, after: startOf(query) };
  return pageStatement(scope, PARENT_PROGRAMS, page, (bind) => {
    const conditions = filtersOf(query, bind);
    // A filtered page is planned each time, because the best index depends on the values of the filters.
    const isPrepared = conditions.length === 0 && (updatedSince === undefined || sortField === 'updated_at');
    const isBounded = updatedSince !== undefined && (sortField !== 'updated_at' || descending);
    if (isBounded) {
      const since = `${bind(updatedSince.toISOString())}::timestamptz`;
      // The subquery hides the value from the planner, which might otherwise plan each execution again.
      conditions.push(`updated_at >= ${isPrepared ? `(select ${since})` : since}`);
    }
    const source = areFew ? changesFirst(bind(updatedSince)) : PARENT_PROGRAMS.name;
    return { isPrepared, conditions, source, kind: isBounded ? '_since' : '' };
  });
}

/**
 * Returns the position after which the page starts. In ascending order of `updated_at`, `updatedSince` is the start of the first
 * page, so that the page can be found like any other page. Later pages start after `updatedSince` anyway.
 */
function startOf({ after, sortField, descending, updatedSince }: ListQuery): Buffer | null {
  if (after !== null || updatedSince === undefined || sortField !== 'updated_at' || descending) return after;
  return Buffer.concat([LAST_ID, bytesBefore(updatedSince)]);
}

/** A query for the rows that have changed since an instant, in order of creation, without other filters. */
type ChangesQuery = ListQuery & { readonly updatedSince: Date };

function isOfChanges(query: ListQuery): query is ChangesQuery {
  const { sortField, updatedSince, search, equals = {} } = query;
  const isFiltered = search !== undefined || Object.values(equals).some((value) => value !== undefined);
  return sortField === 'created_at' && updatedSince !== undefined && !isFiltered;
}

function changesPage({ organizationId }: OrganizationScope, query: ChangesQuery): ListStatement {
  const { after, descending, updatedSince, limit } = query;
  const direction = descending ? 'desc' : 'asc';
  const page = after === null ? 'first' : 'next';
  const position = after === null ? [] : [after.subarray(ID_BYTES), after.subarray(0, ID_BYTES)];
  return {
    name: `list_changed_parent_programs_${direction}_${page}`,
    text: CHANGES[direction][page],
    values: [organizationId, limit, updatedSince.toISOString(), ...position],
  };
}

function filtersOf({ search, equals = {} }: ListQuery, bind: Bind): string[] {
  const filters = equalsSql(PARENT_PROGRAMS, equals, bind);
  if (search !== undefined) filters.push(likeInSearchForm('name', bind(partPattern(search))));
  return filters;
}

const FEW_CHANGES = 1000;

/**
 * Returns whether at most FEW_CHANGES rows have changed. PostgreSQL assumes that `updated_at` is independent of the sort field,
 * so it expects an index scan in sort order to find the changed rows soon. But these rows are usually at the end of that order,
 * so the scan would read all other rows first.
 */
async function areChangesFew(db: Database, scope: OrganizationScope, { updatedSince, sortField }: ListQuery) {
  if (updatedSince === undefined || sortField === 'updated_at') return false;
  const { rowCount } = await db.pool.query({
    text: 'select from parent_programs where organization_id = $1 and updated_at >= $2 limit $3',
    values: [scope.organizationId, updatedSince, FEW_CHANGES + 1],
  });
  return rowCount !== null && rowCount <= FEW_CHANGES;
}

/**
 * Returns SQL that finds the changed rows by the index on `updated_at` before they are sorted. "offset 0" prevents the planner
 * from merging this subquery with the outer query.
 */
function changesFirst(since: string): string {
  return `(select * from parent_programs where organization_id = $1 and updated_at >= ${since}::timestamptz offset 0) changed`;
}

// Pages of the parent programs that have changed since an instant, in order of creation. The query divides the rows into periods
// of creation, and finds the changed rows of one period after the other until there are enough for a page. Scanning all rows in
// order of creation could read a million rows to find a few changed ones; sorting all changed rows could sort nearly as many.

/** The length of a period, which is 90 days. It is in hours because a day can have 23 hours in the time zone of a session. */
const PERIOD = `interval '2160 hours'`;

/** Returns SQL for the start of an instant's period, as in the index parent_programs_changes_idx. */
const periodOf = (instant: string) => `date_bin(${PERIOD}, ${instant}, timestamptz '2000-01-01T00:00:00Z')`;

/**
 * The maximum number of a period's changed rows that are sorted. If a period has more of them, it is faster to read all rows of
 * the period in order of creation.
 */
const MOST_SORTED = 2000;

/**
 * The instant in a subquery, so that PostgreSQL does not know the instant when it plans. Otherwise, PostgreSQL would expect few
 * rows, consider a new plan cheaper than the prepared one, and plan each execution again.
 */
const SINCE = '(select $3::timestamptz)';

/**
 * Returns the SQL for a page. Its parameters are the organization, the limit (at most MAX_ROWS), the instant and, for later
 * pages, the `created_at` and the id of the previous page's last row.
 */
function changesSql({ descending, isFirst }: { readonly descending: boolean; readonly isFirst: boolean }): string {
  const direction = descending ? 'desc' : 'asc';
  const order = `created_at ${direction}, id ${direction}`;
  const after = isFirst ? '' : `and (created_at, id) ${descending ? '<' : '>'} ($4::timestamptz, $5::uuid)`;
  const start = isFirst ? creationAtEnd(direction) : '$4::timestamptz';
  const end = creationAtEnd(descending ? 'asc' : 'desc');
  const changed = `organization_id = $1 and ${periodOf('created_at')} = start and updated_at >= ${SINCE}`;
  // "offset 0" and the innermost limit prevent other plans, which PostgreSQL would choose because it assumes that a third of the
  // rows have changed, whatever the instant.
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
         where not has_many ${after} order by ${order} limit ${MAX_ROWS})
        union all
        (select created_at, id from (
           select created_at, id, updated_at from parent_programs
           where organization_id = $1 and created_at >= start and created_at < start + ${PERIOD} ${after}
           order by ${order} offset 0
         ) listed
         where has_many and updated_at >= ${SINCE} order by ${order} limit ${MAX_ROWS})
      ) found
      order by period, ${order} limit ${MAX_ROWS}
    ) changes
    cross join lateral (
      select ${PARENT_PROGRAMS.shown} from parent_programs where organization_id = $1 and id = changes.id offset 0
    ) program
    order by period, changes.created_at ${direction}, changes.id ${direction} limit $2`;
}

/** Returns SQL for the time at which the oldest or the newest row was created. */
function creationAtEnd(direction: 'asc' | 'desc'): string {
  const order = `order by created_at ${direction}, id ${direction}`;
  return `(select created_at from parent_programs where organization_id = $1 ${order} limit 1)`;
}

/** Returns the SQL of the first page and of the next pages. This SQL is the same for every organization and instant. */
const changesSqlOf = (descending: boolean) => ({
  first: changesSql({ descending, isFirst: true }),
  next: changesSql({ descending, isFirst: false }),
});
const CHANGES = { asc: changesSqlOf(false), desc: changesSqlOf(true) };
