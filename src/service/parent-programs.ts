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
import { type Database, isUniqueViolation, type Transaction } from '../store/database.ts';
import { claimIdempotencyKey, recordAnswer } from '../store/idempotency-keys.ts';
import {
  deleteParentProgram,
  findParentProgram,
  insertParentProgram,
  lockParentProgram,
  replaceParentProgram,
} from '../store/parent-programs.ts';

type Acting = { db: Database; scope: OrganizationScope };

/** What the caller last saw; false: somebody has changed it since. */
export type Precondition = (current: ParentProgram) => boolean;

export async function createParentProgram(
  { db, scope }: Acting,
  { content, idempotencyKey }: { content: NewParentProgram; idempotencyKey: string | undefined },
): Promise<ParentProgram> {
  return refusingTakenExternalId(content.externalId, async () => {
    if (idempotencyKey === undefined) return insertParentProgram(db.prisma, scope, { id: newId(), content });
    return db.prisma.$transaction((tx) => createOnce(tx, scope, { content, key: idempotencyKey }));
  });
}

async function createOnce(
  tx: Transaction,
  scope: OrganizationScope,
  { content, key }: { content: NewParentProgram; key: string },
): Promise<ParentProgram> {
  const requestHash = createHash('sha256').update(contentOf(content)).digest();
  const claim = await claimIdempotencyKey(tx, scope, { key, requestHash });
  if (claim.kind === 'answered') {
    if (claim.requestHash.equals(requestHash)) return parseJson(claim.answer);
    throw invalidField(
      'Idempotency-Key',
      'was used with another body within the last 24 hours. Use a new key for a new request.',
    );
  }
  const program = await insertParentProgram(tx, scope, { id: newId(), content });
  await recordAnswer(tx, scope, { key, answer: JSON.stringify(program) });
  return program;
}

type Change = { id: string; patch: ParentProgramPatch; precondition: Precondition };

/**
 * Applies a merge patch to the row as it is now; of two that build on the same state, the second is refused. The first try
 * holds no lock: from a write to its commit all other writers of the organization wait, so it is best one statement.
 */
export async function updateParentProgram({ db, scope }: Acting, change: Change): Promise<ParentProgram> {
  return refusingTakenExternalId(change.patch.externalId, async () => {
    const found = await findParentProgram(db, scope, change.id);
    const changed = await replaceChanged(db.prisma, scope, { before: found, ...change });
    // Somebody else was quicker. With the row locked, nobody is.
    return changed ?? db.prisma.$transaction((tx) => updateLocked(tx, scope, change));
  });
}

async function updateLocked(tx: Transaction, scope: OrganizationScope, change: Change): Promise<ParentProgram> {
  const locked = await lockParentProgram(tx, scope, change.id);
  const changed = await replaceChanged(tx, scope, { before: locked, ...change });
  if (changed === null) throw new Error('A locked parent program has changed.');
  return changed;
}

/** Null: the row is not as it was before any more. */
async function replaceChanged(
  tx: Transaction,
  scope: OrganizationScope,
  { before, patch, precondition }: Change & { before: ParentProgram | null },
): Promise<ParentProgram | null> {
  const program = judged(before, precondition);
  const content = applyPatch(program, patch);
  if (Object.keys(content.metadata).length > MAX_METADATA_ENTRIES) {
    throw invalidField(
      'metadata',
      `must have at most ${MAX_METADATA_ENTRIES} entries after the change. Remove some by setting them to null.`,
    );
  }
  // A change that changes nothing leaves no trace, so that whoever syncs by updated_since is not woken.
  if (isSameContent(program, content)) return program;
  return replaceParentProgram(tx, scope, { before: program, content });
}

export async function removeParentProgram(
  { db, scope }: Acting,
  { id, precondition }: { id: string; precondition: Precondition },
): Promise<void> {
  await db.prisma.$transaction(async (tx) => {
    judged(await lockParentProgram(tx, scope, id), precondition);
    await deleteParentProgram(tx, scope, id);
  });
}

/** The program, if it is there and as whoever asks last saw it. */
function judged(program: ParentProgram | null, precondition: Precondition): ParentProgram {
  if (program === null) throw noSuchParentProgram();
  if (!precondition(program)) {
    throw new DomainError(
      'precondition_failed',
      'The parent program has changed since you read it. Read it again, then retry with its new ETag in If-Match.',
    );
  }
  return program;
}

/** The same for one that does not exist and one of another organization: a difference would reveal that it exists. */
export function noSuchParentProgram(): DomainError {
  return new DomainError('not_found', 'There is no parent program with this id.');
}

async function refusingTakenExternalId<T>(externalId: string | null | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new DomainError(
      'conflict',
      `Another parent program of your organization has the external_id ${JSON.stringify(externalId)}. Use another one, or update that program.`,
    );
  }
}
