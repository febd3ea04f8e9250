import { createCall } from './calling.ts';
import { type CharterClient, clientOver } from './client.ts';
import { realClock } from './clock.ts';
import { type ClientOptions, settingsFrom } from './settings.ts';

export type { CharterClient } from './client.ts';
export type { Answer, ErrorAnswer, ItemOf, PagedPath, PageOf, Schemas } from './contract.ts';
export { AnswerError, CharterError, NetworkError, TimeoutError, UnexpectedAnswerError } from './errors.ts';
export type { ClientOptions } from './settings.ts';

/** Sends nothing yet. Throws a TypeError or RangeError, never with the value, on an option that cannot be right. */
export function createClient(options: ClientOptions): CharterClient {
  return clientOver(createCall(settingsFrom(options), realClock));
}
