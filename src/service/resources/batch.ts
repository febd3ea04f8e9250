import type { ContentOf, Stored, Table } from '../../store/resources/table.ts';
import { type Transaction, transaction } from '../../store/sql/database.ts';
import { type Batch, type Conditional, dependsOnRows, type Outcome, soughtBy } from './changes.ts';
import { Changing } from './changing.ts';
import { once } from './once.ts';
import type { WriteContext } from './writing.ts';

/** Makes the changes in their order, each with the outcome that it would have by itself. */
export async function changeRows<Row extends Stored>(
  context: WriteContext,
  table: Table<Row>,
  batch: Batch<Row>,
): Promise<Outcome<Row>[]> {
  const make = (tx: Transaction) => new Changing(tx, context, table).make(batch);
  // Such creations are one statement, which is a transaction by itself.
  return dependsOnRows(soughtBy(table, batch.changes)) ? transaction(context.db, make) : make(context.db.prisma);
}

export type BatchOnce<Row extends Stored> = Batch<Row> & {
  readonly idempotencyKey: string | undefined;
  /** Returns the same text for the same batch. */
  readonly request: () => string;
  /** The result, which a repeated request gets again. */
  readonly render: (outcomes: readonly Outcome<Row>[]) => string;
};

/** With an idempotency key, the same batch is made once, however often it is sent. */
export async function changeRowsOnce<Row extends Stored>(
  context: WriteContext,
  table: Table<Row>,
  { idempotencyKey: key, request, render, ...batch }: BatchOnce<Row>,
): Promise<string> {
  if (key === undefined) return render(await changeRows(context, table, batch));
  return transaction(context.db, (tx) =>
    once(tx, context, table, {
      key,
      request: JSON.stringify([table.name, 'batch', request()]),
      work: async () => render(await new Changing(tx, context, table).make(batch)),
    }),
  );
}

/** Creates the row with its own id, or replaces its content. */
export async function upsertRow<Row extends Stored>(
  context: WriteContext,
  table: Table<Row>,
  { content, precondition }: { content: ContentOf<Row> } & Conditional<Row | null>,
): Promise<{ readonly kind: 'created' | 'updated'; readonly row: Row }> {
  const [outcome] = await changeRows(context, table, {
    changes: [{ kind: 'upsert', content, precondition }],
    isAtomic: false,
  });
  if (outcome?.kind === 'refused') throw outcome.error;
  if (outcome === undefined || outcome.kind === 'deleted') throw new Error('An upsert had no outcome.');
  return outcome;
}
