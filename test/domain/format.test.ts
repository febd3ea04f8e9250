import { formatCount, formatDay, formatInstant, formatNumber } from '../../src/domain/format.ts';

test.each([
  ['2026-09-20T14:05:59.999Z', '20 Sep 2026', '20 Sep 2026, 14:05 UTC'],
  ['2026-01-01T00:00:00.000Z', '1 Jan 2026', '1 Jan 2026, 00:00 UTC'],
  ['2026-06-30T23:59:00.000Z', '30 Jun 2026', '30 Jun 2026, 23:59 UTC'],
])('%s reads %j as a date and %j to the minute, in any time zone of the server', (text, day, instant) => {
  expect([formatDay(new Date(text)), formatInstant(new Date(text))]).toEqual([day, instant]);
});

test('only 1 is singular', () => {
  expect([0, 1, 2].map((number) => formatCount(number, 'day'))).toEqual(['0 days', '1 day', '2 days']);
  expect([1, 2].map((number) => formatCount(number, 'entry', 'entries'))).toEqual(['1 entry', '2 entries']);
});

test('a large number has commas between its thousands', () => {
  expect([0, 999, 1000, 12_345, 1_234_567].map(formatNumber)).toEqual(['0', '999', '1,000', '12,345', '1,234,567']);
});
