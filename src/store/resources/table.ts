import type { Permission } from '../../domain/people/role.ts';
import { inJsonbOrder } from '../../domain/resources/json.ts';

/** The fields of every row that the API shows. */
export type Stored = {
  /** UUIDv7. */
  readonly id: string;
  /** RFC 3339, UTC, with milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
};
/** The fields of a row that clients write. */
export type ContentOf<Row extends Stored> = Omit<Row, keyof Stored>;

export type ColumnType = 'boolean' | 'integer' | 'jsonb' | 'text' | 'uuid';

type Definition<Row extends Stored> = {
  /** The name of the table, which is that in the contract's path: "parent_programs". */
  readonly name: string;
  /** What messages call one row: "parent program". */
  readonly noun: string;
  readonly writePermission: Permission;
  /** The type of the column of each field, in the contract's order. The column is named like the field, in snake case. */
  readonly columns: { readonly [Field in keyof ContentOf<Row>]: ColumnType };
  /** Fields whose values no two rows of an organization may share. Each has a unique index, which names its column. */
  readonly unique?: readonly (keyof ContentOf<Row> & string)[];
  /** The unique field with the client's own id, by which it creates or replaces a row. */
  readonly ownId?: keyof ContentOf<Row> & string;
  /** The noun of the row that a field refers to. A write that refers to no row of the organization is refused. */
  readonly references?: { readonly [Field in keyof ContentOf<Row>]?: string };
  /** The most entries that an object has after an update, which validation of the update alone cannot know. */
  readonly maxEntries?: { readonly [Field in keyof ContentOf<Row>]?: number };
};

/** A table of a resource, and the SQL that is the same for every resource. */
export type Table<Row extends Stored> = Definition<Row> & {
  /** Every column, named as in the contract. The times come last. */
  readonly shown: string;
  /** Every column, named like its field, and JSON as text. */
  readonly fieldsAsText: string;
  readonly find: { readonly name: string; readonly text: string };
  /** The text of the insert between its values. */
  readonly insert: readonly string[];
};

/** The columns of the times, named as in `Stored`. */
export const TIMES = 'created_at as "createdAt", updated_at as "updatedAt"';
export type Times = { readonly createdAt: Date; readonly updatedAt: Date };

export function defineTable<Row extends Stored>(definition: Definition<Row>): Table<Row> {
  const { name } = definition;
  const fields = Object.keys(definition.columns);
  const columns = fields.map(columnOf);
  const columnTypes = Object.values<ColumnType>(definition.columns);
  const parameterTypes = ['uuid', 'uuid', ...columnTypes];
  const selected = fields.map((field, i) => (columns[i] === field ? field : `${columns[i]} as "${field}"`));
  const selectedAsText = fields.map((field, i) =>
    columnTypes[i] === 'jsonb' ? `${columns[i]}::text as "${field}"` : selected[i],
  );
  return {
    ...definition,
    shown: ['id', ...columns, 'created_at', 'updated_at'].join(', '),
    fieldsAsText: ['id', ...selectedAsText, TIMES].join(', '),
    find: {
      name: `find_${name}`,
      text: `select ${['id', ...selected, TIMES].join(', ')}, ${ORGANIZATION_VERSION} as version from ${name} where organization_id = $1 and id = $2`,
    },
    insert: [
      'with writer as materialized (',
      `), written as (insert into ${name} (${['organization_id', 'id', ...columns, 'created_at', 'updated_at'].join(', ')}) select `,
      ...parameterTypes.slice(0, -1).map((type) => `::${type}, `),
      `::${parameterTypes.at(-1)}, time_of_write, time_of_write from writer where refused is null returning ${TIMES})
       select refused, written.* from writer left join written on true`,
    ],
  };
}

/** "external_id" for "externalId". */
export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The row as it will be read back, with the keys of JSON in jsonb's order, so that it has the same representation and ETag. */
export function storedRow<Row extends Stored>(
  table: Table<Row>,
  { id, content, times: { createdAt, updatedAt } }: { id: string; content: ContentOf<Row>; times: Times },
): Row {
  const row = {
    id,
    ...storedContent(table, content),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
  // The columns of a table are the fields of its rows; the compiler requires all of them.
  return row as unknown as Row;
}

/** The fields in the order of the table, and no others. */
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
