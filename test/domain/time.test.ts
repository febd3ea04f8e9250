import { daysUntil, formatDay, formatInstant } from '../../src/domain/time.ts';

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

test.each([
  ['2026-09-20T14:05:59.999Z', '20 Sep 2026', '20 Sep 2026, 14:05 UTC'],
  ['2026-01-01T00:00:00.000Z', '1 Jan 2026', '1 Jan 2026, 00:00 UTC'],
  ['2026-06-30T23:59:00.000Z', '30 Jun 2026', '30 Jun 2026, 23:59 UTC'],
])('%s reads %j as a date and %j to the minute, in any time zone of the server', (text, day, instant) => {
  expect([formatDay(new Date(text)), formatInstant(new Date(text))]).toEqual([day, instant]);
});
