// The responses of the operations on a single row of any resource.

import type { PatchOf } from '../domain/resources/merge-patch.ts';
import { upsertRow } from '../service/resources/batch.ts';
import { createRow, getRow, removeRow, type Target, updateRow } from '../service/resources/rows.ts';
import type { WriteContext } from '../service/resources/writing.ts';
import {
  type ContentOf,
  type GivenContent,
  ownIdFieldOf,
  type RowId,
  type Stored,
  type Table,
} from '../store/resources/table.ts';
import type { HandlerDeps, HandlerInput } from './operation.ts';
import { preconditionOfUpdate, preconditionOfUpsert } from './response.ts';

type Given = Pick<HandlerInput, 'caller'>;
type OfCreation = Pick<HandlerInput, 'caller' | 'sentBody'>;
type OfRow<Row extends Stored> = Given & { readonly path: PathOfRow<Row> };
/** The path parameter that identifies a row: Charter's id, or the id that the client has given to the row (`external_id`). */
type PathOfRow<Row extends Stored> = { readonly id: string } | GivenContent<Row>;
type IfMatch = { readonly 'if-match'?: string | undefined };
type IfNoneMatch = { readonly 'if-none-match'?: string | undefined };
type Key = { readonly 'idempotency-key'?: string | undefined };

export async function respondWithRow<Row extends Stored>(
  { path, caller }: OfRow<Row>,
  { db }: HandlerDeps,
  table: Table<Row>,
) {
  const { row, version } = await getRow(db, caller.scope, table, rowIdIn(path, table));
  return { status: 200, headers: {}, body: row, version } as const;
}

export async function respondToCreation<Row extends Stored>(
  { body, headers, caller, sentBody }: OfCreation & { readonly body: GivenContent<Row>; readonly headers: Key },
  deps: HandlerDeps,
  table: Table<Row>,
) {
  const creation = { content: body, idempotencyKey: headers['idempotency-key'], sentBody };
  return responseOfCreated(table, await createRow({ ...deps, caller }, table, creation));
}

export function respondToUpdate<Row extends Stored>(
  input: OfRow<Row> & { readonly body: PatchOf<ContentOf<Row>>; readonly headers: IfMatch },
  deps: HandlerDeps,
  table: Table<Row>,
) {
  return respondToAction(input, deps, {
    table,
    act: (context, target) => updateRow(context, table, { ...target, patch: input.body }),
  });
}

/** Carries out an action on one row, and responds with the row as it is after the action. */
export async function respondToAction<Row extends Stored>(
  { path, headers, caller }: OfRow<Row> & { readonly headers: IfMatch },
  deps: HandlerDeps,
  { table, act }: { table: Table<Row>; act: (context: WriteContext, target: Target<Row>) => Promise<Row> },
) {
  const precondition = preconditionOfUpdate(headers['if-match'], table);
  const row = await act({ ...deps, caller }, { ...rowIdIn(path, table), precondition });
  return { status: 200, headers: {}, body: row } as const;
}

export async function respondToDeletion<Row extends Stored>(
  { path, headers, caller }: OfRow<Row> & { readonly headers: IfMatch },
  deps: HandlerDeps,
  table: Table<Row>,
) {
  const precondition = preconditionOfUpdate(headers['if-match'], table);
  await removeRow({ ...deps, caller }, table, { ...rowIdIn(path, table), precondition });
  return { status: 204, headers: {}, body: null } as const;
}

/** Creates a row with the external id that is in the path. If such a row exists, replaces its content. */
export async function respondToUpsert<Row extends Stored>(
  {
    path,
    body,
    headers,
    caller,
  }: Given & {
    readonly path: GivenContent<Row>;
    readonly body: GivenContent<Row>;
    readonly headers: IfMatch & IfNoneMatch;
  },
  deps: HandlerDeps,
  table: Table<Row>,
) {
  const conditions = { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] };
  const { kind, row } = await upsertRow({ ...deps, caller }, table, {
    content: { ...body, ...path },
    precondition: preconditionOfUpsert(conditions, table),
  });
  return kind === 'updated' ? ({ status: 200, headers: {}, body: row } as const) : responseOfCreated(table, row);
}

/** Returns the id of the row in the parameters of a path, or in a change of a batch. */
export function rowIdIn<Row extends Stored>(path: object, table: Table<Row>): RowId {
  const values = new Map<string, unknown>(Object.entries(path));
  const id = values.get('id');
  return typeof id === 'string' ? { id } : { ownId: String(values.get(ownIdFieldOf(table))) };
}

function responseOfCreated<Row extends Stored>({ name }: Table<Row>, row: Row) {
  return { status: 201, headers: { Location: `/api/${name}/${row.id}` }, body: row } as const;
}
