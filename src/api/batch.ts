import { DomainError, RefusedChangesError } from '../domain/errors.ts';
import { canonicalJson, stringifyJson } from '../domain/resources/json.ts';
import type { PatchOf } from '../domain/resources/merge-patch.ts';
import { type Change, type ChangeResult, changeRowsOnce } from '../service/resources/batch.ts';
import type { ContentOf, Stored, Table } from '../store/resources/table.ts';
import {
  type Action,
  inputOf,
  refusalOfBatch,
  resultOfRefusal,
  resultOfSuccess,
  type SentBatch,
  type SentChange,
} from './changes.ts';
import type { HandlerDeps, HandlerInput } from './operation.ts';
import { entityTagOf, JsonText, preconditionOfUpdate, preconditionOfUpsert } from './response.ts';

/** How the batches of a resource are made. The bodies are those of the operations for one row. */
export type BatchOf<Row extends Stored, CreateBody, UpsertBody, UpdateBody> = {
  readonly table: Table<Row>;
  /** The operations with the same outcome as a change, by action. */
  readonly operations: Readonly<Record<Action, string>>;
  /** The name of the client's own id in the contract, such as "external_id". */
  readonly ownId: string;
  readonly contentOf: (body: CreateBody) => ContentOf<Row>;
  readonly replacementOf: (ownId: string, body: UpsertBody) => ContentOf<Row>;
  readonly patchOf: (body: UpdateBody) => PatchOf<ContentOf<Row>>;
  readonly present: (row: Row) => object;
};

type BatchInput = Pick<HandlerInput, 'headers' | 'caller' | 'refusalOf'> & { readonly body: SentBatch };

/** Makes the changes of a batch, and responds with the outcome of each. */
export async function respondToBatch<Row extends Stored, CreateBody, UpsertBody, UpdateBody>(
  { body, headers, caller, refusalOf }: BatchInput,
  deps: HandlerDeps,
  batch: BatchOf<Row, CreateBody, UpsertBody, UpdateBody>,
) {
  const idempotencyKey = headers['idempotency-key'];
  try {
    const json = await changeRowsOnce({ ...deps, caller }, batch.table, {
      changes: body.changes.map((change) => changeOf(change, batch, refusalOf)),
      isAtomic: body.atomic ?? false,
      idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : undefined,
      request: () => canonicalJson(body),
      render: (outcomes) => stringifyJson({ results: outcomes.map((outcome) => resultOf(outcome, batch.present)) }),
    });
    return { status: 200, headers: {}, body: new JsonText(json) } as const;
  } catch (error) {
    throw error instanceof RefusedChangesError ? refusalOfBatch(error) : error;
  }
}

function changeOf<Row extends Stored, CreateBody, UpsertBody, UpdateBody>(
  sent: SentChange,
  { table, operations, present, ...batch }: BatchOf<Row, CreateBody, UpsertBody, UpdateBody>,
  refusalOf: HandlerInput['refusalOf'],
): Change<Row> {
  try {
    const { path, headers, body } = inputOf(sent, { ids: operations, ownId: batch.ownId }, refusalOf);
    const { id = '', [batch.ownId]: ownId = '' } = path;
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
    const shown = { noun: table.noun, ownId: batch.ownId, present };
    // The input was validated like that of its operation, so its body has that operation's type.
    switch (sent.action) {
      case 'create':
        return { kind: 'create', content: batch.contentOf(body as CreateBody) };
      case 'upsert': {
        const precondition = preconditionOfUpsert<Row>({ ifMatch, ifNoneMatch }, shown);
        return { kind: 'upsert', content: batch.replacementOf(ownId, body as UpsertBody), precondition };
      }
      case 'update': {
        const patch = batch.patchOf(body as UpdateBody);
        return { kind: 'update', id, patch, precondition: preconditionOfUpdate(ifMatch, shown) };
      }
      case 'delete':
        return { kind: 'delete', id, precondition: preconditionOfUpdate(ifMatch, shown) };
    }
  } catch (error) {
    if (error instanceof DomainError) return { kind: 'refused', error };
    throw error;
  }
}

function resultOf<Row>(outcome: ChangeResult<Row>, present: (row: Row) => object) {
  switch (outcome.kind) {
    case 'refused':
      return resultOfRefusal(outcome.error);
    case 'deleted':
      return resultOfSuccess({ status: 204, etag: null, body: null });
    default: {
      const body = present(outcome.row);
      const etag = entityTagOf(stringifyJson(body));
      return resultOfSuccess({ status: outcome.kind === 'created' ? 201 : 200, etag, body });
    }
  }
}
