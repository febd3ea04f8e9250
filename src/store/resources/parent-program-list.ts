import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Database } from '../sql/database.ts';
import { likeInSearchForm, partPattern } from '../sql/like.ts';
import { bytesBefore } from '../sql/timestamp.ts';
import {
  type Bind,
  ID_BYTES,
  type ListPage,
  type ListStatement,
  listRows,
  MAX_ROWS,
  type PageQuery,
  pageStatement,
  readPage,
} from './list.ts';
import { changesSql } from './parent-program-changes.ts';
import { PARENT_PROGRAMS } from './tables/parent-programs.ts';

const LAST_ID = Buffer.alloc(ID_BYTES, 0xff);

export type ListQuery = PageQuery & {
  /** Substring of the name, at least 3 characters, case-insensitive. */
  readonly search?: string | undefined;
  readonly externalId?: string | undefined;
  readonly updatedSince?: Date | undefined;
};

/** A list page. Without `search` and `updatedSince`, the list is like that of any other table. */
export async function listParentPrograms(db: Database, scope: OrganizationScope, query: ListQuery): Promise<ListPage> {
  const { search, externalId, updatedSince, ...page } = query;
  if (search === undefined && updatedSince === undefined)
    return listRows(db, scope, PARENT_PROGRAMS, { ...page, equals: { externalId } });
  const statement = isOfChanges(query) ? changesPage(scope, query) : await filteredPage(db, scope, query);
  return readPage(db, statement, page);
}

async function filteredPage(db: Database, scope: OrganizationScope, query: ListQuery): Promise<ListStatement> {
  const { sortField, descending, limit, updatedSince } = query;
  const areFew = await areChangesFew(db, scope, query);
  const page = { sortField, descending, limit, after: startOf(query) };
  return pageStatement(scope, PARENT_PROGRAMS, page, (bind) => {
    const conditions = filtersOf(query, bind);
    // Another filtered page is planned each time: its best index depends on its values.
    const isPrepared = conditions.length === 0 && (updatedSince === undefined || sortField === 'updated_at');
    const isBounded = updatedSince !== undefined && (sortField !== 'updated_at' || descending);
    if (isBounded) {
      const since = `${bind(updatedSince.toISOString())}::timestamptz`;
      // In a prepared statement, a value that PostgreSQL knows when it plans could make it plan each time.
      conditions.push(`updated_at >= ${isPrepared ? `(select ${since})` : since}`);
    }
    const source = areFew ? changesFirst(bind(updatedSince)) : PARENT_PROGRAMS.name;
    return { isPrepared, conditions, source, kind: isBounded ? '_since' : '' };
  });
}

/**
 * In ascending order of `updated_at`, `updatedSince` is nothing but the start of the first page, which is then found like any
 * other. A later page starts after it anyway.
 */
function startOf({ after, sortField, descending, updatedSince }: ListQuery): Buffer | null {
  if (after !== null || updatedSince === undefined || sortField !== 'updated_at' || descending) return after;
  return Buffer.concat([LAST_ID, bytesBefore(updatedSince)]);
}

/** The rows that changed since an instant, in order of creation, without another filter. */
type ChangesQuery = ListQuery & { readonly updatedSince: Date };

function isOfChanges(query: ListQuery): query is ChangesQuery {
  const { sortField, updatedSince, search, externalId } = query;
  return sortField === 'created_at' && updatedSince !== undefined && search === undefined && externalId === undefined;
}

/** Built once, because they are long and only their parameters vary. */
const changesSqlOf = (descending: boolean) => ({
  first: changesSql({ columns: PARENT_PROGRAMS.shown, maxRows: MAX_ROWS, descending, isFirst: true }),
  next: changesSql({ columns: PARENT_PROGRAMS.shown, maxRows: MAX_ROWS, descending, isFirst: false }),
});
const CHANGES = { asc: changesSqlOf(false), desc: changesSqlOf(true) };

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

function filtersOf({ search, externalId }: ListQuery, bind: Bind): string[] {
  const filters: string[] = [];
  if (externalId !== undefined) filters.push(`external_id = ${bind(externalId)}`);
  if (search !== undefined) filters.push(likeInSearchForm('name', bind(partPattern(search))));
  return filters;
}

const FEW_CHANGES = 1000;

/**
 * PostgreSQL assumes that `updated_at` is independent of the sort field, and expects to find the changed rows soon on an index
 * scan in sort order. They are usually at its end, so that scan would read every other row first.
 */
async function areChangesFew(db: Database, scope: OrganizationScope, { updatedSince, sortField }: ListQuery) {
  if (updatedSince === undefined || sortField === 'updated_at') return false;
  const { rowCount } = await db.pool.query({
    text: 'select from parent_programs where organization_id = $1 and updated_at >= $2 limit $3',
    values: [scope.organizationId, updatedSince, FEW_CHANGES + 1],
  });
  return rowCount !== null && rowCount <= FEW_CHANGES;
}

/** Finds the changed rows by their own index before they are sorted; "offset 0" keeps the planner from merging the two. */
function changesFirst(since: string): string {
  return `(select * from parent_programs where organization_id = $1 and updated_at >= ${since}::timestamptz offset 0) changed`;
}
