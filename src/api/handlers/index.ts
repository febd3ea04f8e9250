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

/** Every operation of the contract; one that is missing does not compile. */
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
