import { formatCount, formatNumber } from '../../src/domain/text.ts';

test('only 1 is singular', () => {
  expect([0, 1, 2].map((number) => formatCount(number, 'day'))).toEqual(['0 days', '1 day', '2 days']);
  expect([1, 2].map((number) => formatCount(number, 'entry', 'entries'))).toEqual(['1 entry', '2 entries']);
});

test('a large number has commas between its thousands', () => {
  expect([0, 999, 1000, 12_345, 1_234_567].map(formatNumber)).toEqual(['0', '999', '1,000', '12,345', '1,234,567']);
});
