// Runs the properties and reports the shrunk counterexample of a failure.
import fc from 'fast-check';
import type { Json } from '../../src/contract/document.ts';
import { garbageProperty } from './garbage-property.ts';
import { requestProperty } from './request-property.ts';
import type { World } from './world.ts';

type How = { readonly seed: number; readonly numRuns: number; readonly path?: string };

export const PROPERTIES = {
  requests: (document: Json, world: World, how: How) => fc.check(requestProperty(document, world), how),
  garbage: (document: Json, world: World, how: How) => fc.check(garbageProperty(document, world), how),
} as const;

export type PropertyName = keyof typeof PROPERTIES;

/** The start of the search. A seed alone starts with its first run. A path selects a run or a step of its shrinking. */
export type Start = { readonly seed: number; readonly path?: string | undefined };

export function isPropertyName(name: string): name is PropertyName {
  return Object.hasOwn(PROPERTIES, name);
}

/** Returns `null` if the property holds. Otherwise, returns the failure, a curl command, and the command that repeats the run. */
export async function fuzz(
  name: PropertyName,
  { document, world, runs, seed, path }: { document: Json; world: World; runs: number } & Start,
): Promise<string | null> {
  const how = { seed, numRuns: runs, ...(path !== undefined && { path }) };
  const details = await PROPERTIES[name](document, world, how);
  if (!details.failed) return null;
  const { errorInstance } = details;
  const message = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  const again = `npm run fuzz -- --property ${name} --seed ${details.seed} --path ${details.counterexamplePath}`;
  return `${message}\nAgain, without shrinking: ${again}`;
}
