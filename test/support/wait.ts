import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 10;

/**
 * Polls until the value is not null, false or undefined, and returns it; throws with what was awaited after the limit.
 */
export async function until<T>(
  awaited: string,
  ask: () => Promise<T | null | false | undefined> | T | null | false | undefined,
  { seconds = 90 }: { seconds?: number } = {},
): Promise<T> {
  for (const giveUpAt = Date.now() + seconds * 1000; Date.now() < giveUpAt; await delay(EVERY_MS)) {
    const value = await ask();
    if (value !== null && value !== undefined && value !== false) return value;
  }
  throw new Error(`Waited ${seconds} seconds in vain for: ${awaited}.`);
}

/** Resolves when no microtask is left, and before any timer can fire. */
export function microtasks(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
