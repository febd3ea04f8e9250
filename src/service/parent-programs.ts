import { createHash } from 'node:crypto';
import { v7 as newId } from 'uuid';
import type { Caller } from '../domain/caller.ts';
import { DomainError, invalidField } from '../domain/errors.ts';
import { parseJson } from '../domain/json.ts';
import {
  applyPatch,
  contentOf,
  isSameContent,
  MAX_METADATA_ENTRIES,
  type NewParentProgram,
  type ParentProgram,
  type ParentProgramPatch,
} from '../domain/parent-program.ts';
import type { Permission } from '../domain/role.ts';
import { type Database, type Transaction, transaction } from '../store/database.ts';
import { isUniqueViolation } from '../store/database-errors.ts';
import { claimIdempotencyKey, IDEMPOTENCY_HOURS, recordResult } from '../store/idempotency-keys.ts';
import { type Checked, checkKeyOfWrite, type Writer } from '../store/key-of-write.ts';
import {
  deleteParentProgram,
  findIdOfExternalId,
  insertParentProgram,
  type ReadParentProgram,
  readParentProgram,
  replaceParentProgram,
} from '../store/parent-programs.ts';
import { refuseWriter } from './authenticate.ts';
import type { KeyUses } from './last-used.ts';

/** `caller`: whose key was accepted with the head of the request. Each write checks the key again. */
export type WriteContext = {
  readonly db: Database;
  readonly caller: Pick<Caller, 'scope' | 'keyId'>;
  readonly keyUses: KeyUses;
};

const PERMISSION: Permission = 'parent_programs:write';

/** Throws unless the program is as the caller expects it. */
export type Precondition = (current: ParentProgram) => void;

export async function createParentProgram(
  context: WriteContext,
  { content, idempotencyKey }: { content: NewParentProgram; idempotencyKey: string | undefined },
): Promise<ParentProgram> {
  const { db } = context;
  return withExternalIdConflict(context, content.externalId, async () => {
    if (idempotencyKey === undefined) return create(db.prisma, context, content);
    return transaction(db, (tx) => createOnce(tx, context, { content, key: idempotencyKey }));
  });
}

async function createOnce(
  tx: Transaction,
  context: WriteContext,
  { content, key }: { content: NewParentProgram; key: string },
): Promise<ParentProgram> {
  const { scope } = context.caller;
  const requestHash = createHash('sha256').update(contentOf(content)).digest();
  const claim = await claimIdempotencyKey(tx, scope, { key, requestHash });
  if (claim.kind === 'used') {
    accepted(context, await checkKeyOfWrite(tx, scope, writerOf(context)));
    if (claim.requestHash.equals(requestHash)) return parseJson(claim.result);
    throw invalidField(
      'Idempotency-Key',
      `was used with another body within the last ${IDEMPOTENCY_HOURS} hours. Use a new key for a new request.`,
    );
  }
  const program = await create(tx, context, content);
  await recordResult(tx, scope, { key, result: JSON.stringify(program) });
  return program;
}

async function create(tx: Transaction, context: WriteContext, content: NewParentProgram): Promise<ParentProgram> {
  const program = { id: newId(), content, writer: writerOf(context) };
  return accepted(context, await insertParentProgram(tx, context.caller.scope, program));
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
  const change = { before, content, writer: writerOf(context) };
  return accepted(context, await replaceParentProgram(tx, context.caller.scope, change));
}

/** Null: the row changed between the read and the write. */
async function tryRemove(tx: Transaction, context: WriteContext, read: Read): Promise<object | null> {
  const before = await readMatching(tx, context, read);
  return accepted(context, await deleteParentProgram(tx, context.caller.scope, { before, writer: writerOf(context) }));
}

/** Throws unless the program exists and the precondition holds. */
async function readMatching(
  tx: Transaction,
  context: WriteContext,
  { id, isLocked, precondition }: Read,
): Promise<ReadParentProgram> {
  const checked = await readParentProgram(tx, context.caller.scope, { id, isLocked, writer: writerOf(context) });
  const read = accepted(context, checked);
  if (read === null) throw noSuchParentProgram();
  precondition(read.program);
  return read;
}

function writerOf({ caller: { keyId } }: WriteContext): Writer {
  return { keyId, permission: PERMISSION };
}

/** Throws if the key has been revoked meanwhile, or may not write for another reason. */
function accepted<T>({ caller, keyUses }: WriteContext, checked: Checked<T>): T {
  if (checked.kind === 'accepted') return checked.value;
  return refuseWriter(caller, { refused: checked, permission: PERMISSION, keyUses });
}

/** The same error for a program that does not exist and one of another organization: a difference would reveal that it exists. */
export function noSuchParentProgram(): DomainError {
  return new DomainError('not_found', 'There is no parent program with this id.');
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
