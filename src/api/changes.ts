// Reads the changes of a batch, and creates their results. The server and the mock share this code.
import type { Json } from '../contract/document.ts';
import type { DomainError, RefusedChangesError } from '../domain/errors.ts';
import { exceptionOf } from './exceptions.ts';
import type { ContractOperation, HandlerInput } from './operation.ts';
import { Violations } from './violations.ts';

export type Action = 'create' | 'upsert' | 'update' | 'delete';

/**
 * A change in the form that the contract defines. The client's own id is a further member, with the name that the contract gives
 * it, such as "external_id". Only the structure of the change has been validated.
 */
export type SentChange = {
  readonly action: Action;
  readonly id?: string;
  readonly if_match?: string;
  readonly if_none_match?: string;
  readonly body?: object;
};

export type SentBatch = { readonly atomic?: boolean; readonly changes: readonly SentChange[] };

/** An action, or the deletion by the client's own id. */
export type ChangeKind = Action | 'deleteByOwnId';

/** The operations that single requests would call for the changes of a batch. */
export type ChangeOperations = {
  /** The operationId for each kind of change. */
  readonly ids: Readonly<Record<ChangeKind, string>>;
  /** The name of the field with the client's own id, such as "external_id". */
  readonly ownId: string;
};

/** The input of the operation that a single request would call for the change. */
export type ChangeInput = Pick<HandlerInput, 'path' | 'body'> & {
  readonly operationId: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Returns the members that a change with this action can have besides `action` itself. */
function membersOf(action: Action, ownId: string): readonly string[] {
  switch (action) {
    case 'create':
      return ['body'];
    case 'upsert':
      return [ownId, 'if_match', 'if_none_match', 'body'];
    case 'update':
      return ['id', 'if_match', 'body'];
    case 'delete':
      return ['id', ownId, 'if_match'];
  }
}

/**
 * Returns the schema of what every change of a batch must have: a known action, and only known members of the right type. If a
 * change does not match the schema, the whole batch is refused. Everything else is validated for each change separately.
 */
function structureOfChange({ oneOf, discriminator }: Json): Json {
  const action = String(Object(discriminator).propertyName);
  const branches = [oneOf].flat().map((branch) => Object.entries<Json>(Object(Object(branch).properties)));
  const members = Object.fromEntries(branches.flat().map(([name, { type }]) => [name, { type }]));
  const actions = branches.map((branch) => Object.fromEntries(branch)[action]?.['const']);
  return {
    type: 'object',
    required: [action],
    properties: { ...members, [action]: { type: 'string', enum: actions } },
    additionalProperties: false,
  };
}

/** Makes openapi-backend validate only the structure of a batch. The rest is validated for each change separately. */
export function loosenChanges({ countedField, requestBody }: ContractOperation): void {
  if (countedField === undefined) return;
  const { schema } = Object(requestBody).content['application/json'];
  const changes = schema.properties[countedField];
  changes.items = structureOfChange(changes.items);
}

/**
 * Returns the input of a change. Throws a 422 for a member that the action does not have, for a deletion with both ids or with
 * neither, or the 422 that a single request for the change would get.
 */
export function inputOf(
  { action, ...members }: SentChange,
  { ids, ownId }: ChangeOperations,
  refusalOf: HandlerInput['refusalOf'],
): ChangeInput {
  const allowed = membersOf(action, ownId);
  const violations = new Violations();
  for (const name of Object.keys(members).filter((each) => !allowed.includes(each)))
    violations.add(name, `is not a member of a change with the action "${action}". Allowed: ${allowed.join(', ')}.`);
  const [hasId, hasOwnId] = [Object.hasOwn(members, 'id'), Object.hasOwn(members, ownId)];
  if (action === 'delete' && hasId && hasOwnId)
    violations.add(ownId, 'is not allowed together with id. Send only one of them.');
  if (action === 'delete' && !hasId && !hasOwnId) violations.add('id', `or ${ownId} is required.`);
  violations.throwIfAny();
  const { if_match: ifMatch, if_none_match: ifNoneMatch, body, ...path } = members;
  const headers = {
    ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
  };
  const input = { operationId: ids[action === 'delete' && hasOwnId ? 'deleteByOwnId' : action], path, headers, body };
  const refusal = refusalOf(input.operationId, input);
  if (refusal !== null) throw refusal;
  return input;
}

/** Returns the result of a change that was made. `etag` and `body` are `null` for a deletion. */
export function resultOfSuccess({ status, etag, body }: { status: number; etag: string | null; body: unknown }) {
  return { status, etag, body, exception: null };
}

export function resultOfRefusal(error: DomainError) {
  const { status, body: exception } = exceptionOf(error);
  return { status, etag: null, body: null, exception };
}

/**
 * Returns a refusal with the code of the first refused change and the messages of all refused changes. A 404 is replaced, because
 * it would say that the path of the batch does not exist.
 */
export function refusalOfBatch({ refusals }: RefusedChangesError): DomainError {
  const violations = new Violations();
  for (const [i, { message, fields }] of refusals) {
    if (fields === undefined) violations.add(`changes.${i}`, message);
    for (const [field, messages] of Object.entries(fields ?? {}))
      for (const each of messages) violations.add(`changes.${i}.${field}`, each);
  }
  const [first] = refusals.values();
  const code = first === undefined || first.code === 'not_found' ? 'invalid' : first.code;
  const refusal = violations.refusal(code);
  if (refusal === null) throw new Error('A batch was refused without a reason.');
  return refusal;
}
