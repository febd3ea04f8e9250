import { isNativeError } from 'node:util/types';

/** The reason for a refusal. `api/exceptions.ts` maps each code to an HTTP status and a named schema. */
export type ErrorCode =
  | 'unauthenticated'
  | 'rate_limited'
  | 'forbidden'
  | 'invalid'
  | 'not_found'
  | 'conflict'
  | 'precondition_failed'
  | 'unavailable';

/**
 * The messages, by field. A field is named as "name", "metadata.colour", the name of a parameter, or "body" for the whole body.
 */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/**
 * An expected refusal. Its message is public, so it must not contain SQL, an id of another organization or the cause of the
 * error.
 */
export class DomainError extends Error {
  readonly code: ErrorCode;
  /** The messages by field, if the code is "invalid" or the error concerns a batch; otherwise `undefined`. */
  readonly fields: FieldErrors | undefined;

  constructor(code: ErrorCode, message: string, fields?: FieldErrors) {
    super(message);
    this.name = 'DomainError';
    this.code = code;
    this.fields = fields;
  }
}

/**
 * Returns a validation error for one field. Each message completes a sentence that begins with the field's name, such as "must
 * not be blank."
 */
export function invalidField(field: string, ...messages: string[]): DomainError {
  return new DomainError('invalid', `${field} ${messages[0] ?? 'is not valid.'}`, { [field]: messages });
}

/** A limit was reached. A new request is possible after `retryAfterSeconds`. */
export class RateLimitedError extends DomainError {
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super('rate_limited', message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The codes of refusals that concern a single change of a batch. A refusal with any other code refuses the whole batch. */
const OF_ONE_CHANGE: readonly ErrorCode[] = ['invalid', 'not_found', 'conflict', 'precondition_failed'];

export function isOfOneChange(error: unknown): error is DomainError {
  return error instanceof DomainError && OF_ONE_CHANGE.includes(error.code);
}

/** The refusal of an atomic batch. No change was made, because at least one was refused. */
export class RefusedChangesError extends Error {
  /** The refusals by the index of the change in the batch, from 0, in order. There is at least one refusal. */
  readonly refusals: ReadonlyMap<number, DomainError>;

  constructor(refusals: ReadonlyMap<number, DomainError>) {
    super('Changes of an atomic batch were refused.');
    this.name = 'RefusedChangesError';
    this.refusals = refusals;
  }
}

/**
 * Returns the refusal of a change in an atomic batch if an earlier change of the batch creates a row with the same unique value.
 * `place` is the index of the earlier change.
 */
export function batchConflictOf(name: string, { value, place }: { value: unknown; place: number }): DomainError {
  return new DomainError(
    'conflict',
    `The ${name} ${JSON.stringify(value)} is also that of changes.${place} of this batch. Use a different ${name} in one of them.`,
  );
}

/**
 * The caller is authenticated, but may not perform the action. `permission` is the missing permission; `undefined` if the refusal
 * has another reason.
 */
export class ForbiddenError extends DomainError {
  readonly permission: string | undefined;

  constructor(message: string, permission?: string) {
    super('forbidden', message);
    this.permission = permission;
  }
}

export class ForbiddenAddressError extends ForbiddenError {}

/**
 * The reasons for which a key is not accepted. "environment": the key belongs to the other environment. "deactivated": the user
 * of the key is deactivated.
 */
export const KEY_REFUSAL_REASONS = [
  'missing',
  'malformed',
  'environment',
  'unknown',
  'expired',
  'rotated',
  'revoked',
  'deactivated',
] as const;
export type KeyRefusalReason = (typeof KEY_REFUSAL_REASONS)[number];

export class UnauthenticatedError extends DomainError {
  readonly reason: KeyRefusalReason;

  constructor(message: string, reason: KeyRefusalReason) {
    super('unauthenticated', message);
    this.reason = reason;
  }

  /** Returns whether a key was sent, but not accepted (RFC 6750 section 3.1). */
  get presented(): boolean {
    return this.reason !== 'missing';
  }
}

export class ExpiredKeyError extends UnauthenticatedError {
  /** The expiry for which the key was refused. An operator may have changed the expiry of the key since. */
  readonly expiresAt: Date;

  constructor(message: string, expiresAt: Date) {
    super(message, 'expired');
    this.expiresAt = expiresAt;
  }
}

/** The queues that can be full: those of the API and of the dashboard, the look-ups of keys, and the leases of rate limits. */
export const OVERLOADED = ['api', 'dashboard', 'keys', 'rate limits'] as const;
export type Overloaded = (typeof OVERLOADED)[number];

/**
 * A refusal under load. Create it in advance and throw the same object each time, because capturing a stack trace takes longer
 * than the rest of the refusal.
 */
export class OverloadError extends DomainError {
  readonly overloaded: Overloaded;

  constructor(overloaded: Overloaded) {
    super('unavailable', 'Too many requests wait for the database.');
    this.overloaded = overloaded;
  }
}

/**
 * The client closed its connection, or its sending side, before its request was processed. This error must not make the requests
 * of other clients fail. Created in advance, like an OverloadError.
 */
export class AbandonedError extends DomainError {
  constructor() {
    super('unavailable', 'The client closed its connection or its sending side.');
  }
}

/** The organization is moving to another database. Nothing was changed. */
export class MovingError extends DomainError {
  constructor() {
    super('unavailable', 'The organization is moving to another database. Try again in a moment.');
  }
}

/**
 * Returns whether the error is neither a bug nor an outage: a refusal under load or during a move, or a request that its client
 * abandoned.
 */
export function isNoFault(error: unknown): error is OverloadError | AbandonedError | MovingError {
  return error instanceof OverloadError || error instanceof AbandonedError || error instanceof MovingError;
}

/**
 * A problem that the operator must fix before Charter can start. `remedy` says how to fix the problem. The message and the remedy
 * contain no password.
 */
export class StartUpError extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartUpError';
    this.remedy = remedy;
  }
}

/**
 * Returns the `code` of an error from Node, pg or Prisma, such as "ECONNREFUSED", "57P01" or "P2024". Returns an empty string if
 * the value has no code or is not an error.
 */
export function codeOf(error: unknown): string {
  // In tests, Node's own errors belong to another realm, so instanceof does not recognize them.
  const code = isNativeError(error) ? memberOf(error, 'code') : undefined;
  return typeof code === 'string' ? code : '';
}

/** Returns the member with this name of a value of any type; `undefined` if there is no such member. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
