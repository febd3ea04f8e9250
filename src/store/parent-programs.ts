import pg from 'pg';
import { Prisma } from '../../generated/prisma/client.ts';
import type { ParentProgramModel } from '../../generated/prisma/models.ts';
import { parseJson } from '../domain/json.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Metadata, NewParentProgram, ParentProgram } from '../domain/parent-program.ts';
import type { Database, Transaction } from './database.ts';
import { rfc3339 } from './instant.ts';
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

/** Throws a unique violation if the organization already has the external id. */
export async function insertParentProgram(
  tx: Transaction,
  scope: OrganizationScope,
  { id, content }: { id: string; content: NewParentProgram },
): Promise<ParentProgram> {
  const times = await tx.parentProgram.create({
    data: { ...content, metadata: asJson(content.metadata), id, organizationId: scope.organizationId },
    select: { createdAt: true, updatedAt: true },
  });
  return asStored(id, content, times);
}

/** A program, and its whole row as PostgreSQL's text, which differs after any change. */
export type ReadParentProgram = { readonly program: ParentProgram; readonly row: string };

/** `isLocked`: locks the row until the end of the transaction, so it needs one. */
export async function readParentProgram(
  tx: Transaction,
  scope: OrganizationScope,
  { id, isLocked }: { id: string; isLocked: boolean },
): Promise<ReadParentProgram | null> {
  const [raw] = await tx.$queryRaw<RawProgram[]>`
    select ${Prisma.raw(`${TEXTS}, metadata::text, ${TIMES}`)}, parent_programs::text as row from parent_programs
    where organization_id = ${scope.organizationId}::uuid and id = ${id}::uuid
    ${isLocked ? Prisma.sql`for update` : Prisma.empty}`;
  if (raw === undefined) return null;
  return { program: asStored(id, { ...raw, metadata: parseJson(raw.metadata) }, raw), row: raw.row };
}

/**
 * Returns null if the row has changed since it was read. `updatedAt` becomes the present time, but at least a millisecond later
 * than before. Throws a unique violation if another program of the organization has the external id.
 */
export async function replaceParentProgram(
  tx: Transaction,
  scope: OrganizationScope,
  { before: { program, row }, content }: { before: ReadParentProgram; content: NewParentProgram },
): Promise<ParentProgram | null> {
  const { name, description, externalId, metadata } = content;
  const [times] = await tx.$queryRaw<Times[]>`
    update parent_programs
    set name = ${name}, description = ${description}, external_id = ${externalId},
        metadata = ${JSON.stringify(metadata)}::jsonb,
        updated_at = greatest(clock_timestamp()::timestamptz(3), updated_at + interval '1 millisecond')
    where organization_id = ${scope.organizationId}::uuid and id = ${program.id}::uuid and parent_programs::text = ${row}
    returning ${Prisma.raw(TIMES)}`;
  return times === undefined ? null : asStored(program.id, content, times);
}

export async function deleteParentProgram(tx: Transaction, scope: OrganizationScope, id: string): Promise<void> {
  await tx.parentProgram.deleteMany({ where: { organizationId: scope.organizationId, id } });
}

/**
 * Prisma copies an object by assignment, which loses an entry named "__proto__". An object with toJSON is not copied; this one
 * returns the form in which Prisma itself passes JSON on, as text.
 */
function asJson(metadata: Metadata) {
  return { toJSON: () => ({ $type: 'Json', value: JSON.stringify(metadata) }) };
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
