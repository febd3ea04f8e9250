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
  /** Maximum number of rows, 1 to 101. */
  readonly limit: number;
  /** The position of the last row of the previous page, which matches the filters; `null` for the first page. */
  readonly after: Buffer | null;
};

/** A page has only rows with these values. A field that is `undefined` may have any value. */
export type Equals<Row extends Stored> = {
  readonly [Field in keyof ContentOf<Row>]?: string | number | boolean | undefined;
};

export type RowsQuery<Row extends Stored> = PageQuery & { readonly equals?: Equals<Row> };

/** `version` is that of the organization, from the same snapshot as the rows; `undefined` if there is no row. */
export type ListPage = { readonly rows: readonly ListedRow[]; readonly version: string | undefined };

class ListedRow {
  /** The row as JSON, as the contract shows it. */
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

/** Makes node-postgres return each value as PostgreSQL's text. */
export const AS_TEXT = { getTypeParser: () => (text: string) => text };

const ORDER_TYPE: Record<SortField, string> = { created_at: 'timestamptz', updated_at: 'timestamptz', name: 'text' };

/**
 * Constant upper bound for the statement's limit. For a limit that is a parameter, PostgreSQL estimates a tenth of all rows,
 * finds the generic plan too expensive, and plans at every execution. With the bound, a page is planned once.
 */
export const MAX_ROWS = 101;

/** A statement with a name is prepared. It selects a column "json" and a column "version". */
export type ListStatement = {
  readonly name: string | undefined;
  readonly text: string;
  readonly values: readonly unknown[];
};

/** Adds a value to those of a statement, and returns its SQL. */
export type Bind = (value: unknown) => string;

/** A page of the rows of a table. */
export async function listRows<Row extends Stored>(
  db: Database,
  scope: OrganizationScope,
  table: Table<Row>,
  { equals = {}, ...page }: RowsQuery<Row>,
): Promise<ListPage> {
  const statement = pageStatement(scope, table, page, (bind) => {
    const conditions = equalsSql(table, equals, bind);
    // Another filtered page is planned each time: its best index depends on its values.
    return { isPrepared: conditions.length === 0, conditions };
  });
  return readPage(db, statement, page);
}

/** A condition for each field that has a value. Throws for a name that is no column of the table. */
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

/** What a list adds to the statement of a page. */
export type Filters = {
  readonly isPrepared: boolean;
  readonly conditions: readonly string[];
  /** The rows to select from, as SQL. By default the table. */
  readonly source?: string;
  /** Ends the name of the statement; by default empty. */
  readonly kind?: string;
};

/**
 * A list page in a total order. It starts by row comparison, so its cost does not grow with its depth, and rows inserted or
 * deleted elsewhere do not move rows between pages. PostgreSQL writes the JSON: that takes a third of the time of reading
 * every column and writing it here.
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
function rowWithRfc3339(json: string): string {
  const updated = json.lastIndexOf(UPDATED);
  const created = json.lastIndexOf(CREATED, updated);
  const createdAt = rfc3339(json.slice(created + CREATED.length, updated));
  const updatedAt = rfc3339(json.slice(updated + UPDATED.length, -END.length));
  return `${json.slice(0, created)}${CREATED}${createdAt}${UPDATED}${updatedAt}${END}`;
}
