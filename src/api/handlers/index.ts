import type { Handlers } from '../operation.ts';
import { getEvent, listEvents } from './events.ts';
import { getKey } from './key.ts';
import {
  batchParentPrograms,
  createParentProgram,
  deleteParentProgram,
  getParentProgram,
  listParentPrograms,
  updateParentProgram,
  upsertParentProgram,
} from './parent-programs.ts';

/** The handlers of all operations of the contract. The code does not compile if one is missing. */
export const handlers: Handlers = {
  listParentPrograms,
  createParentProgram,
  getParentProgram,
  updateParentProgram,
  deleteParentProgram,
  upsertParentProgram,
  batchParentPrograms,
  listEvents,
  getEvent,
  getKey,
};
