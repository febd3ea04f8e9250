import { isNativeError } from 'node:util/types';

/** The reason of a refusal. `api/exceptions.ts` maps each code to a status and a named schema. */
export type ErrorCode =
  | 'unauthenticated'
  | 'rate_limited'
  | 'forbidden'
  | 'invalid'
  | 'not_found'
  | 'conflict'
  | 'precondition_failed'
  | 'unavailable';

/** Messages by field: "name", "metadata.colour", the name of a parameter, or "body" for the whole body. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** An expected refusal. Its message is public: no SQL, no foreign id, no cause. */
export class DomainError extends Error {
  readonly code: ErrorCode;
  /** Given only with the code "invalid", or for a batch. */
  readonly fields: FieldErrors | undefined;

  constructor(code: ErrorCode, message: string, fields?: FieldErrors) {
    super(message);
    this.name = 'DomainError';
    this.code = code;
    this.fields = fields;
  }
}

/** An error for one field, in the form of a validation error. A message continues the name of the field: "must not be blank." */
export function invalidField(field: string, ...messages: string[]): DomainError {
  return new DomainError('invalid', `${field} ${messages[0] ?? 'is not valid.'}`, { [field]: messages });
}

/** A limit was reached. `retryAfterSeconds`: when it allows a request again. */
export class RateLimitedError extends DomainError {
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super('rate_limited', message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The refusals that concern one change of a batch only. Any other one refuses the batch. */
const OF_ONE_CHANGE: readonly ErrorCode[] = ['invalid', 'not_found', 'conflict', 'precondition_failed'];

export function isOfOneChange(error: unknown): error is DomainError {
  return error instanceof DomainError && OF_ONE_CHANGE.includes(error.code);
}

/** Changes of an atomic batch were refused, so none was made. */
export class RefusedChangesError extends Error {
  /** The refusals by the place of the change in the batch, from 0. There is at least one; the first change comes first. */
  readonly refusals: ReadonlyMap<number, DomainError>;

  constructor(refusals: ReadonlyMap<number, DomainError>) {
    super('Changes of an atomic batch were refused.');
    this.name = 'RefusedChangesError';
    this.refusals = refusals;
  }
}

/** Another change of the same atomic batch, `place`, creates a row with the value of a unique field: that row will not exist. */
export function batchConflictOf(name: string, { value, place }: { value: unknown; place: number }): DomainError {
  return new DomainError(
    'conflict',
    `The ${name} ${JSON.stringify(value)} is also that of changes.${place} of this batch. Use a different ${name} in one of them.`,
  );
}

/** The caller is authenticated but may not do this. `permission`: the missing one, if that is the reason. */
export class ForbiddenError extends DomainError {
  readonly permission: string | undefined;

  constructor(message: string, permission?: string) {
    super('forbidden', message);
    this.permission = permission;
  }
}

/** The key may not be used from the address of the client. */
export class ForbiddenAddressError extends ForbiddenError {}

/** Why a key is not accepted. For "environment", it is for the other environment; for "deactivated", its user is deactivated. */
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

/** The caller is not authenticated. */
export class UnauthenticatedError extends DomainError {
  readonly reason: KeyRefusalReason;

  constructor(message: string, reason: KeyRefusalReason) {
    super('unauthenticated', message);
    this.reason = reason;
  }

  /** A key was sent, but is not accepted (RFC 6750 section 3.1). */
  get presented(): boolean {
    return this.reason !== 'missing';
  }
}

/** The key has expired. */
export class ExpiredKeyError extends UnauthenticatedError {
  /** The expiry that the refusal is based on. An operator may have moved it since. */
  readonly expiresAt: Date;

  constructor(message: string, expiresAt: Date) {
    super(message, 'expired');
    this.expiresAt = expiresAt;
  }
}

/** The queue that is full: that of the API, that of the dashboard, the look-ups of keys, or the leases of rate limits. */
export const OVERLOADED = ['api', 'dashboard', 'keys', 'rate limits'] as const;
export type Overloaded = (typeof OVERLOADED)[number];

/**
 * A refusal under load. Make one in advance and throw it each time: capturing a stack takes longer than the rest of the
 * refusal.
 */
export class OverloadError extends DomainError {
  readonly overloaded: Overloaded;

  constructor(overloaded: Overloaded) {
    super('unavailable', 'Too many requests wait for the database.');
    this.overloaded = overloaded;
  }
}

/**
 * The client closed its connection, or its sending side, before its request was processed. It says nothing about requests of
 * other clients. Made in advance, like an OverloadError.
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

/** True for a request that was refused under load or during a move, or abandoned by its client; none is a bug or an outage. */
export function isNoFault(error: unknown): error is OverloadError | AbandonedError | MovingError {
  return error instanceof OverloadError || error instanceof AbandonedError || error instanceof MovingError;
}

/** A problem that the operator must fix before Charter can start; `remedy` says how. Neither text contains a password. */
export class StartUpError extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartUpError';
    this.remedy = remedy;
  }
}

/** The `code` of an error from Node, pg or Prisma: "ECONNREFUSED", "57P01", "P2024". Empty if it has none or is not an error. */
export function codeOf(error: unknown): string {
  // In a test, Node's own errors are of another realm, so instanceof does not recognize them.
  const code = isNativeError(error) ? memberOf(error, 'code') : undefined;
  return typeof code === 'string' ? code : '';
}

/** A member that the value's type does not declare; undefined if there is none. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
