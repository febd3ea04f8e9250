import type { ErrorResult } from './contract.ts';

/**
 * The base of every error that the client itself throws. No message, field or `cause` holds the API key. An error of `fetch`
 * may hold the whole request, so only its message is kept.
 */
export abstract class CharterError extends Error {
  constructor(name: string, message: string) {
    super(message);
    // Not a class field: those are enumerable and would be printed with every error.
    Object.defineProperty(this, 'name', { value: name, configurable: true, writable: true });
  }
}

/** There was no response: the server cannot be reached, or the connection broke. */
export class NetworkError extends CharterError {
  readonly tries: number;

  constructor(request: string, { reason, tries }: { reason: string; tries: number }) {
    super('NetworkError', `${request} got no response: ${reason} (tried ${times(tries)})`);
    this.tries = tries;
  }
}

/** There was no complete response in time; `timeoutMs` is the time limit of the last try. */
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
 * A response that is not Charter's: a redirect, an error page of a proxy, another server. Its body is not kept, because it
 * may repeat the request. `status` is 0 if the browser hides it.
 */
export class UnexpectedResponseError extends CharterError {
  readonly status: number;

  constructor(request: string, { status, reason }: { status: number; reason: string }) {
    super(
      'UnexpectedResponseError',
      `${request} got ${status === 0 ? 'a response' : status}, but ${reason}. Does baseUrl name the Charter server itself?`,
    );
    this.status = status;
  }
}

/** A list page that was not a success, in `items` or `pages`. `result` is discriminated by `result.status`. */
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
