import { Prisma } from '../../generated/prisma/client.ts';
import type { ParentProgramModel } from '../../generated/prisma/models.ts';
import { parseJson } from '../domain/json.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { NewParentProgram, ParentProgram } from '../domain/parent-program.ts';
import type { Database, Transaction } from './database.ts';
import { type Checked, keyOfWrite, type Writer } from './key-of-write.ts';
import { checked, defineTable, storedRow, TIMES, type Times, type WriterAnd } from './table.ts';

export const PARENT_PROGRAMS = defineTable<ParentProgram>({
  name: 'parent_programs',
  noun: 'parent program',
  writePermission: 'parent_programs:write',
  columns: { name: 'text', description: 'text', externalId: 'text', metadata: 'jsonb' },
});

type RawProgram = Omit<ParentProgramModel, 'metadata'> & { metadata: string; row: string };

type Rewrite = { readonly before: ReadParentProgram; readonly writer: Writer };

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
      select ${Prisma.raw(PARENT_PROGRAMS.fieldsAsText)}, parent_programs::text as row
      from writer, parent_programs
      where organization_id = ${scope.organizationId}::uuid and id = ${id}::uuid
      ${isLocked ? Prisma.sql`for update of parent_programs` : Prisma.empty})
    select refused, found.* from writer left join found on true`;
  return checked(row, (raw: RawProgram) => ({
    program: storedRow(PARENT_PROGRAMS, {
      id: raw.id,
      content: { ...raw, metadata: parseJson(raw.metadata) },
      times: raw,
    }),
    row: raw.row,
  }));
}

/**
 * Null: the row has changed since it was read. `updatedAt` becomes the time of the write, but at least a millisecond later
 * than before. Throws a unique violation if another program of the organization has the external id.
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
          updated_at = greatest(time_of_write::timestamptz(3), updated_at + interval '1 millisecond')
      from writer
      where refused is null
        and organization_id = ${scope.organizationId}::uuid and id = ${program.id}::uuid and parent_programs::text = ${row}
      returning ${Prisma.raw(TIMES)})
    select refused, written.* from writer left join written on true`;
  return checked(written, (times) => storedRow(PARENT_PROGRAMS, { id: program.id, content, times }));
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
    select refused, deleted.* from writer left join deleted on true`;
  return checked(deleted, (times) => times);
}
