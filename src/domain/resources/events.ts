import type { components } from '../../../generated/openapi.d.ts';
import type { Permission } from '../people/role.ts';

/** The type of an event, such as "parent_program.created". */
export type EventType = components['schemas']['Event']['type'];
/** A resource whose changes are events. A migration calls "record_events_of" for the table of each such resource. */
export type EventResource = EventType extends `${infer Resource}.${string}` ? Resource : never;

/** The permission that a key needs to read the events of each type. The types are those of the contract, in the same order. */
const PERMISSIONS: Readonly<Record<EventType, Permission>> = {
  'parent_program.created': 'parent_programs:read',
  'parent_program.updated': 'parent_programs:read',
  'parent_program.deleted': 'parent_programs:read',
};

/** The types of all events. The assertion is safe, because Object.keys returns the keys of PERMISSIONS. */
export const EVENT_TYPES = Object.keys(PERMISSIONS) as readonly EventType[];

/**
 * Returns the permissions that a key needs to read events of a type. For a type that this version does not know, returns the
 * permissions for the other types of its resource; for an unknown resource, none.
 */
export function permissionsToRead(type: string): Permission[] {
  const [resource = ''] = type.split('.', 1);
  const needed = Object.entries(PERMISSIONS).filter(([each]) => each.startsWith(`${resource}.`));
  return [...new Set(needed.map(([, permission]) => permission))];
}
