import { parseJson } from '../domain/json.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Database } from './database.ts';
import { bytesOfInstant, rfc3339 } from './instant.ts';
import { VERSION } from './organization-version.ts';

export type SortField = 'created_at' | 'updated_at' | 'name';

const ID_BYTES = 16;

export type ListQuery = {
  readonly sortField: SortField;
  readonly descending: boolean;
  /** Maximum number of rows, 1 to 101. The caller asks for one more than it shows. */
  readonly limit: number;
  /** The position of the last row of the previous page. Null: the first page. */
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

/**
 * A list page in a total order. It starts by row comparison, so its cost does not grow with its depth, and rows inserted or
 * deleted elsewhere do not move rows between pages. PostgreSQL writes the JSON: that takes a third of the time of reading
 * every column and writing it here.
 */
export async function listParentPrograms(db: Database, scope: OrganizationScope, query: ListQuery): Promise<ListPage> {
  const values: unknown[] = [scope.organizationId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const limit = bind(query.limit);
  const conditions = ['organization_id = $1'];
  if (query.after !== null) {
    const value = bind(query.after.subarray(ID_BYTES));
    const start = `(${value}::${ORDER_TYPE[query.sortField]}, ${bind(query.after.subarray(0, ID_BYTES))}::uuid)`;
    conditions.push(`(${query.sortField}, id) ${query.descending ? '<' : '>'} ${start}`);
  }
  const filters = filtersOf(query, bind);
  const source = (await areChangesFew(db, scope, query)) ? changesFirst(bind(query.updatedSince)) : 'parent_programs';
  const direction = query.descending ? 'desc' : 'asc';
  const order = `order by ${query.sortField} ${direction}, id ${direction}`;
  const text = `
    select row_to_json(program) as json, ${VERSION} as version from (
      select ${COLUMNS} from (
        select * from ${source} where ${[...conditions, ...filters].join(' and ')} ${order} limit ${MAX_ROWS}
      ) page ${order} limit ${limit}
    ) program ${order}`;
  // Unfiltered pages are prepared statements. A filtered one is planned each time: its best index depends on its values.
  const name = `list_parent_programs_${query.sortField}_${direction}_${query.after === null ? 'first' : 'next'}`;
  const statement = { ...(filters.length === 0 && { name }), text, values, types: AS_TEXT };
  const { rows } = await db.pool.query<{ json: string; version: string }>(statement);
  return {
    rows: rows.map(({ json }) => new ListedProgram(withRfc3339(json), query.sortField)),
    version: rows[0]?.version,
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

function filtersOf({ search, externalId, updatedSince }: ListQuery, bind: (value: unknown) => string): string[] {
  const filters: string[] = [];
  if (externalId !== undefined) filters.push(`external_id = ${bind(externalId)}`);
  if (updatedSince !== undefined) filters.push(`updated_at >= ${bind(updatedSince.toISOString())}::timestamptz`);
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
