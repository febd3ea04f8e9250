import type { ErrorResult } from './contract.ts';

/**
 * The base class of every error that the client itself throws. No message, field or `cause` contains the API key. Of an error of
 * `fetch`, only the message is kept, because the error may contain the whole request.
 */
export abstract class CharterError extends Error {
  constructor(name: string, message: string) {
    super(message);
    // The name is not a class field. Class fields are enumerable, so the name would be printed with every error.
    Object.defineProperty(this, 'name', { value: name, configurable: true, writable: true });
  }
}

/** There was no response, because the server could not be reached or the connection broke. */
export class NetworkError extends CharterError {
  readonly tries: number;

  constructor(request: string, { reason, tries }: { reason: string; tries: number }) {
    super('NetworkError', `${request} got no response: ${reason} (tried ${times(tries)})`);
    this.tries = tries;
  }
}

/** There was no complete response in time. `timeoutMs` is the time limit of the last try. */
export class TimeoutError extends CharterError {
  readonly tries: number;
  readonly timeoutMs: number;

  constructor(request: string, { timeoutMs, tries }: { timeoutMs: number; tries: number }) {
    super('TimeoutError', `${request} got no complete response within ${timeoutMs} ms (tried ${times(tries)})`);
    this.tries = tries;
    this.timeoutMs = timeoutMs;
  }
}

/**
 * The response does not come from Charter: it is a redirect, an error page of a proxy, or a response of another server. The body
 * is not kept, because it may repeat the request. `status` is 0 if the browser hides the status.
 */
export class UnexpectedResponseError extends CharterError {
  readonly status: number;

  constructor(request: string, { status, reason }: { status: number; reason: string }) {
    super(
      'UnexpectedResponseError',
      `${request} got ${status === 0 ? 'a response' : status}, but ${reason}. Is the address that of the Charter server itself?`,
    );
    this.status = status;
  }
}

/**
 * The response to the request for a page of a list (by `items` or `pages`), or to a whole batch, is an error. `result` is
 * discriminated by `result.status`.
 */
export class ResponseError extends CharterError {
  readonly status: ErrorResult['status'];
  readonly exception: ErrorResult['error'];
  declare readonly result: ErrorResult;

  constructor(request: string, result: ErrorResult) {
    super('ResponseError', `${request} got ${result.status}: ${result.error.message}`);
    this.status = result.status;
    this.exception = result.error;
    Object.defineProperty(this, 'result', { value: result });
  }
}

function times(tries: number): string {
  return tries === 1 ? 'once' : `${tries} times`;
}
