import { parseJson } from '../domain/json.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Database } from './database.ts';
import { bytesBefore, bytesOfInstant, rfc3339 } from './instant.ts';
import { VERSION } from './organization-version.ts';
import { changesSql } from './parent-program-changes.ts';

export type SortField = 'created_at' | 'updated_at' | 'name';

const ID_BYTES = 16;
const LAST_ID = Buffer.alloc(ID_BYTES, 0xff);

export type ListQuery = {
  readonly sortField: SortField;
  readonly descending: boolean;
  /** Maximum number of rows, 1 to 101. The caller asks for one more than it shows. */
  readonly limit: number;
  /** The position of the last row of the previous page of this list, so it matches the filters. Null: the first page. */
  readonly after: Buffer | null;
  /** Substring of the name, at least 3 characters, case-insensitive. */
  readonly search?: string | undefined;
  readonly externalId?: string | undefined;
  readonly updatedSince?: Date | undefined;
};

/** `version`: the organization's, from the same snapshot as the rows; undefined if there is no row. */
export type ListPage = { readonly rows: readonly ListedProgram[]; readonly version: string | undefined };

class ListedProgram {
  /** The program as JSON, as the contract shows it. */
  readonly json: string;
  readonly #sortField: SortField;

  constructor(json: string, sortField: SortField) {
    this.json = json;
    this.#sortField = sortField;
  }

  /**
   * The position of this row in the list. Computed on demand: only the last row of a page is asked, and a column for it
   * would make every page 5% slower.
   */
  get position(): Buffer {
    const { id, [this.#sortField]: value }: Record<'id' | SortField, string> = parseJson(this.json);
    return positionOf({ id, value }, this.#sortField);
  }
}

/** Named as in the contract. The timestamps come last, where `withRfc3339` looks for them. */
const COLUMNS = 'id, name, description, external_id, metadata, created_at, updated_at';
const AS_TEXT = { getTypeParser: () => (text: string) => text };

const ORDER_TYPE: Record<SortField, string> = { created_at: 'timestamptz', updated_at: 'timestamptz', name: 'text' };

/**
 * Constant upper bound for the statement's limit. For a limit that is a parameter, PostgreSQL estimates a tenth of all rows,
 * finds the generic plan too expensive, and plans at every execution. With the bound, a page is planned once.
 */
const MAX_ROWS = 101;

/** A statement with a name is prepared. */
type Statement = { readonly name: string | undefined; readonly text: string; readonly values: readonly unknown[] };

/**
 * A list page in a total order. It starts by row comparison, so its cost does not grow with its depth, and rows inserted or
 * deleted elsewhere do not move rows between pages. PostgreSQL writes the JSON: that takes a third of the time of reading
 * every column and writing it here.
 */
export async function listParentPrograms(db: Database, scope: OrganizationScope, query: ListQuery): Promise<ListPage> {
  const { name, text, values } = isOfChanges(query) ? changesPage(scope, query) : await page(db, scope, query);
  const statement = { ...(name !== undefined && { name }), text, values: [...values], types: AS_TEXT };
  const { rows } = await db.pool.query<{ json: string; version: string }>(statement);
  return {
    rows: rows.map(({ json }) => new ListedProgram(withRfc3339(json), query.sortField)),
    version: rows[0]?.version,
  };
}

async function page(db: Database, scope: OrganizationScope, query: ListQuery): Promise<Statement> {
  const { sortField, descending, updatedSince } = query;
  const values: unknown[] = [scope.organizationId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const limit = bind(query.limit);
  const conditions = ['organization_id = $1'];
  const start = startOf(query);
  if (start !== null) {
    const value = `${bind(start.subarray(ID_BYTES))}::${ORDER_TYPE[sortField]}`;
    const id = `${bind(start.subarray(0, ID_BYTES))}::uuid`;
    conditions.push(`(${sortField}, id) ${descending ? '<' : '>'} (${value}, ${id})`);
  }
  const filters = filtersOf(query, bind);
  const isPrepared = filters.length === 0 && (updatedSince === undefined || sortField === 'updated_at');
  const isBounded = updatedSince !== undefined && (sortField !== 'updated_at' || descending);
  if (isBounded) {
    const since = `${bind(updatedSince.toISOString())}::timestamptz`;
    // In a prepared statement, a value that PostgreSQL knows when it plans could make it plan each time.
    conditions.push(`updated_at >= ${isPrepared ? `(select ${since})` : since}`);
  }
  const source = (await areChangesFew(db, scope, query)) ? changesFirst(bind(updatedSince)) : 'parent_programs';
  const direction = descending ? 'desc' : 'asc';
  const order = `order by ${sortField} ${direction}, id ${direction}`;
  const text = `
    select row_to_json(program) as json, ${VERSION} as version from (
      select ${COLUMNS} from (
        select * from ${source} where ${[...conditions, ...filters].join(' and ')} ${order} limit ${MAX_ROWS}
      ) page ${order} limit ${limit}
    ) program ${order}`;
  const kind = `${sortField}_${direction}_${start === null ? 'first' : 'next'}${isBounded ? '_since' : ''}`;
  // Another filtered page is planned each time: its best index depends on its values.
  return { name: isPrepared ? `list_parent_programs_${kind}` : undefined, text, values };
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
  first: changesSql({ columns: COLUMNS, maxRows: MAX_ROWS, descending, isFirst: true }),
  next: changesSql({ columns: COLUMNS, maxRows: MAX_ROWS, descending, isFirst: false }),
});
const CHANGES = { asc: changesSqlOf(false), desc: changesSqlOf(true) };

function changesPage({ organizationId }: OrganizationScope, query: ChangesQuery): Statement {
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

/**
 * The position of a row with this id and this value of the sort field, as the contract shows them: the 16 bytes of the id, then
 * the value, both in PostgreSQL's binary format, which it reads in half the time of text.
 */
export function positionOf({ id, value }: { id: string; value: string }, field: SortField): Buffer {
  const bytes = field === 'name' ? Buffer.from(value) : bytesOfInstant(value);
  return Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), bytes]);
}

const CREATED = ',"created_at":"';
const UPDATED = '","updated_at":"';
const END = '"}';

/** Converts the timestamps to RFC 3339. `to_char` in PostgreSQL would double the time of the whole page. */
function withRfc3339(json: string): string {
  const updated = json.lastIndexOf(UPDATED);
  const created = json.lastIndexOf(CREATED, updated);
  const createdAt = rfc3339(json.slice(created + CREATED.length, updated));
  const updatedAt = rfc3339(json.slice(updated + UPDATED.length, -END.length));
  return `${json.slice(0, created)}${CREATED}${createdAt}${UPDATED}${updatedAt}${END}`;
}

function filtersOf({ search, externalId }: ListQuery, bind: (value: unknown) => string): string[] {
  const filters: string[] = [];
  if (externalId !== undefined) filters.push(`external_id = ${bind(externalId)}`);
  if (search !== undefined) {
    // The expression of the trigram index. The column itself has the collation "C", which knows letter case in ASCII only.
    const pattern = bind(`%${search.replace(/[\\%_]/g, '\\$&')}%`);
    filters.push(`lower(name collate pg_catalog."default") like lower(${pattern} collate pg_catalog."default")`);
  }
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
