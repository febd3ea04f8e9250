import type { Permission } from '../people/role.ts';

/**
 * The resources whose changes are events, and the permission that a key needs to read the events of each. A migration calls
 * "record_events_of" for the same resources.
 */
const RESOURCES = { parent_program: 'parent_programs:read' } as const satisfies Readonly<Record<string, Permission>>;
const CHANGES = ['created', 'updated', 'deleted'] as const;
export type EventResource = keyof typeof RESOURCES;
export type EventType = `${EventResource}.${(typeof CHANGES)[number]}`;

/** The types of all events. The contract lists them, too; a test compares the two lists. */
export const EVENT_TYPES: readonly EventType[] = typesOf(Object.keys(RESOURCES));

function typesOf(resources: readonly string[]): EventType[] {
  // The type holds, because all names come from RESOURCES.
  return resources.flatMap((resource) => CHANGES.map((change) => `${resource}.${change}` as EventType));
}

/** Returns the permission that a key needs to read events of a type; none if this version does not know the type. */
export function permissionsToRead(type: string): Permission[] {
  return Object.entries(RESOURCES).flatMap(([resource, needed]) => (type.startsWith(`${resource}.`) ? [needed] : []));
}
