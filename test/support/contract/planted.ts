// Plants changes in a copy of the contract.
import { objectOf } from '../../../scripts/contract-diff/json.ts';
import { isObject, type Json } from '../../../src/contract/document.ts';

export type Case = {
  readonly title: string;
  /** Changes to the contract that are already in the old document. */
  readonly given?: readonly Planted[];
  readonly plants: readonly Planted[];
  /** Every change that must be found: "verdict: place: words". */
  readonly found: readonly string[];
};

/** The replacement of a value. Spaces separate the steps of its path; `undefined` removes the value. */
export type Planted = { readonly path: string; readonly change: (old: unknown) => unknown };

export function within(path: string, change: (old: unknown) => unknown): Planted {
  return { path, change };
}

export function set(path: string, value: unknown): Planted {
  return within(path, () => value);
}

export function remove(path: string): Planted {
  return set(path, undefined);
}

export function append(path: string, ...values: readonly unknown[]): Planted {
  return { path, change: (old) => [...(Array.isArray(old) ? old : []), ...values] };
}

/** Returns a change that removes the items equal to the value from a list. */
export function drop(path: string, value: unknown): Planted {
  const text = JSON.stringify(value);
  return { path, change: (old) => (Array.isArray(old) ? old.filter((one) => JSON.stringify(one) !== text) : old) };
}

export function rename(path: string, name: string, newName: string): Planted {
  const entriesOf = (old: Json) => Object.entries(old).map(([key, value]) => [key === name ? newName : key, value]);
  return { path, change: (old) => (isObject(old) ? Object.fromEntries(entriesOf(old)) : old) };
}

/** Returns a change that replaces every value in the document that is equal to `value`. */
export function replaceEach(value: unknown, other: unknown): Planted {
  const text = JSON.stringify(value);
  return { path: '', change: (old) => JSON.parse(JSON.stringify(old).replaceAll(text, JSON.stringify(other))) };
}

export function at(document: Json, path: string): unknown {
  return stepsOf(path).reduce<unknown>((value, step) => objectOf(value)[step], document);
}

export function plantIn(document: Json, plants: readonly Planted[]): Json {
  const result = plants.reduce<unknown>((value, { path, change }) => changeAt(value, stepsOf(path), change), document);
  if (!isObject(result)) throw new Error('A document is an object.');
  return result;
}

function stepsOf(path: string): readonly string[] {
  return path === '' ? [] : path.split(' ');
}

function changeAt(value: unknown, [step, ...rest]: readonly string[], change: (old: unknown) => unknown): unknown {
  if (step === undefined) return change(value);
  if (Array.isArray(value)) return value.map((item, i) => (String(i) === step ? changeAt(item, rest, change) : item));
  const { [step]: old, ...others } = isObject(value) ? value : {};
  const changed = changeAt(old, rest, change);
  return changed === undefined ? others : { ...others, [step]: changed };
}
