import type { Permission } from '../people/role.ts';

/**
 * The resources whose changes are events, which are those that a migration names with "record_events_of", and the permission that a key
 * needs to read the events of each.
 */
const RESOURCES = { parent_program: 'parent_programs:read' } as const satisfies Readonly<Record<string, Permission>>;
const CHANGES = ['created', 'updated', 'deleted'] as const;
export type EventResource = keyof typeof RESOURCES;
export type EventType = `${EventResource}.${(typeof CHANGES)[number]}`;

/** The types of all events. The contract lists them too; a test compares the two. */
export const EVENT_TYPES: readonly EventType[] = typesOf(Object.keys(RESOURCES));

function typesOf(resources: readonly string[]): EventType[] {
  // The names are those of RESOURCES.
  return resources.flatMap((resource) => CHANGES.map((change) => `${resource}.${change}` as EventType));
}

/** The permission that a key needs to read the events of a type; none for a type that this version does not know. */
export function permissionsToRead(type: string): Permission[] {
  return Object.entries(RESOURCES).flatMap(([resource, needed]) => (type.startsWith(`${resource}.`) ? [needed] : []));
}
