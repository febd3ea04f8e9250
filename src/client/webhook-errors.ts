import { CharterError } from './errors.ts';

/** Why a request is not an event of Charter, or not a recent one. */
export type InvalidEventReason =
  | 'missing_header'
  | 'invalid_timestamp'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'wrong_signature'
  | 'invalid_body';

/** The request does not come from Charter, or not now: respond with 400. No message holds a secret or a part of the body. */
export class InvalidEventError extends CharterError {
  readonly reason: InvalidEventReason;

  constructor(reason: InvalidEventReason, message: string) {
    super('InvalidEventError', message);
    this.reason = reason;
  }
}
