import type { Handlers } from '../operation.ts';
import { getEvent, listEvents } from './events.ts';
import { getKey } from './key.ts';
import {
  createParentProgram,
  deleteParentProgram,
  getParentProgram,
  listParentPrograms,
  updateParentProgram,
} from './parent-programs.ts';

/** Every operation of the contract; one that is missing does not compile. */
export const handlers: Handlers = {
  listParentPrograms,
  createParentProgram,
  getParentProgram,
  updateParentProgram,
  deleteParentProgram,
  listEvents,
  getEvent,
  getKey,
};
