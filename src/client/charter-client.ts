import { type CharterClient, createTypedClient } from './client.ts';
import { realClock } from './sending.ts';
import { type ClientOptions, readSettings } from './settings.ts';

export type { CharterClient } from './client.ts';
export type {
  BatchOf,
  BatchOptions,
  BatchPath,
  ChangeOf,
  ErrorResult,
  ItemOf,
  OutcomeOf,
  PagedPath,
  PageOf,
  Result,
  Schemas,
  UpsertPath,
} from './contract.ts';
export { CharterError, NetworkError, ResponseError, TimeoutError, UnexpectedResponseError } from './errors.ts';
export type { ClientOptions } from './settings.ts';

/**
 * Creates a client. Sends no request. Throws a TypeError or RangeError for an invalid option. The message never contains the
 * option's value.
 */
export function createClient(options: ClientOptions): CharterClient {
  return createTypedClient(readSettings(options), realClock);
}
