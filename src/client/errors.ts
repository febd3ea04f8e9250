import type { ErrorAnswer } from './contract.ts';

/**
 * Whatever a call throws of its own accord. No message, field or `cause` of it holds the API key: what a `fetch` throws
 * may hold the whole request, so of that only the words are kept.
 */
export abstract class CharterError extends Error {
  constructor(name: string, message: string) {
    super(message);
    // Not a class field: those are enumerable and would be printed with every error.
    Object.defineProperty(this, 'name', { value: name, configurable: true, writable: true });
  }
}

/** The request got no answer: the server cannot be reached, or the connection broke. */
export class NetworkError extends CharterError {
  readonly tries: number;

  constructor(what: string, { reason, tries }: { reason: string; tries: number }) {
    super('NetworkError', `${what} got no answer: ${reason} (tried ${times(tries)})`);
    this.tries = tries;
  }
}

/** The request got no whole answer in time; `timeoutMs` is what its last try was given. */
export class TimeoutError extends CharterError {
  readonly tries: number;
  readonly timeoutMs: number;

  constructor(what: string, { timeoutMs, tries }: { timeoutMs: number; tries: number }) {
    super('TimeoutError', `${what} got no whole answer within ${timeoutMs} ms (tried ${times(tries)})`);
    this.tries = tries;
    this.timeoutMs = timeoutMs;
  }
}

/**
 * An answer that is not Charter's: a redirect, a proxy's page, another server. What it said is not kept, because it may
 * repeat the request. `status` is 0 where a browser hides it.
 */
export class UnexpectedAnswerError extends CharterError {
  readonly status: number;

  constructor(what: string, { status, reason }: { status: number; reason: string }) {
    super(
      'UnexpectedAnswerError',
      `${what} got ${status === 0 ? 'an answer' : status}, but ${reason}. Does baseUrl name the Charter server itself?`,
    );
    this.status = status;
  }
}

/** A page that was refused or failed while `items` or `pages` went through a list. `answer.status` tells which way. */
export class AnswerError extends CharterError {
  readonly status: ErrorAnswer['status'];
  readonly exception: ErrorAnswer['error'];
  declare readonly answer: ErrorAnswer;

  constructor(what: string, answer: ErrorAnswer) {
    super('AnswerError', `${what} got ${answer.status}: ${answer.error.message}`);
    this.status = answer.status;
    this.exception = answer.error;
    Object.defineProperty(this, 'answer', { value: answer });
  }
}

function times(tries: number): string {
  return tries === 1 ? 'once' : `${tries} times`;
}
