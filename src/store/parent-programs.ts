import pg from 'pg';
import { Prisma } from '../../generated/prisma/client.ts';
import type { ParentProgramModel } from '../../generated/prisma/models.ts';
import { parseJson } from '../domain/json.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Metadata, NewParentProgram, ParentProgram } from '../domain/parent-program.ts';
import type { Database, Transaction } from './database.ts';

const TEXTS = 'id, name, description, external_id as "externalId"';
const TIMES = 'created_at as "createdAt", updated_at as "updatedAt"';
/** As a ParentProgram names them; read them with `types`. */
export const COLUMNS = `${TEXTS}, metadata, ${TIMES}`;
const FIND = {
  name: 'find_parent_program',
  text: `select ${COLUMNS} from parent_programs where organization_id = $1 and id = $2`,
};

const WRITTEN = { createdAt: true, updatedAt: true } as const;
type Times = Pick<ParentProgramModel, keyof typeof WRITTEN>;
type Locked = Omit<ParentProgramModel, 'metadata'> & { metadata: string };

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
  const times = await tx.parentProgram.create({
    data: { ...content, metadata: asJson(content.metadata), id, organizationId: scope.organizationId },
    select: WRITTEN,
  });
  return asStored(id, content, times);
}

/** The row, held against other writers until the transaction ends. */
export async function lockParentProgram(
  tx: Transaction,
  scope: OrganizationScope,
  id: string,
): Promise<ParentProgram | null> {
  const [locked] = await tx.$queryRaw<Locked[]>`
    select ${Prisma.raw(`${TEXTS}, metadata::text, ${TIMES}`)} from parent_programs
    where organization_id = ${scope.organizationId}::uuid and id = ${id}::uuid
    for update`;
  return locked === undefined ? null : asStored(id, { ...locked, metadata: parseJson(locked.metadata) }, locked);
}

/**
 * Null: the row is not as it was read any more; with the content, because not everybody who writes SQL by hand sets the time.
 * The change's instant is now, or a millisecond after the last one where the clock has not moved. Throws a unique violation
 * where another program of the organization has the external id.
 */
export async function replaceParentProgram(
  tx: Transaction,
  scope: OrganizationScope,
  { before, content }: { before: ParentProgram; content: NewParentProgram },
): Promise<ParentProgram | null> {
  const [times] = await tx.$queryRaw<Times[]>`
    update parent_programs
    set name = ${content.name}, description = ${content.description}, external_id = ${content.externalId},
        metadata = ${JSON.stringify(content.metadata)}::jsonb,
        updated_at = greatest(clock_timestamp()::timestamptz(3), updated_at + interval '1 millisecond')
    where organization_id = ${scope.organizationId}::uuid and id = ${before.id}::uuid
      and updated_at = ${before.updatedAt}::timestamptz and metadata = ${JSON.stringify(before.metadata)}::jsonb
      and (name, description, external_id)
        is not distinct from (${before.name}, ${before.description}, ${before.externalId})
    returning ${Prisma.raw(TIMES)}`;
  return times === undefined ? null : asStored(before.id, content, times);
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

/** As it is read back: metadata in the database's order of keys, so that equal programs have equal representations. */
function asStored(id: string, content: NewParentProgram, { createdAt, updatedAt }: Times): ParentProgram {
  const { name, description, externalId } = content;
  // jsonb's order: the shorter key first, of two as long the one with the lesser bytes.
  const entries = Object.entries(content.metadata).map(([key, value]) => ({ key, value, bytes: Buffer.from(key) }));
  entries.sort((a, b) => a.bytes.length - b.bytes.length || a.bytes.compare(b.bytes));
  return {
    ...{ id, name, description, externalId },
    metadata: Object.fromEntries(entries.map(({ key, value }) => [key, value])),
    ...{ createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() },
  };
}

/** JSON by neither pg's nor Prisma's own parser: see parseJson. */
export const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.TIMESTAMPTZ) return rfc3339;
    return oid === pg.types.builtins.JSONB ? parseJson : pg.types.getTypeParser(oid, format);
  },
};

/** "2026-03-01 12:00:00.5+00", as PostgreSQL prints it in UTC, to "2026-03-01T12:00:00.500Z". */
function rfc3339(text: string): string {
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0')}Z`;
}
