import { Prisma } from '../../../generated/prisma/client.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Transaction } from '../sql/database.ts';
import { type Checked, keyOfWrite, type Writer, writeRefusalOf } from './key-of-write.ts';
import { contentFrom, type RawRow, type WriterAnd } from './rows.ts';
import { type ContentOf, type Stored, storedRow, type Table, type Times } from './table.ts';

// SQL statements on many rows of any resource's table. A transaction with several of these statements locks the organization
// first.

/** The rows to find: those with one of these ids, or with one of these values of a unique field. */
export type Sought = { readonly ids: readonly string[]; readonly unique: ReadonlyMap<string, readonly string[]> };

/** Locks the rows until the transaction ends, in the order of their ids, and returns them. */
export async function lockRows<Row extends Stored>(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  table: Table<Row>,
  { ids, unique }: Sought,
): Promise<Row[]> {
  const byValue = [...unique].map(([field, values]) => Prisma.sql` or ${Prisma.raw(field)} = any(${values})`);
  const found = await tx.$queryRaw<RawRow[]>`
    select ${Prisma.raw(table.shownAsText)} from ${Prisma.raw(table.name)}
    where organization_id = ${organizationId}::uuid and (id = any(${ids}::uuid[])${Prisma.join(byValue, '')})
    order by id for update`;
  return found.map((raw) => storedRow(table, { id: raw.id, content: contentFrom(table, raw), times: raw }));
}

/** Returns the given ids that belong to rows of the organization, in lower case. */
export async function listKnownIds(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { table, ids }: { table: string; ids: readonly string[] },
): Promise<string[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    select id::text from ${Prisma.raw(table)} where organization_id = ${organizationId}::uuid and id = any(${ids}::uuid[])`;
  return rows.map(({ id }) => id);
}

/** A row that a batch changes. `place` is the position of the change in the batch, which determines the order of the events. */
export type ChangedRow = { readonly id: string; readonly place: number };

/** A row with its content after the batch. */
export type Written<Row extends Stored> = ChangedRow & { readonly content: ContentOf<Row> };

type Writing<T> = { readonly rows: readonly T[]; readonly writer: Writer };

/** The creation and update times of written rows, by id. */
export type TimesById = ReadonlyMap<string, Times>;

/** Inserts the rows in their order. Throws a unique violation or a foreign key violation. */
export function insertRows<Row extends Stored>(
  tx: Transaction,
  scope: OrganizationScope,
  table: Table<Row>,
  { rows, writer }: Writing<Written<Row>>,
): Promise<Checked<TimesById>> {
  const columns = columnsOf(table);
  return write(tx, scope, {
    writer,
    rows,
    statement: Prisma.sql`
      insert into ${Prisma.raw(table.name)} (organization_id, ${Prisma.raw(columns)}, created_at, updated_at)
      select ${scope.organizationId}::uuid, ${Prisma.raw(columns)}, ${TIME_OF_BATCH}, ${TIME_OF_BATCH}
      from writer, ${recordsOf(table, rows)}
      where refused is null
      returning id, created_at, updated_at`,
  });
}

/**
 * Replaces the content of the rows. Each `updated_at` becomes the time of the write, but at least a millisecond later than
 * before. Throws a unique violation or a foreign key violation.
 */
export function replaceRows<Row extends Stored>(
  tx: Transaction,
  scope: OrganizationScope,
  table: Table<Row>,
  { rows, writer }: Writing<Written<Row>>,
): Promise<Checked<TimesById>> {
  const assignments = Object.keys(table.columns).map((field) => `${field} = r.${field}`);
  return write(tx, scope, {
    writer,
    rows,
    statement: Prisma.sql`
      update ${Prisma.raw(table.name)} t
      set ${Prisma.raw(assignments.join(', '))},
          updated_at = greatest(${TIME_OF_BATCH}::timestamptz(3), t.updated_at + interval '1 millisecond')
      from writer, ${recordsOf(table, rows)}
      where refused is null and t.organization_id = ${scope.organizationId}::uuid and t.id = r.id
      returning t.id, t.created_at, t.updated_at`,
  });
}

export function deleteRows<Row extends Stored>(
  tx: Transaction,
  scope: OrganizationScope,
  table: Table<Row>,
  { rows, writer }: Writing<ChangedRow>,
): Promise<Checked<TimesById>> {
  return write(tx, scope, {
    writer,
    rows,
    statement: Prisma.sql`
      delete from ${Prisma.raw(table.name)} t using writer
      where refused is null and t.organization_id = ${scope.organizationId}::uuid and t.id = any(${rows.map(({ id }) => id)}::uuid[])
      returning t.id, t.created_at, t.updated_at`,
  });
}

/**
 * The time of the batch's first statement that has written, which a trigger records. All statements of a batch use this time, so
 * that no event is earlier than its change.
 */
const TIME_OF_BATCH = Prisma.sql`coalesce(
  to_timestamp(nullif(current_setting('charter.version_of_batch', true), '')::bigint / 1000000.0), time_of_write)`;

/** Returns the position of each row's change in the batch, by which the triggers order the events. */
function placesOf(rows: readonly ChangedRow[]): string {
  return JSON.stringify(Object.fromEntries(rows.map(({ id, place }) => [id, place])));
}

/** Runs a statement that writes rows if the key may write, and returns the times of the rows. */
async function write(
  tx: Transaction,
  scope: OrganizationScope,
  { writer, rows, statement }: Writing<ChangedRow> & { statement: Prisma.Sql },
): Promise<Checked<TimesById>> {
  const written = await tx.$queryRaw<WriterAnd<Times & { readonly id: string }>[]>`
    with writer as materialized (${keyOfWrite(scope, writer, { isLocked: true })}),
    places as materialized (select set_config('charter.places_in_batch', ${placesOf(rows)}, true)),
    written as (${statement})
    select refused, written.* from writer cross join places left join written on true`;
  const refused = writeRefusalOf(written[0]);
  if (refused !== null) return refused;
  const times = written.flatMap(({ id, created_at, updated_at }): [string, Times][] =>
    id === null || created_at === null || updated_at === null ? [] : [[id, { created_at, updated_at }]],
  );
  return { kind: 'accepted', value: new Map(times) };
}

/** Returns SQL for the rows. All rows are in one parameter, so that the SQL is the same for any number of rows. */
function recordsOf<Row extends Stored>(table: Table<Row>, rows: readonly Written<Row>[]): Prisma.Sql {
  const records = rows.map(({ id, content }) => ({ id, ...content }));
  const types = Object.entries(table.columns).map(([field, type]) => `${field} ${type}`);
  return Prisma.sql`json_to_recordset(${JSON.stringify(records)}::json) as r (id uuid, ${Prisma.raw(types.join(', '))})`;
}

function columnsOf<Row extends Stored>({ columns }: Table<Row>): string {
  return ['id', ...Object.keys(columns)].join(', ');
}
