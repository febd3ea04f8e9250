import { createHash } from 'node:crypto';
import { v7 as newId } from 'uuid';
import { DomainError, invalidField } from '../domain/errors.ts';
import { parseJson } from '../domain/json.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import {
  applyPatch,
  contentOf,
  isSameContent,
  MAX_METADATA_ENTRIES,
  type NewParentProgram,
  type ParentProgram,
  type ParentProgramPatch,
} from '../domain/parent-program.ts';
import { type Database, type Transaction, transaction } from '../store/database.ts';
import { isUniqueViolation } from '../store/database-errors.ts';
import { claimIdempotencyKey, recordResult } from '../store/idempotency-keys.ts';
import {
  deleteParentProgram,
  insertParentProgram,
  type ReadParentProgram,
  readParentProgram,
  replaceParentProgram,
} from '../store/parent-programs.ts';

type Context = { db: Database; scope: OrganizationScope };

/** False: the program has changed since the caller read it. */
export type Precondition = (current: ParentProgram) => boolean;

export async function createParentProgram(
  { db, scope }: Context,
  { content, idempotencyKey }: { content: NewParentProgram; idempotencyKey: string | undefined },
): Promise<ParentProgram> {
  return withExternalIdConflict(content.externalId, async () => {
    if (idempotencyKey === undefined) return insertParentProgram(db.prisma, scope, { id: newId(), content });
    return transaction(db, (tx) => createOnce(tx, scope, { content, key: idempotencyKey }));
  });
}

async function createOnce(
  tx: Transaction,
  scope: OrganizationScope,
  { content, key }: { content: NewParentProgram; key: string },
): Promise<ParentProgram> {
  const requestHash = createHash('sha256').update(contentOf(content)).digest();
  const claim = await claimIdempotencyKey(tx, scope, { key, requestHash });
  if (claim.kind === 'used') {
    if (claim.requestHash.equals(requestHash)) return parseJson(claim.result);
    throw invalidField(
      'Idempotency-Key',
      'was used with another body within the last 24 hours. Use a new key for a new request.',
    );
  }
  const program = await insertParentProgram(tx, scope, { id: newId(), content });
  await recordResult(tx, scope, { key, result: JSON.stringify(program) });
  return program;
}

type Change = { id: string; patch: ParentProgramPatch; precondition: Precondition };

/**
 * Applies a merge patch to the present row. The first attempt writes by one statement without a transaction: from a write to
 * its commit all other writers of the organization wait, and a transaction would make that longer.
 */
export async function updateParentProgram({ db, scope }: Context, change: Change): Promise<ParentProgram> {
  return withExternalIdConflict(change.patch.externalId, async () => {
    const changed = await tryUpdate(db.prisma, scope, { ...change, isLocked: false });
    // Another write came between. The second attempt locks the row.
    return changed ?? transaction(db, (tx) => updateLocked(tx, scope, change));
  });
}

async function updateLocked(tx: Transaction, scope: OrganizationScope, change: Change): Promise<ParentProgram> {
  const changed = await tryUpdate(tx, scope, { ...change, isLocked: true });
  if (changed === null) throw new Error('A locked parent program has changed.');
  return changed;
}

/** Null: the row changed between the read and the write. */
async function tryUpdate(
  tx: Transaction,
  scope: OrganizationScope,
  { id, isLocked, patch, precondition }: Change & { isLocked: boolean },
): Promise<ParentProgram | null> {
  const before = requireMatch(await readParentProgram(tx, scope, { id, isLocked }), precondition);
  const content = applyPatch(before.program, patch);
  if (Object.keys(content.metadata).length > MAX_METADATA_ENTRIES) {
    throw invalidField(
      'metadata',
      `must have at most ${MAX_METADATA_ENTRIES} entries after the change. Remove some by setting them to null.`,
    );
  }
  // No write, so that `updated_at` stays and clients that sync by `updated_since` do not fetch the program again.
  if (isSameContent(before.program, content)) return before.program;
  return replaceParentProgram(tx, scope, { before, content });
}

export async function removeParentProgram(
  { db, scope }: Context,
  { id, precondition }: { id: string; precondition: Precondition },
): Promise<void> {
  await transaction(db, async (tx) => {
    requireMatch(await readParentProgram(tx, scope, { id, isLocked: true }), precondition);
    await deleteParentProgram(tx, scope, id);
  });
}

/** Throws unless the program exists and the precondition holds. */
function requireMatch(read: ReadParentProgram | null, precondition: Precondition): ReadParentProgram {
  if (read === null) throw noSuchParentProgram();
  if (!precondition(read.program)) {
    throw new DomainError(
      'precondition_failed',
      'The parent program has changed since you read it. Read it again, then retry with its new ETag in If-Match.',
    );
  }
  return read;
}

/** The same error for a program that does not exist and one of another organization: a difference would reveal that it exists. */
export function noSuchParentProgram(): DomainError {
  return new DomainError('not_found', 'There is no parent program with this id.');
}

/** Turns a unique violation of the external id into a conflict. */
async function withExternalIdConflict<T>(externalId: string | null | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new DomainError(
      'conflict',
      `Another parent program in your organization already has the external_id ${JSON.stringify(externalId)}. Use a different external_id, or update that parent program.`,
    );
  }
}
