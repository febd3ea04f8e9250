import { v7 as newId } from 'uuid';
import { DomainError, invalidField } from '../../domain/errors.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { parseJson } from '../../domain/resources/json.ts';
import { applyPatch, type PatchOf } from '../../domain/resources/merge-patch.ts';
import {
  deleteRow,
  type Found,
  findRow,
  findRowToChange,
  insertRow,
  type RowToChange,
  replaceRow,
} from '../../store/resources/rows.ts';
import {
  type ContentOf,
  contentOf,
  fieldsOf,
  type GivenContent,
  normalFormOf,
  ownIdFieldOf,
  type RowId,
  rowOfKept,
  type Stored,
  storedContent,
  type Table,
  valueOfNewField,
} from '../../store/resources/table.ts';
import { type Database, type Transaction, transaction } from '../../store/sql/database.ts';
import {
  type Repeatable,
  requireAccepted,
  runOnce,
  translateViolations,
  type WriteContext,
  writerOf,
} from './writing.ts';

/** Returns a row. Throws "not_found" if the organization has no such row. */
export async function getRow<Row extends Stored>(
  db: Database,
  scope: OrganizationScope,
  table: Table<Row>,
  rowId: RowId,
): Promise<Found<Row>> {
  const found = await findRow(db, scope, table, rowId);
  if (found === null) throw noSuchRow(table, rowId);
  return found;
}

type Creation<Row extends Stored> = Repeatable & { readonly content: GivenContent<Row> };

/**
 * Creates a row. Throws "conflict" if another row has the value of a unique field, and "invalid" if a reference names a row that
 * does not exist.
 */
export async function createRow<Row extends Stored>(
  context: WriteContext,
  table: Table<Row>,
  { content: given, idempotencyKey, sentBody }: Creation<Row>,
): Promise<Row> {
  const { db } = context;
  const content = contentOf(table, given);
  return translateViolations(context, table, content, () =>
    idempotencyKey === undefined
      ? insert(db.prisma, context, table, content)
      : transaction(db, (tx) => createOnce(tx, context, table, { content, key: idempotencyKey, sentBody: sentBody() })),
  );
}

async function createOnce<Row extends Stored>(
  tx: Transaction,
  context: WriteContext,
  table: Table<Row>,
  { content, key, sentBody }: { content: ContentOf<Row>; key: string; sentBody: string },
): Promise<Row> {
  const request = JSON.stringify([table.name, 'create', sentBody]);
  const filled = JSON.stringify([table.name, withKeptNames(contentFor1_0(table, content))]);
  const work = async () => JSON.stringify(withKeptNames(await insert(tx, context, table, content)));
  const result = parseJson(await runOnce(tx, context, table, { key, request, filled, work }));
  const kept = new Map(Object.entries<unknown>(result));
  return rowOfKept(table, (field) => kept.get(keptNameOf(field)));
}

const FIELDS_OF_1_0 = ['name', 'description', 'external_id', 'metadata'];

/**
 * Returns the content in the form that servers of version 1.0 hash: all fields that version 1.0 has, with their defaults. A field
 * that was added later is left out if it has its default.
 */
function contentFor1_0<Row extends Stored>(table: Table<Row>, content: ContentOf<Row>): object {
  const fields = Object.entries(storedContent(table, content));
  const isDefault = (field: string, value: unknown) =>
    JSON.stringify(value) === JSON.stringify(valueOfNewField(table, field));
  return Object.fromEntries(
    fields.filter(([field, value]) => FIELDS_OF_1_0.includes(field) || !isDefault(field, value)),
  );
}

/**
 * Returns the name of a field in the stored result of a creation, such as "externalId" for "external_id". Servers of the previous
 * version use these names, and a retry during an upgrade can reach a server of either version.
 */
function keptNameOf(field: string): string {
  return field.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function withKeptNames(row: object): object {
  return Object.fromEntries(Object.entries(row).map(([field, value]) => [keptNameOf(field), value]));
}

async function insert<Row extends Stored>(
  tx: Transaction,
  context: WriteContext,
  table: Table<Row>,
  content: ContentOf<Row>,
): Promise<Row> {
  const row = { id: newId(), content, writer: writerOf(context, table) };
  return requireAccepted(context, table, await insertRow(tx, context.caller.scope, table, row));
}

export type Target<Row> = RowId & {
  /** Throws unless the row is in the state that the client expects. */
  readonly precondition: (current: Row) => void;
};

type Update<Row extends Stored> = Target<Row> & { readonly patch: Patch<Row> };
/** A merge patch, or a function that returns the patch for the current row. */
type Patch<Row extends Stored> = PatchOf<ContentOf<Row>> | ((current: Row) => PatchOf<ContentOf<Row>>);

/** Applies a merge patch to a row. Throws the same errors as `getRow` and `createRow`. */
export async function updateRow<Row extends Stored>(
  context: WriteContext,
  table: Table<Row>,
  { patch, ...target }: Update<Row>,
): Promise<Row> {
  return translateViolations(context, table, patch, () =>
    changeRow(context, table, target, (tx, before) => update(tx, context, table, { before, patch })),
  );
}

/** Deletes a row. Throws the same errors as `getRow`. */
export async function removeRow<Row extends Stored>(
  context: WriteContext,
  table: Table<Row>,
  target: Target<Row>,
): Promise<void> {
  await changeRow(context, table, target, async (tx, before) =>
    requireAccepted(
      context,
      table,
      await deleteRow(tx, context.caller.scope, table, { before, writer: writerOf(context, table) }),
    ),
  );
}

/**
 * Reads a row and passes it to `write`, which returns `null` if the row has changed since it was read. The first attempt writes
 * without an explicit transaction, because a transaction would delay the commit, for which all other writers of the organization
 * wait. If the row has changed, the second attempt locks it in a transaction.
 */
async function changeRow<Row extends Stored, T>(
  context: WriteContext,
  table: Table<Row>,
  target: Target<Row>,
  write: (tx: Transaction, before: RowToChange<Row>) => Promise<T | null>,
): Promise<T> {
  const { db } = context;
  const written = await write(db.prisma, await readMatching(db.prisma, context, table, { ...target, isLocked: false }));
  if (written !== null) return written;
  return transaction(db, async (tx) => {
    const rewritten = await write(tx, await readMatching(tx, context, table, { ...target, isLocked: true }));
    if (rewritten === null) throw new Error(`A locked ${table.noun} has changed.`);
    return rewritten;
  });
}

/** Returns the row. Throws unless it exists and the precondition holds. */
async function readMatching<Row extends Stored>(
  tx: Transaction,
  context: WriteContext,
  table: Table<Row>,
  { precondition, isLocked, ...rowId }: Target<Row> & { isLocked: boolean },
): Promise<RowToChange<Row>> {
  const writer = writerOf(context, table);
  const checked = await findRowToChange(tx, context.caller.scope, table, { rowId, writer, isLocked });
  const read = requireAccepted(context, table, checked);
  if (read === null) throw noSuchRow(table, rowId);
  precondition(read.row);
  return read;
}

/** Applies the change. Returns `null` if the row has changed since it was read. */
async function update<Row extends Stored>(
  tx: Transaction,
  context: WriteContext,
  table: Table<Row>,
  { before, patch }: { before: RowToChange<Row>; patch: Patch<Row> },
): Promise<Row | null> {
  const given = typeof patch === 'function' ? patch(before.row) : patch;
  const content = applyPatch<ContentOf<Row>>(before.row, normalFormOf(table, given));
  requireFewEntries(table, content);
  // Nothing is written, so that `updated_at` stays the same and clients that sync by `updated_since` do not fetch the row again.
  if (isSameContent(table, before.row, content)) return before.row;
  const change = { before, content, writer: writerOf(context, table) };
  return requireAccepted(context, table, await replaceRow(tx, context.caller.scope, table, change));
}

export function isSameContent<Row extends Stored>(table: Table<Row>, a: ContentOf<Row>, b: ContentOf<Row>): boolean {
  return JSON.stringify(storedContent(table, a)) === JSON.stringify(storedContent(table, b));
}

export function requireFewEntries<Row extends Stored>(table: Table<Row>, content: ContentOf<Row>): void {
  const limits = new Map(Object.entries<number | undefined>(table.maxEntries ?? {}));
  for (const { field, value } of fieldsOf(table, content)) {
    const most = limits.get(field);
    if (most === undefined || Object.keys(Object(value)).length <= most) continue;
    throw invalidField(
      field,
      `must have at most ${most} entries after the change. Remove some by setting them to null.`,
    );
  }
}

/**
 * Returns the same error for a row that does not exist as for a row of another organization, so that nobody can tell them apart.
 */
export function noSuchRow<Row extends Stored>(table: Table<Row>, rowId: RowId): DomainError {
  return new DomainError(
    'not_found',
    `There is no ${table.noun} with this ${'id' in rowId ? 'id' : ownIdFieldOf(table)}.`,
  );
}
