import { v7 as newId } from 'uuid';
import { batchConflictOf, type DomainError, isOfOneChange, RefusedChangesError } from '../../domain/errors.ts';
import { applyPatch, type PatchOf } from '../../domain/resources/merge-patch.ts';
import { type Checked, checkKeyOfWrite } from '../../store/resources/key-of-write.ts';
import {
  type ChangedRow,
  deleteRows,
  insertRows,
  listKnownIds,
  lockRows,
  replaceRows,
  type Sought,
  type TimesById,
} from '../../store/resources/row-batches.ts';
import {
  type ContentOf,
  contentOf,
  type GivenContent,
  normalFormOf,
  ownIdFieldOf,
  type RowId,
  replacedContentOf,
  type Stored,
  storedRow,
  type Table,
} from '../../store/resources/table.ts';
import { type Transaction, transaction } from '../../store/sql/database.ts';
import { isSameContent, noSuchRow, requireFewEntries, type Target } from './rows.ts';
import {
  missingReferenceError,
  type Repeatable,
  requireAccepted,
  runOnce,
  takenError,
  type WriteContext,
  writerOf,
} from './writing.ts';

/** Makes the changes in order. Each change has the result that it would have if it were sent alone. */
async function changeRows<Row extends Stored>(
  context: WriteContext,
  table: Table<Row>,
  batch: Batch<Row>,
): Promise<ChangeResult<Row>[]> {
  const make = (tx: Transaction) => new Changing(tx, context, table).make(batch);
  // If no change depends on stored rows, all changes are creations. One SQL statement makes them, without an explicit
  // transaction.
  return dependsOnRows(table, rowsNeededBy(table, batch.changes))
    ? transaction(context.db, make)
    : make(context.db.prisma);
}

export type BatchOnce<Row extends Stored> = Batch<Row> &
  Repeatable & {
    /** Returns the body of the response. The body is stored, and a repeated request gets it again. */
    readonly render: (outcomes: readonly ChangeResult<Row>[]) => string;
  };

/** Makes the changes only once, however often the batch is sent with the same idempotency key. */
export async function changeRowsOnce<Row extends Stored>(
  context: WriteContext,
  table: Table<Row>,
  { idempotencyKey: key, sentBody, render, ...batch }: BatchOnce<Row>,
): Promise<string> {
  if (key === undefined) return render(await changeRows(context, table, batch));
  return transaction(context.db, (tx) =>
    runOnce(tx, context, table, {
      key,
      request: JSON.stringify([table.name, 'batch', sentBody()]),
      work: async () => render(await new Changing(tx, context, table).make(batch)),
    }),
  );
}

/** Creates the row with the client's own id, or replaces the content of that row. */
export async function upsertRow<Row extends Stored>(
  context: WriteContext,
  table: Table<Row>,
  { content, precondition }: { content: GivenContent<Row> } & Conditional<Row | null>,
): Promise<{ readonly kind: 'created' | 'updated'; readonly row: Row }> {
  const [outcome] = await changeRows(context, table, {
    changes: [{ kind: 'upsert', content, precondition }],
    isAtomic: false,
  });
  if (outcome?.kind === 'refused') throw outcome.error;
  if (outcome === undefined || outcome.kind === 'deleted') throw new Error('An upsert had no outcome.');
  return outcome;
}

export type Conditional<Current> = {
  /** Throws unless the row is in the state that the client expects. */
  readonly precondition: (current: Current) => void;
};

export type Change<Row extends Stored> =
  | { readonly kind: 'create'; readonly content: GivenContent<Row> }
  /**
   * Creates the row with this value of `ownId`, or replaces the content of that row. The precondition gets `null` if there is no
   * such row.
   */
  | ({ readonly kind: 'upsert'; readonly content: GivenContent<Row> } & Conditional<Row | null>)
  | ({ readonly kind: 'update'; readonly patch: PatchOf<ContentOf<Row>> } & RowId & Conditional<Row>)
  | ({ readonly kind: 'delete' } & RowId & Conditional<Row>)
  /** A change that was refused earlier, because it is invalid regardless of the stored rows. */
  | { readonly kind: 'refused'; readonly error: DomainError };

export type ChangeResult<Row> =
  | { readonly kind: 'created' | 'updated'; readonly row: Row }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'refused'; readonly error: DomainError };

export type Batch<Row extends Stored> = {
  readonly changes: readonly Change<Row>[];
  /**
   * Whether the batch is atomic: all changes are made, or none. If a change is refused, an atomic batch throws a
   * RefusedChangesError.
   */
  readonly isAtomic: boolean;
};

/** Returns whether the results depend on stored rows. Creations without unique values and references do not depend on them. */
function dependsOnRows<Row extends Stored>({ references }: Table<Row>, { ids, unique }: Sought): boolean {
  return references !== undefined || ids.length > 0 || [...unique.values()].some((values) => values.length > 0);
}

/** Returns the ids and the unique values of the rows on which the results of the changes depend. */
function rowsNeededBy<Row extends Stored>(table: Table<Row>, changes: readonly Change<Row>[]): Sought {
  const ids = new Set<string>();
  const unique = new Map<string, Set<string>>((table.unique ?? []).map((field) => [field, new Set()]));
  for (const change of changes) {
    if ('id' in change) ids.add(change.id);
    if ('ownId' in change) unique.get(ownIdFieldOf(table))?.add(change.ownId);
    for (const [field, value] of valuesOf(table.unique, fieldsSetBy(change))) unique.get(field)?.add(value);
  }
  return { ids: [...ids], unique: new Map([...unique].map(([field, values]) => [field, [...values]])) };
}

function fieldsSetBy<Row extends Stored>(change: Change<Row>): object {
  return change.kind === 'update' ? change.patch : 'content' in change ? change.content : {};
}

/** Returns the name and the value of each of the fields that has a value. */
function valuesOf(fields: readonly string[] = [], content: object): [string, string][] {
  const values = new Map<string, unknown>(Object.entries(content));
  return fields.flatMap((field): [string, string][] => {
    const value = values.get(field);
    return value === null || value === undefined ? [] : [[field, String(value)]];
  });
}

/**
 * A row that is stored or, if `pending` is not `null`, will be written by the next SQL statements. `row` is the stored row, if
 * there is one.
 */
type Entry<Row extends Stored> = {
  readonly id: string;
  row: Row | null;
  pending: ContentOf<Row> | null;
  /** The index in the batch of the change that created the row; `null` if the row existed before. */
  readonly createdBy: number | null;
  /** The index in the batch of the entry's pending change or, if no change is pending, of its last change. */
  place: number;
};

/**
 * Makes the changes of a batch in one transaction. The transaction locks the organization first, as every write does, so that no
 * other transaction changes the rows that it has read. The result of each change is determined in memory, in order. The writes
 * are collected, and made by one SQL statement for each kind: deletions first, then updates, then insertions. Their events are
 * nevertheless in the order of the changes. The pending writes are made earlier if a later change concerns a row that is to be
 * written, or needs a unique value that a pending write releases.
 */
class Changing<Row extends Stored> {
  readonly #tx: Transaction;
  readonly #context: WriteContext;
  readonly #table: Table<Row>;
  #isAtomic = false;
  /** The index of the current change in the batch. */
  #place = 0;
  readonly #byId = new Map<string, Entry<Row>>();
  /** The rows that have unique values, by field and value. */
  readonly #holders = new Map<string, Map<string, Entry<Row>>>();
  /** The unique values that a pending update releases, by field. */
  readonly #released = new Map<string, Set<string>>();
  /** The ids of rows to which the changes may refer, by field. */
  readonly #referred = new Map<string, ReadonlySet<string>>();
  #inserted: Entry<Row>[] = [];
  #updated: Entry<Row>[] = [];
  #deleted: ChangedRow[] = [];
  /** Functions that each set the result of a change. A function is called when the row of its change has been written. */
  #settle: (() => void)[] = [];

  constructor(tx: Transaction, context: WriteContext, table: Table<Row>) {
    this.#tx = tx;
    this.#context = context;
    this.#table = table;
    for (const field of table.unique ?? []) {
      this.#holders.set(field, new Map());
      this.#released.set(field, new Set());
    }
  }

  async make({ changes, isAtomic }: Batch<Row>): Promise<ChangeResult<Row>[]> {
    this.#isAtomic = isAtomic;
    await this.#read(changes);
    const outcomes: ChangeResult<Row>[] = [];
    const refusals = new Map<number, DomainError>();
    for (const [i, change] of changes.entries()) {
      this.#place = i;
      try {
        await this.#decide(change, (outcome) => {
          outcomes[i] = outcome;
        });
      } catch (error) {
        if (!isOfOneChange(error)) throw error;
        outcomes[i] = { kind: 'refused', error };
        refusals.set(i, error);
      }
    }
    if (isAtomic && refusals.size > 0) throw new RefusedChangesError(refusals);
    await this.#write();
    return outcomes;
  }

  async #read(changes: readonly Change<Row>[]): Promise<void> {
    const sought = rowsNeededBy(this.#table, changes);
    // A batch of insertions only needs no lock here, because the INSERT statement locks the organization itself.
    if (!dependsOnRows(this.#table, sought)) return;
    const { scope } = this.#context.caller;
    const writer = writerOf(this.#context, this.#table);
    this.#requireAccepted(await checkKeyOfWrite(this.#tx, scope, { ...writer, isLocked: true }));
    for (const row of await lockRows(this.#tx, scope, this.#table, sought))
      this.#keep({ id: row.id, row, pending: null, createdBy: null, place: 0 }, row);
    for (const [field, table] of Object.entries<string | undefined>(this.#table.references ?? {})) {
      const ids = changes.flatMap((change) => valuesOf([field], fieldsSetBy(change)).map(([, id]) => id));
      if (table !== undefined) this.#referred.set(field, new Set(await listKnownIds(this.#tx, scope, { table, ids })));
    }
  }

  #requireAccepted<T>(checked: Checked<T>): T {
    return requireAccepted(this.#context, this.#table, checked);
  }

  /** Determines the result of the change and passes it to `settle`. Throws if the change is refused. */
  async #decide(change: Change<Row>, settle: (outcome: ChangeResult<Row>) => void): Promise<void> {
    switch (change.kind) {
      case 'refused':
        throw change.error;
      case 'create':
        return this.#insert(contentOf(this.#table, change.content), settle);
      case 'upsert': {
        const content = contentOf(this.#table, change.content);
        const entry = await this.#current(this.#ownerOf(String(content[ownIdFieldOf(this.#table)])));
        const row = entry?.row ?? null;
        change.precondition(row);
        if (entry === undefined || row === null) return this.#insert(content, settle);
        // Omitted fields get their default values, because a PUT replaces the whole content.
        return this.#update(entry, replacedContentOf(this.#table, { row, content }), settle);
      }
      case 'update': {
        const entry = await this.#existing(change);
        const content = applyPatch<ContentOf<Row>>(entry.row, normalFormOf(this.#table, change.patch));
        requireFewEntries(this.#table, content);
        return this.#update(entry, content, settle);
      }
      case 'delete': {
        const { id, row } = await this.#existing(change);
        this.#byId.delete(id);
        this.#forget(row);
        this.#deleted.push({ id, place: this.#place });
        settle({ kind: 'deleted' });
      }
    }
  }

  #ownerOf(ownId: string): Entry<Row> | undefined {
    return this.#holders.get(ownIdFieldOf(this.#table))?.get(ownId);
  }

  /**
   * Returns the entry. If the entry is pending, makes the pending changes first, so that `row` is as it is at this point of the
   * batch.
   */
  async #current(entry: Entry<Row> | undefined): Promise<Entry<Row> | undefined> {
    if (entry?.pending) await this.#write();
    return entry;
  }

  async #existing(target: Target<Row>): Promise<Entry<Row> & { row: Row }> {
    const entry = await this.#current(
      'id' in target ? this.#byId.get(target.id.toLowerCase()) : this.#ownerOf(target.ownId),
    );
    if (entry === undefined || !hasRow(entry)) throw noSuchRow(this.#table, target);
    target.precondition(entry.row);
    return entry;
  }

  async #insert(content: ContentOf<Row>, settle: (outcome: ChangeResult<Row>) => void): Promise<void> {
    const entry: Entry<Row> = { id: newId(), row: null, pending: content, createdBy: this.#place, place: this.#place };
    this.#requireFree(entry, content);
    this.#requireReferred(content);
    this.#keep(entry, content);
    this.#inserted.push(entry);
    this.#settle.push(() => hasRow(entry) && settle({ kind: 'created', row: entry.row }));
  }

  async #update(
    entry: Entry<Row>,
    content: ContentOf<Row>,
    settle: (outcome: ChangeResult<Row>) => void,
  ): Promise<void> {
    if (!hasRow(entry)) throw new Error('A row was not written before its next change.');
    // Nothing is written, so that `updated_at` stays the same and clients that sync by `updated_since` do not fetch the row
    // again.
    if (isSameContent(this.#table, entry.row, content)) return settle({ kind: 'updated', row: entry.row });
    this.#requireFree(entry, content);
    this.#requireReferred(content, entry.row);
    if (valuesOf(this.#table.unique, content).some(([field, value]) => this.#released.get(field)?.has(value)))
      await this.#write();
    this.#forget(entry.row);
    for (const [field, value] of valuesOf(this.#table.unique, entry.row)) this.#released.get(field)?.add(value);
    this.#keep(entry, content);
    entry.pending = content;
    entry.place = this.#place;
    this.#updated.push(entry);
    this.#settle.push(() => settle({ kind: 'updated', row: entry.row }));
  }

  #requireFree(entry: Entry<Row>, content: ContentOf<Row>): void {
    for (const [field, value] of valuesOf(this.#table.unique, content)) {
      const holder = this.#holders.get(field)?.get(value);
      if (holder === undefined || holder === entry) continue;
      // If an atomic batch is refused, it creates no rows. So if this batch created the row, the error names the change, not an
      // id.
      if (this.#isAtomic && holder.createdBy !== null) throw batchConflictOf(field, { value, place: holder.createdBy });
      throw takenError(this.#table, { field, value, id: holder.id });
    }
  }

  /** Throws if a reference names a row that does not exist. References that do not change are not checked. */
  #requireReferred(content: ContentOf<Row>, before: object = {}): void {
    const kept = new Map(valuesOf(Object.keys(this.#table.references ?? {}), before));
    for (const [field, id] of valuesOf(Object.keys(this.#table.references ?? {}), content))
      if (kept.get(field) !== id && !this.#referred.get(field)?.has(id)) throw missingReferenceError(field);
  }

  #keep(entry: Entry<Row>, content: ContentOf<Row>): void {
    this.#byId.set(entry.id, entry);
    for (const [field, value] of valuesOf(this.#table.unique, content)) this.#holders.get(field)?.set(value, entry);
  }

  #forget(content: ContentOf<Row>): void {
    for (const [field, value] of valuesOf(this.#table.unique, content)) this.#holders.get(field)?.delete(value);
  }

  /** Makes the pending changes, by one SQL statement for each kind. */
  async #write(): Promise<void> {
    const { scope } = this.#context.caller;
    const [tx, table, writer] = [this.#tx, this.#table, writerOf(this.#context, this.#table)];
    if (this.#deleted.length > 0)
      this.#requireAccepted(await deleteRows(tx, scope, table, { rows: this.#deleted, writer }));
    if (this.#updated.length > 0)
      this.#recordWritten(this.#updated, await replaceRows(tx, scope, table, { rows: toWrite(this.#updated), writer }));
    if (this.#inserted.length > 0)
      this.#recordWritten(
        this.#inserted,
        await insertRows(tx, scope, table, { rows: toWrite(this.#inserted), writer }),
      );
    for (const settle of this.#settle) settle();
    [this.#deleted, this.#updated, this.#inserted, this.#settle] = [[], [], [], []];
    for (const values of this.#released.values()) values.clear();
  }

  #recordWritten(entries: readonly Entry<Row>[], checked: Checked<TimesById>): void {
    const written = this.#requireAccepted(checked);
    for (const entry of entries) {
      const times = written.get(entry.id);
      if (times === undefined || entry.pending === null) throw new Error(`A ${this.#table.noun} was not written.`);
      entry.row = storedRow(this.#table, { id: entry.id, content: entry.pending, times });
      entry.pending = null;
    }
  }
}

function hasRow<Row extends Stored>(entry: Entry<Row>): entry is Entry<Row> & { row: Row } {
  return entry.row !== null;
}

function toWrite<Row extends Stored>(entries: readonly Entry<Row>[]) {
  return entries.flatMap(({ id, place, pending }) => (pending === null ? [] : [{ id, place, content: pending }]));
}
