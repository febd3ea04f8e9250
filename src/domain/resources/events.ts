import type { components } from '../../../generated/openapi.d.ts';
import contract from '../../../generated/openapi.json' with { type: 'json' };
import type { Permission } from '../people/role.ts';

/** The type of an event, such as "parent_program.created". */
export type EventType = components['schemas']['Event']['type'];
/** A resource whose changes are events. A migration calls "record_events_of" for the table of each such resource. */
export type EventResource = EventType extends `${infer Resource}.${string}` ? Resource : never;

/** The types of all events, as the contract lists them. The assertion is safe, because the type is made from the same list. */
export const EVENT_TYPES = contract.components.schemas.Event.properties.type.enum as readonly EventType[];

/** The permission that a key needs to read the events of each resource. */
const RESOURCES: Readonly<Record<EventResource, Permission>> = { parent_program: 'parent_programs:read' };

/** Returns the permission that a key needs to read events of a type; an empty array if this version does not know the type. */
export function permissionsToRead(type: string): Permission[] {
  return Object.entries(RESOURCES).flatMap(([resource, needed]) => (type.startsWith(`${resource}.`) ? [needed] : []));
}
