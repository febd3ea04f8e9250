import { createHash } from 'node:crypto';
import { v7 as newId } from 'uuid';
import type { Caller } from '../../domain/caller.ts';
import { DomainError, invalidField } from '../../domain/errors.ts';
import { parseJson } from '../../domain/json.ts';
import type { OrganizationScope } from '../../domain/organization-scope.ts';
import { type Database, type Transaction, transaction } from '../../store/database.ts';
import { violatedReference } from '../../store/database-errors.ts';
import { claimIdempotencyKey, IDEMPOTENCY_HOURS, recordResult } from '../../store/idempotency-keys.ts';
import { type Checked, checkKeyOfWrite, type Writer } from '../../store/key-of-write.ts';
import {
  type ContentOf,
  columnOf,
  type Found,
  findRow,
  insertRow,
  type Stored,
  storedContent,
  type Table,
} from '../../store/table.ts';
import type { KeyUses } from '../../traffic/last-used.ts';
import { refuseWriter } from '../authenticate.ts';

// What the operations of every resource have in common.

/** `caller`: whose key was accepted with the head of the request. Each write checks the key again. */
export type WriteContext = {
  readonly db: Database;
  readonly caller: Pick<Caller, 'scope' | 'keyId'>;
  readonly keyUses: KeyUses;
};

/** Throws if the organization has no such row. */
export async function getRow<Row extends Stored>(
  db: Database,
  scope: OrganizationScope,
  table: Table<Row>,
  id: string,
): Promise<Found<Row>> {
  const found = await findRow(db, scope, table, id);
  if (found === null) throw noSuchRow(table);
  return found;
}

/** The same error for a row that does not exist and one of another organization: a difference would reveal that it exists. */
export function noSuchRow({ noun }: Pick<Table<Stored>, 'noun'>): DomainError {
  return new DomainError('not_found', `There is no ${noun} with this id.`);
}

type Creation<Row extends Stored> = {
  readonly content: ContentOf<Row>;
  /** With a key, the same request creates one row, however often it is sent. */
  readonly idempotencyKey: string | undefined;
};

/** Throws a unique violation, and "invalid" for a reference to a row that the organization does not have. */
export async function createRow<Row extends Stored>(
  context: WriteContext,
  table: Table<Row>,
  { content, idempotencyKey }: Creation<Row>,
): Promise<Row> {
  const { db } = context;
  try {
    if (idempotencyKey === undefined) return await insert(db.prisma, context, table, content);
    return await transaction(db, (tx) => createOnce(tx, context, table, { content, key: idempotencyKey }));
  } catch (error) {
    throw missingReference(error, table) ?? error;
  }
}

async function createOnce<Row extends Stored>(
  tx: Transaction,
  context: WriteContext,
  table: Table<Row>,
  { content, key }: { content: ContentOf<Row>; key: string },
): Promise<Row> {
  const { scope } = context.caller;
  // With the table, because the key may have been used for another resource.
  const request = JSON.stringify([table.name, storedContent(table, content)]);
  const requestHash = createHash('sha256').update(request).digest();
  const claim = await claimIdempotencyKey(tx, scope, { key, requestHash });
  if (claim.kind === 'used') {
    accepted(context, table, await checkKeyOfWrite(tx, scope, writerOf(context, table)));
    if (claim.requestHash.equals(requestHash)) return parseJson(claim.result);
    throw invalidField(
      'Idempotency-Key',
      `was used with another body within the last ${IDEMPOTENCY_HOURS} hours. Use a new key for a new request.`,
    );
  }
  const row = await insert(tx, context, table, content);
  await recordResult(tx, scope, { key, result: JSON.stringify(row) });
  return row;
}

async function insert<Row extends Stored>(
  tx: Transaction,
  context: WriteContext,
  table: Table<Row>,
  content: ContentOf<Row>,
): Promise<Row> {
  const row = { id: newId(), content, writer: writerOf(context, table) };
  return accepted(context, table, await insertRow(tx, context.caller.scope, table, row));
}

/** Null: the error has another cause. */
function missingReference<Row extends Stored>(error: unknown, { references = {} }: Table<Row>): DomainError | null {
  const constraint = violatedReference(error);
  const violated = Object.entries(references).find(([field]) => constraint?.includes(`_${columnOf(field)}_`));
  if (violated === undefined) return null;
  const [field, noun] = violated;
  return invalidField(columnOf(field), `is not the id of a ${noun} of your organization.`);
}

export function writerOf({ caller: { keyId } }: WriteContext, { writePermission }: WritesTo): Writer {
  return { keyId, permission: writePermission };
}

/** Throws if the key has been revoked meanwhile, or may not write for another reason. */
export function accepted<T>({ caller, keyUses }: WriteContext, { writePermission }: WritesTo, checked: Checked<T>): T {
  if (checked.kind === 'accepted') return checked.value;
  return refuseWriter(caller, { refused: checked, permission: writePermission, keyUses });
}

type WritesTo = Pick<Table<Stored>, 'writePermission'>;
