/** Why something was refused. Every code has one status and one named schema in `api/exceptions.ts`. */
export type ErrorCode =
  | 'unauthenticated'
  | 'forbidden'
  | 'invalid'
  | 'not_found'
  | 'conflict'
  | 'precondition_failed'
  | 'unavailable';

/** Messages by field: "name", "metadata.colour", a parameter's name, or "body" for the whole. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** An expected refusal. Its message is public: no SQL, no foreign id, no cause. */
export class DomainError extends Error {
  readonly code: ErrorCode;
  /** What is wrong with which field; only with the code "invalid". */
  readonly fields: FieldErrors | undefined;

  constructor(code: ErrorCode, message: string, fields?: FieldErrors) {
    super(message);
    this.name = 'DomainError';
    this.code = code;
    this.fields = fields;
  }
}

/** The refusal of one field, as a validation of the contract would word it. */
export function invalidField(field: string, ...messages: string[]): DomainError {
  return new DomainError('invalid', `${field} ${messages[0] ?? 'is not valid.'}`, { [field]: messages });
}

/** The caller may be who they say, but may not do this; `permission` names the one that is missing, if one is. */
export class ForbiddenError extends DomainError {
  readonly permission: string | undefined;

  constructor(message: string, permission?: string) {
    super('forbidden', message);
    this.permission = permission;
  }
}

/** Nobody was recognized. `presented` tells a bad key from none at all (RFC 6750 section 3.1). */
export class UnauthenticatedError extends DomainError {
  readonly presented: boolean;

  constructor(message: string, { presented }: { presented: boolean }) {
    super('unauthenticated', message);
    this.presented = presented;
  }
}

/** A form that may be sent once was sent before, and what it asks for was done then. */
export class SentBeforeError extends DomainError {
  constructor() {
    super('conflict', 'This form was sent already, and what it asks for was done then.');
  }
}

/** Too many attempts: the next is judged after so many seconds, at least 1. */
export class SlowedError extends Error {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('There were too many attempts.');
    this.name = 'SlowedError';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
