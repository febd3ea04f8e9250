import type { Json } from '../../src/api/document.ts';

export function isObject(value: unknown): value is Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The schema of a member: its own, or that of every further one; undefined: the schema has none. */
export function schemaOfMember(schema: unknown, name: string): unknown {
  if (!isObject(schema)) return undefined;
  const { properties, additionalProperties } = schema;
  if (isObject(properties) && Object.hasOwn(properties, name)) return properties[name];
  return isObject(additionalProperties) ? additionalProperties : undefined;
}

export function namesIn(schema: unknown): string[] {
  return isObject(schema) && isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
}

/** What stands where there is nothing: null, {} or []; undefined: the schema allows none of them. */
export function emptyOf(schema: unknown): unknown {
  const types = isObject(schema) ? [schema['type']].flat() : [];
  if (types.includes('null')) return null;
  if (types.includes('object')) return {};
  return types.includes('array') ? [] : undefined;
}

/**
 * A JSON merge patch (RFC 7396) of what the schema is of: null empties a member that must be there, and removes another.
 * By way of a Map, because assigning to an object's "__proto__" would lose that member.
 */
export function merge(current: Json, patch: Json, schema: unknown): Json {
  const members = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(patch)) {
    const ofMember = schemaOfMember(schema, name);
    if (ofMember === undefined) continue;
    const next = mergeMember(members.get(name), value, ofMember);
    if (next === undefined) members.delete(name);
    else members.set(name, next);
  }
  return Object.fromEntries(members);
}

function mergeMember(current: unknown, value: unknown, schema: unknown): unknown {
  if (value === null) return emptyOf(schema);
  return isObject(value) ? merge(isObject(current) ? current : {}, value, schema) : value;
}
