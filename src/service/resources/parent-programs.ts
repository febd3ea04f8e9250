import { DomainError, invalidField } from '../../domain/errors.ts';
import {
  applyPatch,
  isSameContent,
  MAX_METADATA_ENTRIES,
  type NewParentProgram,
  type ParentProgram,
  type ParentProgramPatch,
} from '../../domain/parent-program.ts';
import { type Database, type Transaction, transaction } from '../../store/database.ts';
import { isUniqueViolation } from '../../store/database-errors.ts';
import {
  deleteParentProgram,
  findIdOfExternalId,
  PARENT_PROGRAMS,
  type ReadParentProgram,
  readParentProgram,
  replaceParentProgram,
} from '../../store/parent-programs.ts';
import { accepted, createRow, noSuchRow, type WriteContext, writerOf } from './rows.ts';

/** Throws unless the program is as the caller expects it. */
export type Precondition = (current: ParentProgram) => void;

export async function createParentProgram(
  context: WriteContext,
  creation: { content: NewParentProgram; idempotencyKey: string | undefined },
): Promise<ParentProgram> {
  return withExternalIdConflict(context, creation.content.externalId, () =>
    createRow(context, PARENT_PROGRAMS, creation),
  );
}

type Change = { id: string; patch: ParentProgramPatch; precondition: Precondition };

/** Applies a merge patch to the present row. */
export async function updateParentProgram(context: WriteContext, change: Change): Promise<ParentProgram> {
  return withExternalIdConflict(context, change.patch.externalId, () =>
    rewrite(context.db, (tx, isLocked) => tryUpdate(tx, context, { ...change, isLocked })),
  );
}

export async function removeParentProgram(
  context: WriteContext,
  removal: { id: string; precondition: Precondition },
): Promise<void> {
  await rewrite(context.db, (tx, isLocked) => tryRemove(tx, context, { ...removal, isLocked }));
}

/**
 * Reads a row and writes it. The first attempt writes by one statement without a transaction: from a write to its commit all
 * other writers of the organization wait, and a transaction would make that longer.
 */
async function rewrite<T>(
  db: Database,
  attempt: (tx: Transaction, isLocked: boolean) => Promise<T | null>,
): Promise<T> {
  const written = await attempt(db.prisma, false);
  if (written !== null) return written;
  // Another write came between. The second attempt locks the row.
  return transaction(db, async (tx) => {
    const rewritten = await attempt(tx, true);
    if (rewritten === null) throw new Error('A locked parent program has changed.');
    return rewritten;
  });
}

type Read = { id: string; isLocked: boolean; precondition: Precondition };

/** Null: the row changed between the read and the write. */
async function tryUpdate(
  tx: Transaction,
  context: WriteContext,
  { patch, ...read }: Read & { patch: ParentProgramPatch },
): Promise<ParentProgram | null> {
  const before = await readMatching(tx, context, read);
  const content = applyPatch(before.program, patch);
  if (Object.keys(content.metadata).length > MAX_METADATA_ENTRIES) {
    throw invalidField(
      'metadata',
      `must have at most ${MAX_METADATA_ENTRIES} entries after the change. Remove some by setting them to null.`,
    );
  }
  // No write, so that `updated_at` stays and clients that sync by `updated_since` do not fetch the program again.
  if (isSameContent(before.program, content)) return before.program;
  const change = { before, content, writer: writerOf(context, PARENT_PROGRAMS) };
  return accepted(context, PARENT_PROGRAMS, await replaceParentProgram(tx, context.caller.scope, change));
}

/** Null: the row changed between the read and the write. */
async function tryRemove(tx: Transaction, context: WriteContext, read: Read): Promise<object | null> {
  const before = await readMatching(tx, context, read);
  return accepted(
    context,
    PARENT_PROGRAMS,
    await deleteParentProgram(tx, context.caller.scope, { before, writer: writerOf(context, PARENT_PROGRAMS) }),
  );
}

/** Throws unless the program exists and the precondition holds. */
async function readMatching(
  tx: Transaction,
  context: WriteContext,
  { id, isLocked, precondition }: Read,
): Promise<ReadParentProgram> {
  const checked = await readParentProgram(tx, context.caller.scope, {
    id,
    isLocked,
    writer: writerOf(context, PARENT_PROGRAMS),
  });
  const read = accepted(context, PARENT_PROGRAMS, checked);
  if (read === null) throw noSuchRow(PARENT_PROGRAMS);
  precondition(read.program);
  return read;
}

/** Turns a unique violation of the external id into a conflict that names the program that has it. */
async function withExternalIdConflict<T>(
  { db, caller }: WriteContext,
  externalId: string | null | undefined,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    const id = await findIdOfExternalId(db, caller.scope, externalId ?? '');
    // Null: it was deleted or changed meanwhile.
    const holder = id === null ? 'Another parent program' : `The parent program ${id}`;
    throw new DomainError(
      'conflict',
      `${holder} in your organization already has the external_id ${JSON.stringify(externalId)}. Use a different external_id, or update that parent program.`,
    );
  }
}
