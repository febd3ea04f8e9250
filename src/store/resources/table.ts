import type { Permission } from '../../domain/people/role.ts';
import { parseInstant } from '../../domain/resources/instant.ts';
import { inJsonbOrder } from '../../domain/resources/json.ts';

/** The fields that Charter itself sets in every row, in the form that the contract defines. */
export type Stored = {
  /** A UUIDv7. */
  readonly id: string;
  /** An RFC 3339 timestamp in UTC with milliseconds. */
  readonly created_at: string;
  readonly updated_at: string;
};
/** The fields of a row that clients write, or that only operations of the resource set. */
export type ContentOf<Row extends Stored> = Omit<Row, keyof Stored>;
/** The content in a request to create a row. Fields with a default may be omitted. */
export type GivenContent<Row extends Stored> = Partial<ContentOf<Row>>;

export type ColumnType = 'boolean' | 'integer' | 'jsonb' | 'text' | 'timestamptz' | 'uuid';

type Description<Row extends Stored> = {
  /** The name of the table, which is also the name in the contract's path, such as "parent_programs". */
  readonly name: string;
  /** The name of one row in messages, such as "parent program". */
  readonly noun: string;
  readonly writePermission: Permission;
  /** The type of each field's column, in the contract's order. A column has the same name as its field. */
  readonly columns: { readonly [Field in keyof ContentOf<Row>]: ColumnType };
  /**
   * Fields whose values must be unique in an organization. Each has a unique index whose name contains the name of the column.
   */
  readonly unique?: readonly (keyof ContentOf<Row> & string)[];
  /** The unique field with the id that a client gives to a row, such as `external_id`. */
  readonly ownId?: keyof ContentOf<Row> & string;
  /**
   * The table to which a field refers, such as "parent_programs" for "parent_program_id". A reference to a row that does not
   * exist is refused.
   */
  readonly references?: { readonly [Field in keyof ContentOf<Row>]?: string };
  /** The maximum number of entries of an object after an update. Validating only the update cannot check this. */
  readonly maxEntries?: { readonly [Field in keyof ContentOf<Row>]?: number };
};

type Definition<Row extends Stored, Creation> = Description<Row> & {
  /** The default of each field that a request to create a row may omit. */
  readonly defaults: { readonly [Field in OptionalOf<Creation> & keyof ContentOf<Row>]: Row[Field] };
} & SetByOperations<Row, Exclude<keyof ContentOf<Row>, keyof Creation>>;

/** The value in a new row of each field that no client can set, because only operations of the resource set it. */
type SetByOperations<Row extends Stored, Field extends keyof Row> = [Field] extends [never]
  ? unknown
  : { readonly setByOperations: Pick<Row, Field> };

// biome-ignore lint/complexity/noBannedTypes: an object without members is assignable to a type whose members are optional.
type OptionalOf<T> = { [Field in keyof T]-?: {} extends Pick<T, Field> ? Field : never }[keyof T];

type PreparedQuery = { readonly name: string; readonly text: string };

/** A resource's table, with the SQL that is built for every resource in the same way. */
export type Table<Row extends Stored> = Description<Row> & {
  readonly defaults: GivenContent<Row>;
  readonly setByOperations: GivenContent<Row>;
  /** SQL for all columns, without conversions. `created_at` and `updated_at` come last. */
  readonly shown: string;
  /** SQL for all columns. Timestamps in the content are in the form that the contract defines. */
  readonly shownInLists: string;
  /** SQL for all columns. JSON columns are returned as strings. */
  readonly shownAsText: string;
  readonly find: PreparedQuery;
  /** Finds a row by the client's own id, if the table has such ids. */
  readonly findByOwnId: PreparedQuery;
  /** The fixed parts of the SQL insert statement, between which the values are inserted. */
  readonly insert: readonly string[];
};

/** What identifies a row in a request: its id, or the client's own id. */
export type RowId = { readonly id: string } | { readonly ownId: string };

/** Returns the name of the field with the client's own id. Throws if the rows of the table have no such field. */
export function ownIdFieldOf<Row extends Stored>({ name, ownId }: Table<Row>): keyof ContentOf<Row> & string {
  if (ownId === undefined) throw new Error(`The rows of ${name} have no ids of the clients' own.`);
  return ownId;
}

/** SQL for the columns with the times. */
export const TIMES = 'created_at, updated_at';
export type Times = { readonly created_at: Date; readonly updated_at: Date };

/** Defines a table. `Row` and `Creation` are types of the contract, so a definition that lacks a field does not compile. */
export function defineTable<Row extends Stored, Creation>(definition: Definition<Row, Creation>): Table<Row> {
  const { name } = definition;
  const columns = Object.keys(definition.columns);
  const columnTypes = Object.values<ColumnType>(definition.columns);
  const parameterTypes = ['uuid', 'uuid', ...columnTypes];
  const asText = columns.map((column, i) => (columnTypes[i] === 'jsonb' ? `${column}::text as ${column}` : column));
  const inLists = columns.map((column, i) => (columnTypes[i] === 'timestamptz' ? rfc3339Of(column) : column));
  const shown = ['id', ...columns, TIMES].join(', ');
  const findText = (field: string) =>
    `select ${shown}, ${ORGANIZATION_VERSION} as version from ${name} where organization_id = $1 and ${field} = $2`;
  return {
    ...definition,
    // The assertions are safe, because the type of the definition requires that each default has the type of its field.
    defaults: definition.defaults as GivenContent<Row>,
    setByOperations: ('setByOperations' in definition ? definition.setByOperations : {}) as GivenContent<Row>,
    shown,
    shownInLists: ['id', ...inLists, TIMES].join(', '),
    shownAsText: ['id', ...asText, TIMES].join(', '),
    find: { name: `find_${name}`, text: findText('id') },
    findByOwnId: { name: `find_${name}_by_own_id`, text: findText(definition.ownId ?? 'id') },
    insert: [
      'with writer as materialized (',
      `), written as (insert into ${name} (organization_id, ${shown}) select `,
      ...parameterTypes.slice(0, -1).map((type) => `::${type}, `),
      `::${parameterTypes.at(-1)}, time_of_write, time_of_write from writer where refused is null returning ${TIMES})
       select refused, written.* from writer left join written on true`,
    ],
  };
}

function rfc3339Of(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${column}`;
}

/** Returns the content of a row to create, with the defaults of omitted fields. */
export function contentOf<Row extends Stored>(table: Table<Row>, given: GivenContent<Row>): ContentOf<Row> {
  // The assertion is safe, because the compiler requires a default for each field that may be omitted.
  return { ...table.defaults, ...table.setByOperations, ...normalFormOf(table, given) } as ContentOf<Row>;
}

/**
 * Returns the given fields in the form in which they will be read back: ids in lower case, and instants in UTC with milliseconds.
 */
export function normalFormOf<Row extends Stored, Given extends object>({ columns }: Table<Row>, given: Given): Given {
  const types = new Map(Object.entries<ColumnType>(columns));
  const fields = Object.entries(given).map(([field, value]) => [field, normalValueOf(types.get(field), value)]);
  // The assertion is safe, because each value keeps its type.
  return Object.fromEntries(fields) as Given;
}

function normalValueOf(type: ColumnType | undefined, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'uuid') return value.toLowerCase();
  return type === 'timestamptz' ? parseInstant(value).toISOString() : value;
}

/** Returns the content of a row after its replacement. Fields that only operations set stay unchanged. */
export function replacedContentOf<Row extends Stored>(
  table: Table<Row>,
  { row, content }: { row: Row; content: ContentOf<Row> },
): ContentOf<Row> {
  const current = new Map(Object.entries(row));
  const kept = Object.keys(table.setByOperations).map((field) => [field, current.get(field)]);
  return { ...content, ...Object.fromEntries(kept) };
}

/** The values in a new row of the fields that the request to create the row omitted. */
export type InitialValues = Pick<Table<Stored>, 'defaults' | 'setByOperations'>;

/**
 * Returns the value of a field in a row that was stored before the field existed: the value in a new row, or `null` if a new row
 * has none.
 */
export function valueOfNewField({ defaults, setByOperations }: InitialValues, field: string): unknown {
  return new Map(Object.entries<unknown>({ ...setByOperations, ...defaults })).get(field) ?? null;
}

/**
 * Returns a row that a server of this version or an earlier version stored. `keptOf` returns a field's stored value, or
 * `undefined` if the field was not stored.
 */
export function rowOfKept<Row extends Stored>(table: Table<Row>, keptOf: (field: string) => unknown): Row {
  const fields = ['id', ...Object.keys(table.columns), 'created_at', 'updated_at'];
  const entries = fields.map((field) => {
    const kept = keptOf(field);
    return [field, kept === undefined ? valueOfNewField(table, field) : kept];
  });
  // The assertion is safe, because the columns of a table are the fields of its rows, and the compiler requires all of them.
  return Object.fromEntries(entries) as unknown as Row;
}

/**
 * Returns the row as it will be read back. The members of JSON objects are in jsonb's order, so that the response to the write
 * has the same representation and ETag as later reads.
 */
export function storedRow<Row extends Stored>(
  table: Table<Row>,
  { id, content, times }: { id: string; content: ContentOf<Row>; times: Times },
): Row {
  const row = {
    id,
    ...storedContent(table, content),
    created_at: times.created_at.toISOString(),
    updated_at: times.updated_at.toISOString(),
  };
  // The assertion is safe, because the columns of a table are the fields of its rows, and the compiler requires all of them.
  return row as unknown as Row;
}

/** Returns the table's fields in the table's order, with the values in the form that the contract defines. */
export function storedContent<Row extends Stored>(table: Table<Row>, content: ContentOf<Row>): Record<string, unknown> {
  return Object.fromEntries(
    fieldsOf(table, content).map(({ field, value }) => [field, isObject(value) ? inJsonbOrder(value) : value]),
  );
}

/** Returns each field of the table, with its type and its value. */
export function fieldsOf<Row extends Stored>({ columns }: Table<Row>, content: ContentOf<Row>) {
  const values = new Map<string, unknown>(Object.entries(content));
  return Object.entries<ColumnType>(columns).map(([field, type]) => ({ field, type, value: values.get(field) }));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * SQL for the version of the organization $1. A query that reads the organization's data contains this SQL, so that the data and
 * the version come from the same snapshot, even if the organization has changed since the API key was looked up.
 */
export const ORGANIZATION_VERSION = '(select version::text from organizations where organizations.id = $1)';
