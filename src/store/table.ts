import pg from 'pg';
import { Prisma } from '../../generated/prisma/client.ts';
import { parseJson } from '../domain/json.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Permission } from '../domain/role.ts';
import type { Database, Transaction } from './database.ts';
import { rfc3339 } from './instant.ts';
import { type Checked, keyOfWrite, type RefusedColumn, refusedKey, type Writer } from './key-of-write.ts';
import { VERSION } from './organization-version.ts';

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

type ColumnType = 'boolean' | 'integer' | 'jsonb' | 'text' | 'uuid';

type Definition<Row extends Stored> = {
  /** As in the contract's path: "parent_programs". */
  readonly name: string;
  /** One row, in messages: "parent program". */
  readonly noun: string;
  readonly writePermission: Permission;
  /** The type of the column of each field, in the contract's order. The column is named like the field, in snake case. */
  readonly columns: { readonly [Field in keyof ContentOf<Row>]: ColumnType };
  /** The noun of the row that a field refers to. A write that refers to no row of the organization is refused. */
  readonly references?: { readonly [Field in keyof ContentOf<Row>]?: string };
};

/** A table of a resource, and the statements that are the same for every resource. */
export type Table<Row extends Stored> = Definition<Row> & {
  /** Every column, named as in the contract. The times come last. */
  readonly shown: string;
  /** Every column, named like its field, and JSON as text. */
  readonly fieldsAsText: string;
  readonly find: { readonly name: string; readonly text: string };
  /** The text of the insert between its values. */
  readonly insert: readonly string[];
};

/** `version`: the organization's, from the same snapshot as the row. */
export type Found<Row> = { readonly row: Row; readonly version: string };

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
      text: `select ${['id', ...selected, TIMES].join(', ')}, ${VERSION} as version from ${name} where organization_id = $1 and id = $2`,
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

export async function findRow<Row extends Stored>(
  db: Database,
  scope: OrganizationScope,
  { find }: Table<Row>,
  id: string,
): Promise<Found<Row> | null> {
  const values = [scope.organizationId, id];
  const { rows } = await db.pool.query<Row & { version: string }>({ ...find, values, types: TYPE_PARSERS });
  const [found] = rows;
  if (found === undefined) return null;
  const { version, ...row } = found;
  // Only the version is removed, and no row of the API has a field of that name.
  return { row: row as unknown as Row, version };
}

/** Throws a unique or a foreign key violation. */
export async function insertRow<Row extends Stored>(
  tx: Transaction,
  scope: OrganizationScope,
  table: Table<Row>,
  { id, content, writer }: { id: string; content: ContentOf<Row>; writer: Writer },
): Promise<Checked<Row>> {
  const fields = fieldsOf(table, content).map(({ type, value }) => (type === 'jsonb' ? JSON.stringify(value) : value));
  const values = [keyOfWrite(scope, writer, { isLocked: true }), scope.organizationId, id, ...fields];
  const [row] = await tx.$queryRaw<WriterAnd<Times>[]>(new Prisma.Sql(table.insert, values));
  const inserted = checked(row, (times) => storedRow(table, { id, content, times }));
  if (inserted.kind === 'refused') return inserted;
  if (inserted.value === null) throw new Error('An insert returned no row.');
  return { kind: 'accepted', value: inserted.value };
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
  return Object.fromEntries(fieldsOf(table, content).map(({ field, value }) => [field, inJsonbOrder(value)]));
}

function fieldsOf<Row extends Stored>({ columns }: Table<Row>, content: ContentOf<Row>) {
  const values = new Map<string, unknown>(Object.entries(content));
  return Object.entries<ColumnType>(columns).map(([field, type]) => ({ field, type, value: values.get(field) }));
}

/** jsonb orders the keys of an object by their length in bytes, then by their bytes. */
function inJsonbOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => ({ key, member, bytes: Buffer.from(key) }));
  entries.sort((a, b) => a.bytes.length - b.bytes.length || a.bytes.compare(b.bytes));
  return Object.fromEntries(entries.map(({ key, member }) => [key, member]));
}

/** The key that writes, left-joined with a row: without one, all its columns are null. */
export type WriterAnd<Row> = RefusedColumn & (Row | { readonly [Name in keyof Row]: null });

/** The result of `use` for the row, or null without a row. A refusal if the key may not write. */
export function checked<Row extends Times, T>(
  row: WriterAnd<Row> | undefined,
  use: (row: Row) => T,
): Checked<T | null> {
  const refused = refusedKey(row);
  if (refused !== null) return refused;
  return { kind: 'accepted', value: row !== undefined && isWhole(row) ? use(row) : null };
}

function isWhole<Row extends Times>(row: WriterAnd<Row>): row is RefusedColumn & Row {
  return row.createdAt !== null;
}

/** Parses JSON with `parseJson`, because V8's JSON.parse mistakes some keys. */
const TYPE_PARSERS = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.TIMESTAMPTZ) return rfc3339;
    return oid === pg.types.builtins.JSONB ? parseJson : pg.types.getTypeParser(oid, format);
  },
};
