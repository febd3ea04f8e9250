import { DomainError, RefusedChangesError } from '../domain/errors.ts';
import { parseJson, stringifyJson } from '../domain/resources/json.ts';
import type { PatchOf } from '../domain/resources/merge-patch.ts';
import { type Change, type ChangeResult, changeRowsOnce } from '../service/resources/batch.ts';
import { type ContentOf, type GivenContent, rowOfKept, type Stored, type Table } from '../store/resources/table.ts';
import {
  type ChangeKind,
  inputOf,
  refusalOfBatch,
  resultOfRefusal,
  resultOfSuccess,
  type SentBatch,
  type SentChange,
} from './changes.ts';
import type { HandlerDeps, HandlerInput } from './operation.ts';
import { entityTagOf, JsonText, preconditionOfUpdate, preconditionOfUpsert } from './response.ts';
import { rowIdIn } from './rows.ts';

/** The table of a resource, and the operations that its batches can contain. */
export type BatchOf<Row extends Stored> = {
  readonly table: Table<Row>;
  /** For each kind of change, the operation that a single request would call. */
  readonly operations: Readonly<Record<ChangeKind, string>>;
};

type BatchInput = Pick<HandlerInput, 'headers' | 'caller' | 'refusalOf' | 'sentBody'> & { readonly body: SentBatch };

/** Makes the changes of a batch, and responds with the result of each. */
export async function respondToBatch<Row extends Stored>(
  { body, headers, caller, refusalOf, sentBody }: BatchInput,
  deps: HandlerDeps,
  batch: BatchOf<Row>,
) {
  const idempotencyKey = headers['idempotency-key'];
  try {
    const json = await changeRowsOnce({ ...deps, caller }, batch.table, {
      changes: body.changes.map((change) => changeOf(change, batch, refusalOf)),
      isAtomic: body.atomic ?? false,
      idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : undefined,
      sentBody,
      render: (outcomes) => stringifyJson({ results: outcomes.map((outcome) => resultOf(outcome)) }),
    });
    const shown = idempotencyKey === undefined ? json : withNewFields(batch.table, json);
    return { status: 200, headers: {}, body: new JsonText(shown) } as const;
  } catch (error) {
    throw error instanceof RefusedChangesError ? refusalOfBatch(error) : error;
  }
}

function changeOf<Row extends Stored>(
  sent: SentChange,
  { table, operations }: BatchOf<Row>,
  refusalOf: HandlerInput['refusalOf'],
): Change<Row> {
  try {
    const { ownId = '' } = table;
    const { path, headers, body } = inputOf(sent, { ids: operations, ownId }, refusalOf);
    const { id = '', ...own } = path;
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
    // The type holds, because the input was validated as the input of that operation.
    switch (sent.action) {
      case 'create':
        return { kind: 'create', content: body as GivenContent<Row> };
      case 'upsert': {
        const precondition = preconditionOfUpsert({ ifMatch, ifNoneMatch }, table);
        return { kind: 'upsert', content: { ...(body as GivenContent<Row>), ...own }, precondition };
      }
      case 'update': {
        const patch = body as PatchOf<ContentOf<Row>>;
        return { kind: 'update', id, patch, precondition: preconditionOfUpdate(ifMatch, table) };
      }
      case 'delete':
        return { kind: 'delete', ...rowIdIn(path, table), precondition: preconditionOfUpdate(ifMatch, table) };
    }
  } catch (error) {
    if (error instanceof DomainError) return { kind: 'refused', error };
    throw error;
  }
}

/** Returns the stored body of an earlier response, with the fields that this version of the server has added since. */
function withNewFields<Row extends Stored>(table: Table<Row>, json: string): string {
  const { results }: { results: readonly { readonly body: Row | null }[] } = parseJson(json);
  const rows = results.flatMap(({ body }) => (body === null ? [] : [body]));
  const fields = ['id', ...Object.keys(table.columns)];
  if (rows.every((row) => fields.every((field) => Object.hasOwn(row, field)))) return json;
  const withRow = (body: Row | null) =>
    body === null ? null : rowOfKept(table, (field) => new Map(Object.entries<unknown>(body)).get(field));
  return stringifyJson({ results: results.map((result) => ({ ...result, body: withRow(result.body) })) });
}

function resultOf<Row>(outcome: ChangeResult<Row>) {
  switch (outcome.kind) {
    case 'refused':
      return resultOfRefusal(outcome.error);
    case 'deleted':
      return resultOfSuccess({ status: 204, etag: null, body: null });
    default: {
      const { kind, row } = outcome;
      return resultOfSuccess({
        status: kind === 'created' ? 201 : 200,
        etag: entityTagOf(stringifyJson(row)),
        body: row,
      });
    }
  }
}
