import { readConfig } from '../../src/config.ts';
import { retryMsAfter } from '../../src/delivery/attempt.ts';
import { TIMEOUT_SECONDS } from '../../src/delivery/sender.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

test('after a failure, the next attempt comes after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h; the eighth is the last one', () => {
  const waits = Array.from({ length: 9 }, (_, i) => retryMsAfter(i + 1, 0));
  const seconds = [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
  expect(waits).toEqual([...seconds.map((each) => each * 1000), null, null]);
});

// The risk: everything that failed during a receiver's outage is sent again in the same second and causes the next outage.
test('a wait is up to a tenth longer', () => {
  expect([0, 0.5, 1].map((random) => retryMsAfter(2, random))).toEqual([300_000, 315_000, 330_000]);
});

// If an event expired earlier, housekeeping would delete its delivery before the last attempt, and nobody would know.
test('the last attempt comes before its event expires, with every value of EVENT_RETENTION_DAYS', () => {
  const shortestDays = [1, 2, 3].find((days) => {
    try {
      return readConfig({ EVENT_RETENTION_DAYS: String(days) }).eventRetentionDays === days;
    } catch {
      return false;
    }
  });
  let attempts = 1;
  let longestMs = TIMEOUT_SECONDS * 1000;
  for (let waitMs = retryMsAfter(1, 1); waitMs !== null; waitMs = retryMsAfter(attempts, 1)) {
    attempts += 1;
    longestMs += waitMs + TIMEOUT_SECONDS * 1000;
  }
  expect(attempts).toBe(8);
  expect((shortestDays ?? 0) * 24 * HOUR * 1000).toBeGreaterThan(longestMs);
});
