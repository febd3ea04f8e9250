import { readInstant } from '../../src/api/instant.ts';
import { isObject, type Json, type Schema } from '../../src/contract/document.ts';
import { inJsonbOrder } from '../../src/domain/json.ts';

/** The schema of a member: its own, or the one of all other members; undefined: the schema has neither. */
export function schemaOfMember({ properties = {}, additionalProperties }: Schema, name: string): Schema | undefined {
  if (Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** The value of a member without content: null, {} or []; undefined: the schema allows none of them. */
export function emptyValueOf({ type = [] }: Schema): unknown {
  const types = [type].flat();
  if (types.includes('null')) return null;
  if (types.includes('object')) return {};
  return types.includes('array') ? [] : undefined;
}

/**
 * Applies a JSON merge patch (RFC 7396). Null empties a member where the schema has an empty value for it, and else
 * removes the member. Members that the schema does not know stay as they are.
 */
export function mergePatch(current: Json, patch: Json, schema: Schema): Json {
  // A Map, because assigning to "__proto__" of an object would lose that member.
  const members = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(patch)) {
    const memberSchema = schemaOfMember(schema, name);
    if (memberSchema === undefined) continue;
    const next = mergeMember(members.get(name), value, memberSchema);
    if (next === undefined) members.delete(name);
    else members.set(name, next);
  }
  return Object.fromEntries(members);
}

function mergeMember(current: unknown, value: unknown, schema: Schema): unknown {
  if (value === null) return emptyValueOf(schema);
  if (isObject(value)) return mergePatch(isObject(current) ? current : {}, value, schema);
  // The server returns every instant in UTC.
  return schema.format === 'date-time' && typeof value === 'string' ? readInstant(value).toISOString() : value;
}

/** The value with the members of its maps, such as `metadata`, in the order in which the server returns them. */
export function inServerOrder<T>(value: T, schema: Schema): T {
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    inServerOrder(member, schemaOfMember(schema, name) ?? {}),
  ]);
  const object = Object.fromEntries(members);
  return typeof schema.additionalProperties === 'object' ? inJsonbOrder(object) : object;
}
