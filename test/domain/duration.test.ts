import { daysUntil } from '../../src/domain/duration.ts';

test.each([
  ['2026-11-25T23:59:59.999Z', 0],
  ['2026-11-26T00:00:00.000Z', 1],
  ['2026-11-26T00:00:00.001Z', 1],
  ['2026-11-26T23:59:59.999Z', 1],
  ['2026-12-09T03:00:00.000Z', 14],
  ['2026-11-24T23:00:00.000Z', 0],
])('from 25 Nov, 04:00 UTC until %s, there are %d days', (at, days) => {
  expect(daysUntil(new Date(at), new Date('2026-11-25T04:00:00.000Z'))).toBe(days);
});
