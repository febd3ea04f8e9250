// JSON values, and what two of them have in common.
import { isObject, type Json } from '../../src/contract/document.ts';

/** The value, if it is an object; otherwise an empty object. */
export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

/** The value, if it is an array; otherwise an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function hasOwn(object: Json, name: string): boolean {
  return Object.hasOwn(object, name);
}

/** An own member: a field named "constructor" is not found on every object. */
export function member(object: Json, name: string): unknown {
  return hasOwn(object, name) ? object[name] : undefined;
}

/** The names in any of the objects, each once, sorted: the order in which they are written has no meaning. */
export function namesOf(...objects: readonly Json[]): string[] {
  return [...new Set(objects.flatMap((object) => Object.keys(object)))].sort();
}

/** A text that is the same for equal values, whatever the order of their keys. Values must not change between calls. */
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
