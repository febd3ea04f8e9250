import { createHash } from 'node:crypto';
import type { ValidateFunction } from 'ajv';
import { Violations } from '../../src/api/violations.ts';
import { isObject, type Json, type Operation, type Schema } from '../../src/contract/document.ts';
import { parseInstant } from '../../src/domain/resources/instant.ts';
import { inJsonbOrder } from '../../src/domain/resources/json.ts';

/** The body that a client has sent to create or change an item, and the schema of the response. */
type Write = { readonly operation: Operation; readonly sent: Json; readonly schema: Schema };

/** Returns the example with the values that were sent. Writable fields that were not sent become empty. */
export function bodyOfCreation(example: Json, { operation, sent, schema }: Write): Json {
  const writable = operation.requestBody?.content['application/json']?.schema.properties ?? {};
  const empty = Object.keys(writable).flatMap((name) => {
    const value = emptyValueOf(schemaOfMember(schema, name) ?? {});
    return value === undefined ? [] : [[name, value] as const];
  });
  const body = inServerOrder(mergePatch({ ...example, ...Object.fromEntries(empty) }, sent, schema), schema);
  // The id depends on the body, so that a retry gets the same response.
  return 'id' in body ? { ...body, id: uuidOf(`${operation.path} ${JSON.stringify(sent)}`) } : body;
}

/** Returns the item after a change. As the contract says, `updated_at` changes only if another field has changed. */
export function bodyOfUpdate(current: Json, { sent, schema }: Write): Json {
  const body = inServerOrder(mergePatch(current, sent, schema), schema);
  const updatedAt = current['updated_at'];
  if (typeof updatedAt !== 'string' || JSON.stringify(body) === JSON.stringify(current)) return body;
  return { ...body, updated_at: new Date(Date.parse(updatedAt) + 1000).toISOString() };
}

/** Throws a 422 if a change makes the item invalid. This is possible even if the request itself is valid. */
export function requireValid(item: Json, validate: ValidateFunction): void {
  if (validate(item)) return;
  const errors = validate.errors ?? [];
  const violations = new Violations();
  for (const { keyword, instancePath, params } of errors) {
    if (keyword !== 'maxProperties') continue;
    const field = instancePath.slice(1).replaceAll('/', '.');
    violations.add(
      field,
      `must have at most ${params['limit']} entries after the change. Remove some by setting them to null.`,
    );
  }
  const others = errors.filter(({ keyword }) => keyword !== 'maxProperties');
  const bodyErrors = others.map((error) => ({ ...error, instancePath: `/requestBody${error.instancePath}` }));
  violations.addAll(bodyErrors, { queryNames: [], headerNames: new Map() });
  violations.throwIfAny();
}

/**
 * Returns the schema of a member: its own schema, otherwise that of additional members. Returns `undefined` if there is neither.
 */
export function schemaOfMember({ properties = {}, additionalProperties }: Schema, name: string): Schema | undefined {
  if (Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Returns the empty value of a member: null, {} or []. Returns `undefined` if the schema allows no empty value. */
export function emptyValueOf({ type = [] }: Schema): unknown {
  const types = [type].flat();
  if (types.includes('null')) return null;
  if (types.includes('object')) return {};
  return types.includes('array') ? [] : undefined;
}

/**
 * Applies a JSON merge patch (RFC 7396). `null` empties a member if the schema allows an empty value; otherwise it removes the
 * member. Members that are not in the schema stay unchanged.
 */
function mergePatch(current: Json, patch: Json, schema: Schema): Json {
  // In a plain object, an assignment to the member "__proto__" would be lost, so the members are in a Map.
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
  // The server returns every timestamp in UTC.
  return schema.format === 'date-time' && typeof value === 'string' ? parseInstant(value).toISOString() : value;
}

/** Returns the value with the members of its maps, such as `metadata`, in the order in which the server returns them. */
export function inServerOrder<T>(value: T, schema: Schema): T {
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    inServerOrder(member, schemaOfMember(schema, name) ?? {}),
  ]);
  const object = Object.fromEntries(members);
  return typeof schema.additionalProperties === 'object' ? inJsonbOrder(object) : object;
}

/** Returns a UUID in the format of version 7. The same text always gives the same UUID. */
export function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
