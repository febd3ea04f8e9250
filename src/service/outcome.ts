import { createHash } from 'node:crypto';
import { type ActorOrOperator, isOperator } from '../domain/audit/actor.ts';
import { DomainError, type FieldErrors, MovingError } from '../domain/errors.ts';
import type { OrganizationScope } from '../domain/organizations/organization-scope.ts';
import { type AuditEvent, recordAudit } from '../store/audit/audit.ts';
import { claimIdempotencyKey } from '../store/resources/idempotency-keys.ts';
import { type Database, type Transaction, transaction } from '../store/sql/database.ts';

// An action of the dashboard returns its outcome as a tagged union: success, or one of the following refusals, which each page
// shows in its own way. Errors that all pages show in the same way are thrown: a DomainError "forbidden" or "not_found", a bug,
// an outage.

/** The refusal of a form with invalid fields. The page shows the form again. */
export type Invalid = { readonly kind: 'invalid'; readonly message: string; readonly fields: FieldErrors };
/** The refusal of an action that the current data do not allow. The message says why and what to do. */
export type Conflict = { readonly kind: 'conflict'; readonly message: string };
/** The refusal of a name that another key of the holder has. */
export type NameTaken = { readonly kind: 'name-taken'; readonly message: string };
/**
 * The refusal of a key action because the holder is deactivated, the organization is suspended, or the actor's role does not
 * allow it.
 */
export type KeyRefused = { readonly kind: 'refused'; readonly reason: KeyRefusal; readonly message: string };
/** Why the keys of a holder cannot be created, rotated, renamed, restricted or moved. */
export type KeyRefusal = 'deactivated' | 'suspended' | 'role';
/**
 * The refusal of a list of addresses that locks out these networks. The key was used from them within the last day, and the actor
 * has not agreed to lock them out.
 */
export type LocksOut = { readonly kind: 'locks-out'; readonly networks: readonly string[] };
/** The refusal of a form that was already sent, and whose action was carried out at that time. */
export type AlreadySent = { readonly kind: 'already-sent' };
/**
 * The refusal of an attempt because there were too many attempts. A new attempt is possible after `retryAfterSeconds`, which is
 * at least 1.
 */
export type RateLimited = { readonly kind: 'rate-limited'; readonly retryAfterSeconds: number };

export type Refusal = Invalid | Conflict | NameTaken | KeyRefused | LocksOut | AlreadySent | RateLimited;

export const ALREADY_SENT: AlreadySent = { kind: 'already-sent' };

/** The action succeeded and has no result to show. */
export type Done = { readonly kind: 'done' };
export const DONE: Done = { kind: 'done' };

/** Whether each kind of outcome commits the transaction of the action. */
const IS_COMMITTED = {
  done: true,
  issued: true,
  created: true,
  'link-made': true,
  'test-sent': true,
  'failed-resent': true,
  'secret-made': true,
  'codes-made': true,
  'session-renewed': true,
  invalid: false,
  conflict: false,
  'name-taken': false,
  refused: false,
  'locks-out': false,
  'already-sent': false,
  'rate-limited': false,
  'dead-link': false,
} satisfies Record<string, boolean> & Record<Refusal['kind'], false>;

type Outcome = { readonly kind: keyof typeof IS_COMMITTED };

/**
 * Runs an action in one transaction. Rolls the transaction back if the action returns a refusal, so that the form can be
 * corrected and sent again.
 */
export async function runAction<O extends Outcome>(db: Database, action: (tx: Transaction) => Promise<O>): Promise<O> {
  const refused: { outcome?: O } = {};
  try {
    return await transaction(db, async (tx) => {
      const outcome = await action(tx);
      if (IS_COMMITTED[outcome.kind]) return outcome;
      refused.outcome = outcome;
      throw new Error('The action was refused.');
    });
  } catch (error) {
    if (refused.outcome !== undefined) return refused.outcome;
    throw error;
  }
}

/** Adds an action of a user or an operator to the audit log, in the same transaction as the action itself. */
export async function recordAct(
  tx: Transaction,
  actor: ActorOrOperator,
  act: Omit<AuditEvent, 'actorUserId' | 'auditSource'>,
): Promise<void> {
  const who = isOperator(actor)
    ? { actorUserId: null, auditSource: null }
    : { actorUserId: actor.userId, auditSource: actor.auditSource };
  await recordAudit(tx, actor.scope, { ...act, ...who });
}

/** Returns the result of `act`, or `otherwise` if `act` is refused because the organization is moving. */
export async function unlessMoving<T>(otherwise: T, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof MovingError) return otherwise;
    throw error;
  }
}

export function conflict(message: string): Conflict {
  return { kind: 'conflict', message };
}

/**
 * Returns the refusal of one field. `message` completes a sentence that begins with the label of the field, such as "must be
 * ...".
 */
export function invalid(field: string, message: string): Invalid {
  return { kind: 'invalid', message: `${field} ${message}`, fields: { [field]: [message] } };
}

/**
 * Joins the mistakes of a form in one outcome, so that the page shows all of them together. Keeps only the first mistake of each
 * field.
 */
export function joinInvalid(checked: readonly ({ readonly kind: 'valid' | 'proven' } | Invalid | null)[]): Invalid {
  const fields: Record<string, readonly string[]> = {};
  for (const each of checked) {
    if (each?.kind !== 'invalid') continue;
    for (const [field, messages] of Object.entries(each.fields)) fields[field] ??= messages;
  }
  const message = Object.entries(fields).map(([field, messages]) => `${field} ${messages.join(' ')}`);
  return { kind: 'invalid', message: message.join(' '), fields };
}

/** Returns the value that `read` returns. If `read` throws a DomainError "invalid", returns the error as an outcome. */
export function catchInvalid<T>(read: () => T): { readonly kind: 'valid'; readonly value: T } | Invalid {
  try {
    return { kind: 'valid', value: read() };
  } catch (error) {
    if (!(error instanceof DomainError) || error.fields === undefined) throw error;
    return { kind: 'invalid', message: error.message, fields: error.fields };
  }
}

/** Calls the parser of each field of a form. Returns all parsed values, or all mistakes as one outcome. */
export function parseEach<T extends object>(
  parsers: {
    readonly [Field in keyof T]: () => T[Field];
  },
): { readonly kind: 'valid'; readonly value: T } | Invalid {
  const parsed = Object.entries<() => unknown>(parsers).map(([field, parse]) => [field, catchInvalid(parse)] as const);
  const values = parsed.flatMap(([field, each]) => (each.kind === 'valid' ? [[field, each.value] as const] : []));
  if (values.length < parsed.length) return joinInvalid(parsed.map(([, each]) => each));
  // The type holds, because the value of each field is what the field's own parser returned.
  return { kind: 'valid', value: Object.fromEntries(values) as T };
}

/** Returns the success, or throws the refusal as a DomainError. For callers that have no form, such as the admin command. */
export function orThrow<Success extends Outcome>(outcome: Success | Refusal): Success {
  if (isRefusal(outcome)) throw errorOf(outcome);
  return outcome;
}

function isRefusal(outcome: Outcome): outcome is Refusal {
  return !IS_COMMITTED[outcome.kind];
}

export function errorOf(refusal: Refusal): DomainError {
  switch (refusal.kind) {
    case 'invalid':
      return new DomainError('invalid', refusal.message, refusal.fields);
    case 'refused':
      return new DomainError(refusal.reason === 'deactivated' ? 'conflict' : 'forbidden', refusal.message);
    case 'conflict':
    case 'name-taken':
      return new DomainError('conflict', refusal.message);
    case 'locks-out':
      return new DomainError('conflict', `The list locks out ${refusal.networks.join(', ')}.`);
    case 'already-sent':
      return new DomainError('conflict', 'This form was sent before, and its action was done then.');
    case 'rate-limited':
      return new DomainError('unavailable', 'There were too many attempts. Try again later.');
  }
}

/** A form whose action may be done only once, because the action shows a secret such as a new key. */
export type OneTimeForm = {
  /**
   * The random id that the dashboard gave the form. If it is omitted, the action does not come from a form, and can be repeated.
   */
  readonly formId?: string | undefined;
};

/**
 * Claims the form for this transaction. Returns `false` if an earlier transaction with the same form has committed. Call this
 * function first in the transaction, so that concurrent requests with the same form wait for each other. If the transaction rolls
 * back, the form can be sent again.
 */
export async function claimForm(tx: Transaction, scope: OrganizationScope, { formId }: OneTimeForm): Promise<boolean> {
  if (formId === undefined) return true;
  // Claims are kept for 24 hours, which is longer than any session lasts. They are stored in the table of the API's idempotency
  // keys; no such key can equal the key of a form, which contains spaces.
  const claim = { key: `dashboard form ${formId}`, requestHash: createHash('sha256').update(formId).digest() };
  return (await claimIdempotencyKey(tx, scope, claim)).kind === 'claimed';
}
