import pg from 'pg';
import { Prisma } from '../../../generated/prisma/client.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { parseJson } from '../../domain/resources/json.ts';
import type { Database, Transaction } from '../sql/database.ts';
import { rfc3339 } from '../sql/values.ts';
import { type Checked, keyOfWrite, type RefusedColumn, type Writer, writeRefusalOf } from './key-of-write.ts';
import {
  type ContentOf,
  fieldsOf,
  ownIdFieldOf,
  type RowId,
  type Stored,
  storedRow,
  type Table,
  TIMES,
  type Times,
} from './table.ts';

// SQL statements on one row of any resource's table.

/** `version` is the organization's version from the same snapshot as the row. */
export type Found<Row> = { readonly row: Row; readonly version: string };

export async function findRow<Row extends Stored>(
  db: Database,
  scope: OrganizationScope,
  { find, findByOwnId }: Table<Row>,
  rowId: RowId,
): Promise<Found<Row> | null> {
  const query =
    'id' in rowId
      ? { ...find, values: [scope.organizationId, rowId.id] }
      : { ...findByOwnId, values: [scope.organizationId, rowId.ownId] };
  const { rows } = await db.pool.query<Row & { version: string }>({ ...query, types: TYPE_PARSERS });
  const [found] = rows;
  if (found === undefined) return null;
  const { version, ...row } = found;
  // The assertion is safe, because only the version has been removed, and no row of the API has a field of that name.
  return { row: row as unknown as Row, version };
}

/** Returns the id of the organization's row that has this value in a unique field; `null` if there is no such row. */
export async function findIdByUnique<Row extends Stored>(
  { prisma }: Pick<Database, 'prisma'>,
  { organizationId }: OrganizationScope,
  { name }: Table<Row>,
  { field, value }: { field: string; value: unknown },
): Promise<string | null> {
  const [row] = await prisma.$queryRaw<{ id: string }[]>`
    select id from ${Prisma.raw(name)}
    where organization_id = ${organizationId}::uuid and ${Prisma.raw(field)} = ${value}`;
  return row?.id ?? null;
}

/** Inserts a row. Throws a unique violation or a foreign key violation. */
export async function insertRow<Row extends Stored>(
  tx: Transaction,
  scope: OrganizationScope,
  table: Table<Row>,
  { id, content, writer }: { id: string; content: ContentOf<Row>; writer: Writer },
): Promise<Checked<Row>> {
  const fields = fieldsOf(table, content).map(parameterOf);
  const values = [keyOfWrite(scope, writer, { isLocked: true }), scope.organizationId, id, ...fields];
  const [row] = await tx.$queryRaw<WriterAnd<Times>[]>(new Prisma.Sql(table.insert, values));
  const inserted = resultOf(row, (times) => storedRow(table, { id, content, times }));
  if (inserted.kind === 'refused') return inserted;
  if (inserted.value === null) throw new Error('An insert returned no row.');
  return { kind: 'accepted', value: inserted.value };
}

/** A row as PostgreSQL returns it. Its other columns are the fields of the table. */
export type RawRow = Times & { readonly id: string };

type RowAsText = { readonly row_as_text: string };

/** A row before a change. `text` is the whole row in PostgreSQL's text format, which is different after any change of the row. */
export type RowToChange<Row> = { readonly row: Row; readonly text: string };

/**
 * Finds a row that is to be changed. The result's `value` is `null` if there is no such row. With `isLocked`, locks the
 * organization and the row until the transaction ends.
 */
export async function findRowToChange<Row extends Stored>(
  tx: Transaction,
  scope: OrganizationScope,
  table: Table<Row>,
  { rowId, writer, isLocked }: { rowId: RowId; writer: Writer; isLocked: boolean },
): Promise<Checked<RowToChange<Row> | null>> {
  const name = Prisma.raw(table.name);
  const condition =
    'id' in rowId
      ? Prisma.sql`id = ${rowId.id}::uuid`
      : Prisma.sql`${Prisma.raw(ownIdFieldOf(table))} = ${rowId.ownId}`;
  const [found] = await tx.$queryRaw<WriterAnd<RawRow & RowAsText>[]>`
    with writer as materialized (${keyOfWrite(scope, writer, { isLocked })}),
    found as (
      select ${Prisma.raw(table.shownAsText)}, ${name}::text as row_as_text
      from writer, ${name}
      where organization_id = ${scope.organizationId}::uuid and ${condition}
      ${isLocked ? Prisma.sql`for update of ${name}` : Prisma.empty})
    select refused, found.* from writer left join found on true`;
  return resultOf(found, ({ row_as_text: text, ...raw }: RawRow & RowAsText) => ({
    row: storedRow(table, { id: raw.id, content: contentFrom(table, raw), times: raw }),
    text,
  }));
}

type Change<Row> = { readonly before: RowToChange<Row>; readonly writer: Writer };

/**
 * Replaces the content of a row. The result's `value` is `null` if the row has changed since it was read. `updated_at` becomes
 * the time of the write, but at least a millisecond later than before. Throws a unique violation or a foreign key violation.
 */
export async function replaceRow<Row extends Stored>(
  tx: Transaction,
  scope: OrganizationScope,
  table: Table<Row>,
  { before: { row, text }, content, writer }: Change<Row> & { content: ContentOf<Row> },
): Promise<Checked<Row | null>> {
  const name = Prisma.raw(table.name);
  const assignments = fieldsOf(table, content).map(
    (each) => Prisma.sql`${Prisma.raw(each.field)} = ${parameterOf(each)}::${Prisma.raw(each.type)}`,
  );
  const [replaced] = await tx.$queryRaw<WriterAnd<Times>[]>`
    with writer as materialized (${keyOfWrite(scope, writer, { isLocked: true })}),
    written as (
      update ${name}
      set ${Prisma.join(assignments)},
          updated_at = greatest(time_of_write::timestamptz(3), updated_at + interval '1 millisecond')
      from writer
      where refused is null
        and organization_id = ${scope.organizationId}::uuid and id = ${row.id}::uuid and ${name}::text = ${text}
      returning ${Prisma.raw(TIMES)})
    select refused, written.* from writer left join written on true`;
  return resultOf(replaced, (times) => storedRow(table, { id: row.id, content, times }));
}

/** Deletes a row. The result's `value` is `null` if the row has changed since it was read. */
export async function deleteRow<Row extends Stored>(
  tx: Transaction,
  scope: OrganizationScope,
  table: Table<Row>,
  { before: { row, text }, writer }: Change<Row>,
): Promise<Checked<Times | null>> {
  const name = Prisma.raw(table.name);
  const [deleted] = await tx.$queryRaw<WriterAnd<Times>[]>`
    with writer as materialized (${keyOfWrite(scope, writer, { isLocked: true })}),
    deleted as (
      delete from ${name} using writer
      where refused is null
        and organization_id = ${scope.organizationId}::uuid and id = ${row.id}::uuid and ${name}::text = ${text}
      returning ${Prisma.raw(TIMES)})
    select refused, deleted.* from writer left join deleted on true`;
  return resultOf(deleted, (times) => times);
}

function parameterOf({ type, value }: ReturnType<typeof fieldsOf>[number]): unknown {
  return type === 'jsonb' ? JSON.stringify(value) : value;
}

/** Returns the content of a row whose JSON columns are strings. */
export function contentFrom<Row extends Stored>({ columns }: Table<Row>, raw: object): ContentOf<Row> {
  const values = new Map<string, unknown>(Object.entries(raw));
  const fields = Object.entries(columns).map(([field, type]) => {
    const value = values.get(field);
    if (value instanceof Date) return [field, value.toISOString()];
    return [field, type === 'jsonb' && typeof value === 'string' ? parseJson(value) : value];
  });
  // The assertion is safe, because the SQL query selects the columns of the table, which are the fields of its rows.
  return Object.fromEntries(fields) as ContentOf<Row>;
}

/**
 * A result row: the row of `keyOfWrite`, left-joined with a row of the table. If the join finds no row of the table, the columns
 * of the table are null.
 */
export type WriterAnd<Row> = RefusedColumn & (Row | { readonly [Name in keyof Row]: null });

/**
 * Returns the refusal of the key or, if the key is accepted, the result of `use` for the row, which is `null` if there is no row.
 */
function resultOf<Row extends Times, T>(row: WriterAnd<Row> | undefined, use: (row: Row) => T): Checked<T | null> {
  const refused = writeRefusalOf(row);
  if (refused !== null) return refused;
  return { kind: 'accepted', value: row !== undefined && isWhole(row) ? use(row) : null };
}

function isWhole<Row extends Times>(row: WriterAnd<Row>): row is RefusedColumn & Row {
  return row.created_at !== null;
}

/** The parsers for PostgreSQL's types. They parse JSON with `parseJson`, because V8's JSON.parse corrupts some keys. */
const TYPE_PARSERS = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.TIMESTAMPTZ) return rfc3339;
    return oid === pg.types.builtins.JSONB ? parseJson : pg.types.getTypeParser(oid, format);
  },
};
