import pg from 'pg';
import { Prisma } from '../../generated/prisma/client.ts';
import type { ParentProgramModel } from '../../generated/prisma/models.ts';
import { parseJson } from '../domain/json.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { NewParentProgram, ParentProgram } from '../domain/parent-program.ts';
import type { Database, Transaction } from './database.ts';
import { rfc3339 } from './instant.ts';
import { type Checked, keyOfWrite, type RefusedColumn, refusedKey, type Writer } from './key-of-write.ts';
import { VERSION } from './organization-version.ts';

const TEXTS = 'id, name, description, external_id as "externalId"';
const TIMES = 'created_at as "createdAt", updated_at as "updatedAt"';
/** Named as in ParentProgram; to be read with `types`. */
const COLUMNS = `${TEXTS}, metadata, ${TIMES}`;
const FIND = {
  name: 'find_parent_program',
  text: `select ${COLUMNS}, ${VERSION} as version from parent_programs where organization_id = $1 and id = $2`,
};

type Times = Pick<ParentProgramModel, 'createdAt' | 'updatedAt'>;
type RawProgram = Omit<ParentProgramModel, 'metadata'> & { metadata: string; row: string };
/** The key that writes, left-joined with a row: without one, all its columns are null. */
type WriterAnd<Row> = RefusedColumn & (Row | { readonly [Name in keyof Row]: null });

type Rewrite = { readonly before: ReadParentProgram; readonly writer: Writer };

/** `version`: the organization's, from the same snapshot as the program. */
export type FoundParentProgram = { readonly program: ParentProgram; readonly version: string };

export async function findParentProgram(
  db: Database,
  scope: OrganizationScope,
  id: string,
): Promise<FoundParentProgram | null> {
  const values = [scope.organizationId, id];
  const { rows } = await db.pool.query<ParentProgram & { version: string }>({ ...FIND, values, types });
  const [found] = rows;
  if (found === undefined) return null;
  const { version, ...program } = found;
  return { program, version };
}

/** The id of the organization's program that has the external id; null: none has. */
export async function findIdOfExternalId(
  { prisma }: Pick<Database, 'prisma'>,
  { organizationId }: OrganizationScope,
  externalId: string,
): Promise<string | null> {
  const found = await prisma.parentProgram.findUnique({
    where: { organizationId_externalId: { organizationId, externalId } },
    select: { id: true },
  });
  return found?.id ?? null;
}

/** Throws a unique violation if the organization already has the external id. */
export async function insertParentProgram(
  tx: Transaction,
  scope: OrganizationScope,
  { id, content, writer }: { id: string; content: NewParentProgram; writer: Writer },
): Promise<Checked<ParentProgram>> {
  const { name, description, externalId, metadata } = content;
  const [row] = await tx.$queryRaw<WriterAnd<Times>[]>`
    with writer as materialized (${keyOfWrite(scope, writer, { isLocked: true })}),
    written as (
      insert into parent_programs (organization_id, id, name, description, external_id, metadata)
      select ${scope.organizationId}::uuid, ${id}::uuid, ${name}::text, ${description}::text, ${externalId}::text,
             ${JSON.stringify(metadata)}::jsonb
      from writer where refused is null
      returning ${Prisma.raw(TIMES)})
    select * from writer left join written on true`;
  const inserted = checked(row, (times) => asStored(id, content, times));
  if (inserted.kind === 'refused') return inserted;
  if (inserted.value === null) throw new Error('An insert returned no row.');
  return { kind: 'accepted', value: inserted.value };
}

/** A program, and its whole row as PostgreSQL's text, which differs after any change. */
export type ReadParentProgram = { readonly program: ParentProgram; readonly row: string };

/**
 * Null: there is no such program. `isLocked`: locks the organization and the row until the end of the transaction, so it needs
 * one.
 */
export async function readParentProgram(
  tx: Transaction,
  scope: OrganizationScope,
  { id, writer, isLocked }: { id: string; writer: Writer; isLocked: boolean },
): Promise<Checked<ReadParentProgram | null>> {
  const [row] = await tx.$queryRaw<WriterAnd<RawProgram>[]>`
    with writer as materialized (${keyOfWrite(scope, writer, { isLocked })}),
    found as (
      select ${Prisma.raw(`${TEXTS}, metadata::text, ${TIMES}`)}, parent_programs::text as row
      from writer, parent_programs
      where organization_id = ${scope.organizationId}::uuid and id = ${id}::uuid
      ${isLocked ? Prisma.sql`for update of parent_programs` : Prisma.empty})
    select * from writer left join found on true`;
  return checked(row, (raw) => ({
    program: asStored(id, { ...raw, metadata: parseJson(raw.metadata) }, raw),
    row: raw.row,
  }));
}

/**
 * Null: the row has changed since it was read. `updatedAt` becomes the present time, but at least a millisecond later than
 * before. Throws a unique violation if another program of the organization has the external id.
 */
export async function replaceParentProgram(
  tx: Transaction,
  scope: OrganizationScope,
  { before: { program, row }, content, writer }: Rewrite & { content: NewParentProgram },
): Promise<Checked<ParentProgram | null>> {
  const { name, description, externalId, metadata } = content;
  const [written] = await tx.$queryRaw<WriterAnd<Times>[]>`
    with writer as materialized (${keyOfWrite(scope, writer, { isLocked: true })}),
    written as (
      update parent_programs
      set name = ${name}, description = ${description}, external_id = ${externalId},
          metadata = ${JSON.stringify(metadata)}::jsonb,
          updated_at = greatest(clock_timestamp()::timestamptz(3), updated_at + interval '1 millisecond')
      from writer
      where refused is null
        and organization_id = ${scope.organizationId}::uuid and id = ${program.id}::uuid and parent_programs::text = ${row}
      returning ${Prisma.raw(TIMES)})
    select * from writer left join written on true`;
  return checked(written, (times) => asStored(program.id, content, times));
}

/** Null: the row has changed since it was read. */
export async function deleteParentProgram(
  tx: Transaction,
  scope: OrganizationScope,
  { before: { program, row }, writer }: Rewrite,
): Promise<Checked<Times | null>> {
  const [deleted] = await tx.$queryRaw<WriterAnd<Times>[]>`
    with writer as materialized (${keyOfWrite(scope, writer, { isLocked: true })}),
    deleted as (
      delete from parent_programs using writer
      where refused is null
        and organization_id = ${scope.organizationId}::uuid and id = ${program.id}::uuid and parent_programs::text = ${row}
      returning ${Prisma.raw(TIMES)})
    select * from writer left join deleted on true`;
  return checked(deleted, (times) => times);
}

/** What `use` makes of the row; null if there is none. */
function checked<Row extends Times, T>(row: WriterAnd<Row> | undefined, use: (row: Row) => T): Checked<T | null> {
  const refused = refusedKey(row);
  if (refused !== null) return refused;
  return { kind: 'accepted', value: row !== undefined && isWhole(row) ? use(row) : null };
}

function isWhole<Row extends Times>(row: WriterAnd<Row>): row is RefusedColumn & Row {
  return row.createdAt !== null;
}

/** The program as it will be read back, with metadata in jsonb's order of keys, so that it has the same representation and ETag. */
function asStored(id: string, content: NewParentProgram, { createdAt, updatedAt }: Times): ParentProgram {
  const { name, description, externalId } = content;
  // jsonb orders keys by their length in bytes, then by their bytes.
  const entries = Object.entries(content.metadata).map(([key, value]) => ({ key, value, bytes: Buffer.from(key) }));
  entries.sort((a, b) => a.bytes.length - b.bytes.length || a.bytes.compare(b.bytes));
  return {
    id,
    name,
    description,
    externalId,
    metadata: Object.fromEntries(entries.map(({ key, value }) => [key, value])),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/** Parses JSON with `parseJson`, because V8's JSON.parse mistakes some keys. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.TIMESTAMPTZ) return rfc3339;
    return oid === pg.types.builtins.JSONB ? parseJson : pg.types.getTypeParser(oid, format);
  },
};
