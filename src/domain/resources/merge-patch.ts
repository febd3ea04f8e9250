/**
 * A JSON merge patch (RFC 7396) of an object. A missing field does not change. `null` clears a field; a field that holds an
 * object is emptied instead, because such a field is never `null`.
 */
export type PatchOf<T> = { readonly [Field in keyof T]?: Patched<T[Field]> | undefined };

type Patched<Value> =
  Value extends Readonly<Record<string, infer Member>> ? Readonly<Record<string, Member | null>> | null : Value;

/** Returns the object after the patch, with the same fields in the same order. */
export function applyPatch<T extends object>(current: T, patch: PatchOf<T>): T {
  const changes = new Map<string, unknown>(Object.entries(patch));
  const fields = Object.entries(current).map(([field, value]) => [field, mergeValues(value, changes.get(field))]);
  // The assertion is safe, because the type of the patch ensures that each value fits its field.
  return Object.fromEntries(fields) as T;
}

function mergeValues(current: unknown, change: unknown): unknown {
  if (change === undefined) return current;
  if (!isObject(current)) return change;
  return isObject(change) ? mergeObjects(current, change) : {};
}

function mergeObjects(current: object, patch: object): object {
  // A Map is used, because assigning "__proto__" to an object would lose the entry.
  const merged = new Map(Object.entries(current));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
