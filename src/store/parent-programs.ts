import pg from 'pg';
import { Prisma } from '../../generated/prisma/client.ts';
import type { ParentProgramModel } from '../../generated/prisma/models.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Metadata, NewParentProgram, ParentProgram } from '../domain/parent-program.ts';
import type { Database, Transaction } from './database.ts';

/** As a ParentProgram names them; read them with `types`. */
export const COLUMNS = `id, name, description, external_id as "externalId", metadata, created_at as "createdAt", updated_at as "updatedAt"`;
const FIND = {
  name: 'find_parent_program',
  text: `select ${COLUMNS} from parent_programs where organization_id = $1 and id = $2`,
};

export async function findParentProgram(
  db: Database,
  scope: OrganizationScope,
  id: string,
): Promise<ParentProgram | null> {
  const { rows } = await db.pool.query<ParentProgram>({ ...FIND, values: [scope.organizationId, id], types });
  return rows[0] ?? null;
}

/** Throws a unique violation where the organization has the external id already. */
export async function insertParentProgram(
  tx: Transaction,
  scope: OrganizationScope,
  { id, content }: { id: string; content: NewParentProgram },
): Promise<ParentProgram> {
  const row = await tx.parentProgram.create({
    data: { ...content, metadata: asJson(content.metadata), id, organizationId: scope.organizationId },
  });
  return fromRow(row);
}

/**
 * The row, held against other writers until the transaction ends, and the instant that its next change shall bear:
 * now, or a millisecond after its last one where the clock has not moved.
 */
export async function lockParentProgram(tx: Transaction, scope: OrganizationScope, id: string) {
  const [locked] = await tx.$queryRaw<(ParentProgramModel & { nextUpdatedAt: Date })[]>`
    select ${Prisma.raw(COLUMNS)},
           greatest(clock_timestamp()::timestamptz(3), updated_at + interval '1 millisecond') as "nextUpdatedAt"
    from parent_programs
    where organization_id = ${scope.organizationId}::uuid and id = ${id}::uuid
    for update`;
  return locked === undefined ? null : { program: fromRow(locked), nextUpdatedAt: locked.nextUpdatedAt };
}

/** Throws a unique violation where another program of the organization has the external id. */
export async function replaceParentProgram(
  tx: Transaction,
  scope: OrganizationScope,
  { id, content, updatedAt }: { id: string; content: NewParentProgram; updatedAt: Date },
): Promise<ParentProgram> {
  const row = await tx.parentProgram.update({
    where: { organizationId_id: { organizationId: scope.organizationId, id } },
    data: { ...content, metadata: asJson(content.metadata), updatedAt },
  });
  return fromRow(row);
}

export async function deleteParentProgram(tx: Transaction, scope: OrganizationScope, id: string): Promise<void> {
  await tx.parentProgram.deleteMany({ where: { organizationId: scope.organizationId, id } });
}

/**
 * Prisma copies an object by assignment, which loses an entry named "__proto__". What has a toJSON is not copied but
 * taken in the form in which Prisma itself hands JSON on, as text.
 */
function asJson(metadata: Metadata) {
  return { toJSON: () => ({ $type: 'Json', value: JSON.stringify(metadata) }) };
}

/** Metadata is taken as the database has it, in its order of keys, so that equal programs have equal representations. */
function fromRow({
  id,
  name,
  description,
  externalId,
  metadata,
  createdAt,
  updatedAt,
}: ParentProgramModel): ParentProgram {
  const entries = Object.entries(Object(metadata)).map(([key, value]) => [key, String(value)]);
  return {
    ...{ id, name, description, externalId, metadata: Object.fromEntries(entries) },
    ...{ createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() },
  };
}

export const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.TIMESTAMPTZ ? rfc3339 : pg.types.getTypeParser(oid, format),
};

/** "2026-03-01 12:00:00.5+00", as PostgreSQL prints it in UTC, to "2026-03-01T12:00:00.500Z". */
function rfc3339(text: string): string {
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0')}Z`;
}
