import type { Permission } from '../../domain/people/role.ts';
import { parseInstant } from '../../domain/resources/instant.ts';
import { inJsonbOrder } from '../../domain/resources/json.ts';

/** The fields of every row that Charter sets, as the contract shows them. */
export type Stored = {
  /** UUIDv7. */
  readonly id: string;
  /** RFC 3339, UTC, with milliseconds. */
  readonly created_at: string;
  readonly updated_at: string;
};
/** The fields of a row that clients write, and those that only operations of the resource set. */
export type ContentOf<Row extends Stored> = Omit<Row, keyof Stored>;
/** The content that a creation gives: fields with a default may be missing. */
export type GivenContent<Row extends Stored> = Partial<ContentOf<Row>>;

export type ColumnType = 'boolean' | 'integer' | 'jsonb' | 'text' | 'timestamptz' | 'uuid';

type Description<Row extends Stored> = {
  /** The name of the table, which is that in the contract's path: "parent_programs". */
  readonly name: string;
  /** What messages call one row: "parent program". */
  readonly noun: string;
  readonly writePermission: Permission;
  /** The type of the column of each field, in the contract's order. The column has the name of the field. */
  readonly columns: { readonly [Field in keyof ContentOf<Row>]: ColumnType };
  /** Fields whose values no two rows of an organization may share. Each has a unique index, which names its column. */
  readonly unique?: readonly (keyof ContentOf<Row> & string)[];
  /** The unique field with the client's own id, by which it creates or replaces a row. */
  readonly ownId?: keyof ContentOf<Row> & string;
  /** The table of the row that a field refers to: "parent_programs" for "parent_program_id". A reference to no row is refused. */
  readonly references?: { readonly [Field in keyof ContentOf<Row>]?: string };
  /** The most entries that an object has after an update, which validation of the update alone cannot know. */
  readonly maxEntries?: { readonly [Field in keyof ContentOf<Row>]?: number };
};

type Definition<Row extends Stored, Creation> = Description<Row> & {
  /** The value of each field that a creation may omit. */
  readonly defaults: { readonly [Field in OptionalOf<Creation> & keyof ContentOf<Row>]: Row[Field] };
} & SetByOperations<Row, Exclude<keyof ContentOf<Row>, keyof Creation>>;

/** The value in a new row of each field that no creation has, because only operations of the resource set it. */
type SetByOperations<Row extends Stored, Field extends keyof Row> = [Field] extends [never]
  ? unknown
  : { readonly setByOperations: Pick<Row, Field> };

// biome-ignore lint/complexity/noBannedTypes: an object without members is assignable to a type whose members are optional.
type OptionalOf<T> = { [Field in keyof T]-?: {} extends Pick<T, Field> ? Field : never }[keyof T];

/** A table of a resource, and the SQL that is the same for every resource. */
export type Table<Row extends Stored> = Description<Row> & {
  readonly defaults: GivenContent<Row>;
  readonly setByOperations: GivenContent<Row>;
  /** Every column. The times come last. */
  readonly shown: string;
  /** Every column, with the times of the content as the contract shows them. */
  readonly shownInLists: string;
  /** Every column, with JSON as text. */
  readonly shownAsText: string;
  readonly find: { readonly name: string; readonly text: string };
  /** The text of the insert between its values. */
  readonly insert: readonly string[];
};

/** The columns of the times. */
export const TIMES = 'created_at, updated_at';
export type Times = { readonly created_at: Date; readonly updated_at: Date };

/** `Row` and `Creation` are the contract's: a field that is forgotten in the definition does not compile. */
export function defineTable<Row extends Stored, Creation>(definition: Definition<Row, Creation>): Table<Row> {
  const { name } = definition;
  const columns = Object.keys(definition.columns);
  const columnTypes = Object.values<ColumnType>(definition.columns);
  const parameterTypes = ['uuid', 'uuid', ...columnTypes];
  const asText = columns.map((column, i) => (columnTypes[i] === 'jsonb' ? `${column}::text as ${column}` : column));
  const inLists = columns.map((column, i) => (columnTypes[i] === 'timestamptz' ? rfc3339Of(column) : column));
  const shown = ['id', ...columns, TIMES].join(', ');
  return {
    ...definition,
    // The type of the definition says that each default suits its field.
    defaults: definition.defaults as GivenContent<Row>,
    setByOperations: ('setByOperations' in definition ? definition.setByOperations : {}) as GivenContent<Row>,
    shown,
    shownInLists: ['id', ...inLists, TIMES].join(', '),
    shownAsText: ['id', ...asText, TIMES].join(', '),
    find: {
      name: `find_${name}`,
      text: `select ${shown}, ${ORGANIZATION_VERSION} as version from ${name} where organization_id = $1 and id = $2`,
    },
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

/** The content of a row to create, with the defaults of the fields that are missing. */
export function contentOf<Row extends Stored>(table: Table<Row>, given: GivenContent<Row>): ContentOf<Row> {
  // The compiler requires a default for each field that a creation may omit.
  return { ...table.defaults, ...table.setByOperations, ...normalFormOf(table, given) } as ContentOf<Row>;
}

/** The given fields in the form in which they are read back: ids in lower case, and instants in UTC with milliseconds. */
export function normalFormOf<Row extends Stored, Given extends object>({ columns }: Table<Row>, given: Given): Given {
  const types = new Map(Object.entries<ColumnType>(columns));
  const fields = Object.entries(given).map(([field, value]) => [field, normalValueOf(types.get(field), value)]);
  // Each value keeps its type.
  return Object.fromEntries(fields) as Given;
}

function normalValueOf(type: ColumnType | undefined, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'uuid') return value.toLowerCase();
  return type === 'timestamptz' ? parseInstant(value).toISOString() : value;
}

/** The content of a row after its replacement: the fields that only operations set stay as they are. */
export function replacedContentOf<Row extends Stored>(
  table: Table<Row>,
  { row, content }: { row: Row; content: ContentOf<Row> },
): ContentOf<Row> {
  const current = new Map(Object.entries(row));
  const kept = Object.keys(table.setByOperations).map((field) => [field, current.get(field)]);
  return { ...content, ...Object.fromEntries(kept) };
}

/** What a new row has in the fields that its creation omits. */
export type InitialValues = Pick<Table<Stored>, 'defaults' | 'setByOperations'>;

/** The value of a field in a row that was kept when the field did not exist: that of a new row, or `null` if it has none. */
export function valueOfNewField({ defaults, setByOperations }: InitialValues, field: string): unknown {
  return new Map(Object.entries<unknown>({ ...setByOperations, ...defaults })).get(field) ?? null;
}

/** A row as a server of this version or of an earlier one kept it. `keptOf` returns `undefined` for a field that was not kept. */
export function rowOfKept<Row extends Stored>(table: Table<Row>, keptOf: (field: string) => unknown): Row {
  const fields = ['id', ...Object.keys(table.columns), 'created_at', 'updated_at'];
  const entries = fields.map((field) => {
    const kept = keptOf(field);
    return [field, kept === undefined ? valueOfNewField(table, field) : kept];
  });
  // The columns of a table are the fields of its rows; the compiler requires all of them.
  return Object.fromEntries(entries) as unknown as Row;
}

/** The row as it will be read back, with the keys of JSON in jsonb's order, so that it has the same representation and ETag. */
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
  // The columns of a table are the fields of its rows; the compiler requires all of them.
  return row as unknown as Row;
}

/** The fields in the order of the table, and no others, with the values that the contract shows. */
export function storedContent<Row extends Stored>(table: Table<Row>, content: ContentOf<Row>): Record<string, unknown> {
  return Object.fromEntries(
    fieldsOf(table, content).map(({ field, value }) => [field, isObject(value) ? inJsonbOrder(value) : value]),
  );
}

/** Each field, with its value in a content. */
export function fieldsOf<Row extends Stored>({ columns }: Table<Row>, content: ContentOf<Row>) {
  const values = new Map<string, unknown>(Object.entries(content));
  return Object.entries<ColumnType>(columns).map(([field, type]) => ({ field, type, value: values.get(field) }));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * SQL for the version of the organization $1. The statement that reads the organization's data contains it, so both come from one
 * snapshot, whatever was committed since the API key was looked up.
 */
export const ORGANIZATION_VERSION = '(select version::text from organizations where organizations.id = $1)';
