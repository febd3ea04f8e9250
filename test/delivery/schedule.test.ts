import { retryMsAfter } from '../../src/delivery/schedule.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

test('after a failure, the next attempt comes after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h; the eighth is the last one', () => {
  const waits = Array.from({ length: 9 }, (_, i) => retryMsAfter(i + 1, 0));
  const seconds = [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
  expect(waits).toEqual([...seconds.map((each) => each * 1000), null, null]);
});

// The attack: everything that failed during an outage of a receiver comes back in the same second, and causes the next one.
test('a wait is up to a tenth longer', () => {
  expect([0, 0.5, 1].map((random) => retryMsAfter(2, random))).toEqual([300_000, 315_000, 330_000]);
});
