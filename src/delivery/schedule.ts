const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** The waits after the first failure, the second and so on. The attempt after the last wait is the last one. */
const WAITS_SECONDS = [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
/** A wait is longer by up to this share, so that the retries of many deliveries do not come at the same time. */
const JITTER = 0.1;

/**
 * The wait before the next attempt in milliseconds, or null if there is none. `failures`: the number of failed attempts so far,
 * at least 1. `random`: 0 to 1.
 */
export function retryMsAfter(failures: number, random: number): number | null {
  const seconds = WAITS_SECONDS[failures - 1];
  return seconds === undefined ? null : seconds * 1000 * (1 + JITTER * random);
}
