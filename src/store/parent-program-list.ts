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
  /** Rows at most, 1 to 101: the caller asks for one more than it shows. */
  readonly limit: number;
  /** The position of the row that the page comes after; null: from the start. */
  readonly after: Buffer | null;
  /** Substring of the name, at least 3 characters, in any letter case. */
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

/** As the contract names them, the times last: see `withInstants`. */
const COLUMNS = 'id, name, description, external_id, metadata, created_at, updated_at';
const AS_TEXT = { getTypeParser: () => (text: string) => text };

const ORDER_TYPE: Record<SortField, string> = { created_at: 'timestamptz', updated_at: 'timestamptz', name: 'text' };

/**
 * Of a limit that it does not know yet PostgreSQL expects a tenth of the rows, finds that too dear for a prepared plan,
 * and plans anew at every execution. Known to be at most this, a page is planned once.
 */
const MOST_ROWS = 101;

/**
 * Programs as JSON, as the contract shows them: PostgreSQL writes it for a third of what it takes to read every column and
 * to write it here. A page in a total order, found by row comparison: its cost does not grow with its depth, and rows that
 * come or go elsewhere move nobody to another page.
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
        select * from ${source} where ${[...conditions, ...filters].join(' and ')} ${order} limit ${MOST_ROWS}
      ) page ${order} limit ${limit}
    ) program ${order}`;
  // Plain pages are prepared once. A filtered one is planned each time, because its best index depends on its values.
  const name = `list_parent_programs_${query.sortField}_${direction}_${query.after === null ? 'first' : 'next'}`;
  const statement = { ...(filters.length === 0 && { name }), text, values, types: AS_TEXT };
  const { rows } = await db.pool.query<{ json: string; version: string }>(statement);
  return {
    rows: rows.map(({ json }) => new ListedProgram(withInstants(json), query.sortField)),
    version: rows[0]?.version,
  };
}

/**
 * The position of a row with this id and this value of the sort field, as the contract shows them: the id, and the value in
 * UTF-8 or as `bytesOfInstant` has it. That is PostgreSQL's binary format, which it reads in half the time of text.
 */
export function positionOf({ id, value }: { id: string; value: string }, field: SortField): Buffer {
  const bytes = field === 'name' ? Buffer.from(value) : bytesOfInstant(value);
  return Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), bytes]);
}

const CREATED = ',"created_at":"';
const UPDATED = '","updated_at":"';
const END = '"}';

/** PostgreSQL's own `to_char` would take as long for them as for all the rest of the page. */
function withInstants(json: string): string {
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
    // As the trigram index has it: name itself is compared by code point, letter case by the database's own rules.
    const pattern = bind(`%${search.replace(/[\\%_]/g, '\\$&')}%`);
    filters.push(`lower(name collate pg_catalog."default") like lower(${pattern} collate pg_catalog."default")`);
  }
  return filters;
}

const FEW = 1000;

/**
 * PostgreSQL takes the time of a change to say nothing about the place in another order, and expects to meet the changed
 * rows soon on a walk along that order. As a rule they stand at its end, and the walk meets every other row first.
 */
async function areChangesFew(db: Database, scope: OrganizationScope, { updatedSince, sortField }: ListQuery) {
  if (updatedSince === undefined || sortField === 'updated_at') return false;
  const { rowCount } = await db.pool.query({
    text: 'select from parent_programs where organization_id = $1 and updated_at >= $2 limit $3',
    values: [scope.organizationId, updatedSince, FEW + 1],
  });
  return rowCount !== null && rowCount <= FEW;
}

/** "offset 0" keeps the planner from undoing it: the changed rows are found by their own index, then put in order. */
function changesFirst(since: string): string {
  return `(select * from parent_programs where organization_id = $1 and updated_at >= ${since}::timestamptz offset 0) changed`;
}
