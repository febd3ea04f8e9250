import type { Handlers } from '../operation.ts';
import * as events from './events.ts';
import * as key from './key.ts';
import * as parentPrograms from './parent-programs.ts';

/** The handlers of all operations of the contract. The code does not compile if one is missing. */
export const handlers: Handlers = { ...parentPrograms, ...events, ...key };
