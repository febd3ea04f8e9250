import { isObject, type Json } from '../../src/contract/document.ts';

export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function hasOwn(object: Json, name: string): boolean {
  return Object.hasOwn(object, name);
}

/** Returns an object's own member. Inherited members such as "constructor" do not count. */
export function member(object: Json, name: string): unknown {
  return hasOwn(object, name) ? object[name] : undefined;
}

/** Returns the names that at least one of the objects has. They are sorted, because the order of members has no meaning. */
export function namesOf(...objects: readonly Json[]): string[] {
  return [...new Set(objects.flatMap((object) => Object.keys(object)))].sort();
}

/**
 * Returns a text that is the same for equal values, whatever the order of their keys. The values must not be modified, because
 * the texts are cached.
 */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  const known = CANONICAL.get(value);
  if (known !== undefined) return known;
  const text = Array.isArray(value) ? `[${value.map(canonical).join()}]` : `{${canonicalMembers(objectOf(value))}}`;
  CANONICAL.set(value, text);
  return text;
}

const CANONICAL = new WeakMap<object, string>();

function canonicalMembers(object: Json): string {
  return namesOf(object)
    .map((name) => `${JSON.stringify(name)}:${canonical(object[name])}`)
    .join();
}

export function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}
