import { setTimeout as delay } from 'node:timers/promises';

const SHORTEST_MS = 10;
const LONGEST_MS = 100;
/**
 * The default time limit, which ends only a wait for something that never happens. The start of a server takes a second on an
 * idle machine, and minutes on a busy virtual machine.
 */
const LIMIT_SECONDS = 300;

/**
 * Calls `ask` until its value is not null, false or undefined, and returns the value. The interval between calls grows. After the
 * limit, throws an error that names what was awaited.
 */
export async function until<T>(
  awaited: string,
  ask: () => Promise<T | null | false | undefined> | T | null | false | undefined,
  { seconds = LIMIT_SECONDS }: { seconds?: number } = {},
): Promise<T> {
  const startedAt = performance.now();
  for (let waited = 0; waited < seconds * 1000; waited = performance.now() - startedAt) {
    const value = await ask();
    if (value !== null && value !== undefined && value !== false) return value;
    await delay(Math.min(Math.max(SHORTEST_MS, waited / 10), LONGEST_MS));
  }
  throw new Error(`Waited ${seconds} seconds in vain for: ${awaited}.`);
}

/** Resolves when no microtask is left, before any timer can fire. */
export function microtasks(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/**
 * Returns the length of a test that is long by nature, such as random traffic: `full` in `npm run soak`, and `figures` in `npm
 * run soak -- --full`, which measures the figures in the documentation.
 */
export function length<T>({ full, figures }: { full: T; figures: T }): T {
  return process.env['CHARTER_TEST_LENGTH'] === 'figures' ? figures : full;
}
