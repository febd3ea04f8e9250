import { setTimeout as delay } from 'node:timers/promises';

/** Returns a function that waits for at most this time. All calls during one wait end with it and share its timer. */
export function createPause(milliseconds: number): () => Promise<void> {
  let current: Promise<void> | undefined;
  const wait = async () => {
    await delay(milliseconds, undefined, { ref: false });
    current = undefined;
  };
  return () => {
    current ??= wait();
    return current;
  };
}
