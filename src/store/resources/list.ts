import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { parseJson } from '../../domain/resources/json.ts';
import type { Database } from '../sql/database.ts';
import { bytesOfInstant, rfc3339 } from '../sql/values.ts';
import { type ContentOf, ORGANIZATION_VERSION, type Stored, type Table } from './table.ts';

export type SortField = 'created_at' | 'updated_at' | 'name';

export const ID_BYTES = 16;

export type PageQuery = {
  readonly sortField: SortField;
  readonly descending: boolean;
  /** The maximum number of rows, from 1 to 101. */
  readonly limit: number;
  /** The position of the last row of the previous page; `null` for the first page. */
  readonly after: Buffer | null;
};

/** The values that all rows of a page must have. A field that is `undefined` may have any value. */
export type Equals<Row extends Stored> = {
  readonly [Field in keyof ContentOf<Row>]?: string | number | boolean | undefined;
};

export type RowsQuery<Row extends Stored> = PageQuery & { readonly equals?: Equals<Row> };

/** `version` is the organization's version from the same snapshot as the rows; `undefined` if there are no rows. */
export type ListPage = { readonly rows: readonly ListedRow[]; readonly version: string | undefined };

class ListedRow {
  /** The row as JSON in the form that the contract defines. */
  readonly json: string;
  readonly #sortField: SortField;

  constructor(json: string, sortField: SortField) {
    this.json = json;
    this.#sortField = sortField;
  }

  /**
   * The position of this row in the list. It is computed on demand, because only the last row of a page needs it, and an
   * additional column would make every page 5% slower.
   */
  get position(): Buffer {
    const { id, [this.#sortField]: value }: Record<'id' | SortField, string> = parseJson(this.json);
    return positionOf({ id, value }, this.#sortField);
  }
}

/** Makes node-postgres return each value in PostgreSQL's text format. */
export const AS_TEXT = { getTypeParser: () => (text: string) => text };

const ORDER_TYPE: Record<SortField, string> = { created_at: 'timestamptz', updated_at: 'timestamptz', name: 'text' };

/**
 * A constant upper bound for the statement's limit. If the limit is only a parameter, PostgreSQL estimates a tenth of all rows,
 * finds the generic plan too expensive, and plans each execution again. With the constant bound, the statement is planned once.
 */
export const MAX_ROWS = 101;

/** An SQL query for a page. It selects the columns "json" and "version". A query with a name is prepared. */
export type ListStatement = {
  readonly name: string | undefined;
  readonly text: string;
  readonly values: readonly unknown[];
};

/** Adds a value to the values of a statement, and returns the SQL for its parameter. */
export type Bind = (value: unknown) => string;

export async function listRows<Row extends Stored>(
  db: Database,
  scope: OrganizationScope,
  table: Table<Row>,
  { equals = {}, ...page }: RowsQuery<Row>,
): Promise<ListPage> {
  const statement = pageStatement(scope, table, page, (bind) => {
    const conditions = equalsSql(table, equals, bind);
    // A filtered page is planned each time, because the best index depends on the values of the filters.
    return { isPrepared: conditions.length === 0, conditions };
  });
  return readPage(db, statement, page);
}

/** Returns an SQL condition for each field that has a value. Throws if a name is not a column of the table. */
export function equalsSql<Row extends Stored>(
  { name, columns }: Table<Row>,
  equals: Equals<Row>,
  bind: Bind,
): string[] {
  const given = Object.entries(equals).filter(([, value]) => value !== undefined);
  return given.map(([field, value]) => {
    if (!Object.hasOwn(columns, field)) throw new TypeError(`${name} has no column "${field}" to filter by.`);
    return `${field} = ${bind(value)}`;
  });
}

/** The conditions that a list adds to the SQL query for one page. */
export type Filters = {
  readonly isPrepared: boolean;
  readonly conditions: readonly string[];
  /** SQL for the rows to select from. Default: the table. */
  readonly source?: string;
  /** A suffix for the name of the prepared statement. The name must differ if the conditions differ. Default: an empty string. */
  readonly kind?: string;
};

/**
 * Returns the SQL query for a page of a list in a total order. A page starts by row comparison, so later pages take no longer
 * than the first one, and rows that are inserted or deleted elsewhere do not move rows between pages. PostgreSQL writes the JSON,
 * because reading every column and writing the JSON in Node would take three times as long.
 */
export function pageStatement<Row extends Stored>(
  { organizationId }: OrganizationScope,
  { name, shownInLists }: Table<Row>,
  { sortField, descending, limit, after }: PageQuery,
  filtersWith: (bind: Bind) => Filters,
): ListStatement {
  const values: unknown[] = [organizationId];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const most = bind(limit);
  const start = after === null ? [] : [startAfter(after, { sortField, descending }, bind)];
  const { isPrepared, conditions, source = name, kind = '' } = filtersWith(bind);
  const direction = descending ? 'desc' : 'asc';
  const order = `order by ${sortField} ${direction}, id ${direction}`;
  const text = `
    select row_to_json(listed) as json, ${ORGANIZATION_VERSION} as version from (
      select ${shownInLists} from (
        select * from ${source} where ${['organization_id = $1', ...start, ...conditions].join(' and ')} ${order} limit ${MAX_ROWS}
      ) page ${order} limit ${most}
    ) listed ${order}`;
  const statement = `list_${name}_${sortField}_${direction}_${after === null ? 'first' : 'next'}${kind}`;
  return { name: isPrepared ? statement : undefined, text, values };
}

export async function readPage(
  db: Database,
  { name, text, values }: ListStatement,
  { sortField }: Pick<PageQuery, 'sortField'>,
): Promise<ListPage> {
  const statement = { ...(name !== undefined && { name }), text, values: [...values], types: AS_TEXT };
  const { rows } = await db.pool.query<{ json: string; version: string }>(statement);
  return {
    rows: rows.map(({ json }) => new ListedRow(rowWithRfc3339(json), sortField)),
    version: rows[0]?.version,
  };
}

function startAfter(
  after: Buffer,
  { sortField, descending }: Pick<PageQuery, 'sortField' | 'descending'>,
  bind: Bind,
): string {
  const value = `${bind(after.subarray(ID_BYTES))}::${ORDER_TYPE[sortField]}`;
  const id = `${bind(after.subarray(0, ID_BYTES))}::uuid`;
  return `(${sortField}, id) ${descending ? '<' : '>'} (${value}, ${id})`;
}

/**
 * Returns the position of a row with this id and this value of the sort field, both in the form that the contract defines. A
 * position is the 16 bytes of the id, followed by the value in PostgreSQL's binary format. PostgreSQL reads this format in half
 * the time that it needs for text.
 */
export function positionOf({ id, value }: { id: string; value: string }, field: SortField): Buffer {
  const bytes = field === 'name' ? Buffer.from(value) : bytesOfInstant(value);
  return Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), bytes]);
}

const CREATED = ',"created_at":"';
const UPDATED = '","updated_at":"';
const END = '"}';

/** Converts the timestamps to RFC 3339. Calling `to_char` in PostgreSQL would double the time of the whole page. */
function rowWithRfc3339(json: string): string {
  const updated = json.lastIndexOf(UPDATED);
  const created = json.lastIndexOf(CREATED, updated);
  const createdAt = rfc3339(json.slice(created + CREATED.length, updated));
  const updatedAt = rfc3339(json.slice(updated + UPDATED.length, -END.length));
  return `${json.slice(0, created)}${CREATED}${createdAt}${UPDATED}${updatedAt}${END}`;
}
