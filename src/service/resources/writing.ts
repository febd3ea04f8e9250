import { createHash } from 'node:crypto';
import type { Caller } from '../../domain/audit/actor.ts';
import { DomainError, invalidField } from '../../domain/errors.ts';
import { claimIdempotencyKey, IDEMPOTENCY_HOURS, recordResult } from '../../store/resources/idempotency-keys.ts';
import { type Checked, checkKeyOfWrite, type Writer } from '../../store/resources/key-of-write.ts';
import { findIdByUnique } from '../../store/resources/rows.ts';
import type { Stored, Table } from '../../store/resources/table.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import { violatedReference, violatedUnique } from '../../store/sql/database-errors.ts';
import type { KeyUses } from '../../traffic/last-used.ts';
import { rejectWriter } from '../authenticate.ts';

/** What a write needs. The key of `caller` was accepted when the head of the request arrived; each write checks the key again. */
export type WriteContext = {
  readonly db: Database;
  readonly caller: Pick<Caller, 'scope' | 'keyId' | 'integration' | 'clientAddress'>;
  readonly keyUses: KeyUses;
};

type WritesTo = Pick<Table<Stored>, 'writePermission'>;

export function writerOf({ caller: { keyId, clientAddress } }: WriteContext, { writePermission }: WritesTo): Writer {
  return { keyId, permission: writePermission, address: clientAddress() };
}

/**
 * Returns the value of a write. Throws if the write was refused because the key was revoked meanwhile, or may not write for
 * another reason.
 */
export function requireAccepted<T>(
  { caller, keyUses }: WriteContext,
  { writePermission }: WritesTo,
  checked: Checked<T>,
): T {
  if (checked.kind === 'accepted') return checked.value;
  return rejectWriter(caller, { refused: checked, permission: writePermission, keyUses });
}

/**
 * Runs `write`, and translates its constraint violations. Throws "conflict" if another row of the organization has the value of a
 * unique field, and "invalid" if a reference names a row that the organization does not have.
 */
export async function translateViolations<Row extends Stored, T>(
  context: WriteContext,
  table: Table<Row>,
  content: object,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw missingReference(error, table) ?? (await conflict(error, context, table, content)) ?? error;
  }
}

/** Returns the error for a reference to a missing row, or `null` if the error has another cause. */
function missingReference<Row extends Stored>(error: unknown, { references = {} }: Table<Row>): DomainError | null {
  const constraint = violatedReference(error);
  const field = Object.keys(references).find((each) => constraint?.includes(`_${each}_`));
  return field === undefined ? null : missingReferenceError(field);
}

/** Returns the error for a field such as "parent_program_id" if the organization has no row with the id in the field. */
export function missingReferenceError(field: string): DomainError {
  const noun = field.replace(/_id$/, '').replaceAll('_', ' ');
  return invalidField(field, `is not the id of any ${noun} of your organization.`);
}

/** Returns the error that names the row with the same unique value, or `null` if the error has another cause. */
async function conflict<Row extends Stored>(
  error: unknown,
  { db, caller }: WriteContext,
  table: Table<Row>,
  content: object,
): Promise<DomainError | null> {
  const index = violatedUnique(error);
  const field = table.unique?.find((each) => index?.includes(`_${each}_`));
  if (field === undefined) return null;
  const value = new Map(Object.entries(content)).get(field);
  const id = await findIdByUnique(db, caller.scope, table, { field, value });
  return takenError(table, { field, value, id });
}

/** Returns the error for a unique value that another row has. `id` is `null` if that row was deleted or changed meanwhile. */
export function takenError<Row extends Stored>(
  { noun }: Pick<Table<Row>, 'noun'>,
  { field, value, id }: { field: string; value: unknown; id: string | null },
): DomainError {
  const holder = id === null ? `Another ${noun}` : `The ${noun} ${id}`;
  return new DomainError(
    'conflict',
    `${holder} in your organization already has the ${field} ${JSON.stringify(value)}. Use a different ${field}, or update that ${noun}.`,
  );
}

/** The parts of a request that make its repetition safe. */
export type Repeatable = {
  /** The idempotency key. A request with a key does its work only once, however often the request is sent. */
  readonly idempotencyKey: string | undefined;
  /** Returns the body before default values were added, in a form that is the same for equal JSON. */
  readonly sentBody: () => string;
};

export type Once = {
  readonly key: string;
  /**
   * A text that identifies the request. It contains the table and the operation, because a client may use the same key for
   * another table or operation.
   */
  readonly request: string;
  /** The text by which servers of version 1.0 identify the request. Default: `request`. */
  readonly filled?: string;
  /** Does the work, and returns the result, which is stored for repeated requests. */
  readonly work: () => Promise<string>;
};

/**
 * Does the work of a request only once, however often the request is sent. Throws "invalid" if the key was used for another
 * request.
 */
export async function runOnce(
  tx: Transaction,
  context: WriteContext,
  table: Pick<Table<Stored>, 'writePermission'>,
  { key, request, filled = request, work }: Once,
): Promise<string> {
  const { scope } = context.caller;
  const claim = await claimIdempotencyKey(tx, scope, { key, requestHash: sha256(request), filledHash: sha256(filled) });
  if (claim.kind === 'used') {
    const writer = writerOf(context, table);
    requireAccepted(context, table, await checkKeyOfWrite(tx, scope, { ...writer, isLocked: false }));
    if (claim.isSameRequest) return claim.result;
    throw usedKeyError();
  }
  const result = await work();
  await recordResult(tx, scope, { key, result });
  return result;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Returns the error for an idempotency key that was used for another request. */
export function usedKeyError(): DomainError {
  return invalidField(
    'Idempotency-Key',
    `was used with another body within the last ${IDEMPOTENCY_HOURS} hours. Use a new key for a new request.`,
  );
}
