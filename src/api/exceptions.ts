import type { components } from '../../generated/openapi.d.ts';
import {
  DomainError,
  type ErrorCode,
  type FieldErrors,
  ForbiddenError,
  isNoFault,
  MovingError,
  RateLimitedError,
  UnauthenticatedError,
} from '../domain/errors.ts';
import { maskKeys } from '../domain/keys/api-key.ts';
import { isOutage } from '../store/sql/database-errors.ts';

type ExceptionName = Extract<keyof components['schemas'], `${string}Exception`>;

/** The codes of refusals that exist only in HTTP. */
export type HttpErrorCode =
  | 'bad_request'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'not_implemented'
  | 'payload_too_large'
  | 'request_timeout'
  | 'uri_too_long'
  | 'unsupported_media_type';

export class HttpError extends Error {
  readonly code: HttpErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: HttpErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'HttpError';
    this.code = code;
    this.headers = headers;
  }
}

/** The status and the schema of each error code. The table is exhaustive, so a new code cannot lack a status or a schema. */
export const EXCEPTIONS: Record<ErrorCode | HttpErrorCode | 'bug', { status: number; schema: ExceptionName }> = {
  bad_request: { status: 400, schema: 'BadRequestException' },
  unauthenticated: { status: 401, schema: 'AuthenticationException' },
  forbidden: { status: 403, schema: 'AuthorizationException' },
  not_found: { status: 404, schema: 'NotFoundException' },
  method_not_allowed: { status: 405, schema: 'MethodNotAllowedException' },
  not_acceptable: { status: 406, schema: 'NotAcceptableException' },
  request_timeout: { status: 408, schema: 'RequestTimeoutException' },
  conflict: { status: 409, schema: 'ConflictException' },
  precondition_failed: { status: 412, schema: 'PreconditionFailedException' },
  payload_too_large: { status: 413, schema: 'PayloadTooLargeException' },
  uri_too_long: { status: 414, schema: 'UriTooLongException' },
  unsupported_media_type: { status: 415, schema: 'UnsupportedMediaTypeException' },
  invalid: { status: 422, schema: 'ValidationException' },
  rate_limited: { status: 429, schema: 'TooManyRequestsException' },
  bug: { status: 500, schema: 'ServerException' },
  not_implemented: { status: 501, schema: 'NotImplementedException' },
  unavailable: { status: 503, schema: 'ServiceUnavailableException' },
};

export type Exception = {
  readonly name: ExceptionName;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { message: string; errors?: FieldErrors };
  /**
   * Whether the error is a bug or an outage, and is therefore logged. Refusals under load or during a move are neither bugs nor
   * outages.
   */
  readonly isFault: boolean;
};

/** The largest Retry-After that the contract allows. */
const MAX_RETRY_AFTER_SECONDS = 3600;

const UNAVAILABLE = 'The service is temporarily unavailable. Try again in a few seconds.';

/** Returns the response for an error. The response to a bug or an outage reveals nothing about the cause. */
export function exceptionOf(error: unknown): Exception {
  if (error instanceof HttpError) return refusal(error.code, error.message, error.headers);
  if (error instanceof UnauthenticatedError) {
    const challenge = error.presented ? ', error="invalid_token"' : '';
    return refusal(error.code, error.message, { 'WWW-Authenticate': `Bearer realm="charter"${challenge}` });
  }
  if (error instanceof ForbiddenError) {
    const scope = error.permission === undefined ? '' : `, scope="${error.permission}"`;
    const challenge = `Bearer realm="charter", error="insufficient_scope"${scope}`;
    return refusal(error.code, error.message, { 'WWW-Authenticate': challenge });
  }
  if (error instanceof DomainError && error.code === 'rate_limited') {
    const seconds = error instanceof RateLimitedError ? error.retryAfterSeconds : 1;
    return refusal(error.code, error.message, { 'Retry-After': String(Math.min(MAX_RETRY_AFTER_SECONDS, seconds)) });
  }
  if (error instanceof DomainError && error.code !== 'unavailable')
    return refusal(error.code, error.message, {}, error.fields);
  if (isNoFault(error))
    return refusal('unavailable', UNAVAILABLE, { 'Retry-After': error instanceof MovingError ? '5' : '1' });
  if (error instanceof DomainError || isOutage(error)) {
    return { ...refusal('unavailable', UNAVAILABLE, { 'Retry-After': '5' }), isFault: true };
  }
  const message =
    'Something went wrong on our side. Try again. If it happens again, contact support and quote the X-Request-Id.';
  return { ...refusal('bug', message), isFault: true };
}

function refusal(
  code: keyof typeof EXCEPTIONS,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  errors?: FieldErrors,
): Exception {
  // A message may repeat what the client sent, such as a path. Keys in it are masked, because responses are often logged.
  const shown = { message: clip(maskKeys(message), MAX_MESSAGE) };
  const body = errors === undefined ? shown : { ...shown, errors };
  const { status, schema: name } = EXCEPTIONS[code];
  return { name, status, headers, body, isFault: false };
}

/** The maximum number of characters of a message, as in the contract. */
export const MAX_MESSAGE = 500;
/** The maximum number of fields in `errors`, as in the contract. */
export const MAX_FIELDS = 100;

/** Cuts a text to a number of characters. Characters are counted in code points, as by `maxLength` in JSON Schema. */
export function clip(text: string, characters: number): string {
  const points = text.length <= characters ? null : [...text];
  return points === null || points.length <= characters ? text : `${points.slice(0, characters - 1).join('')}…`;
}
