import { Distribution } from '../../src/observability/instruments/measures.ts';

test('each value counts in the first range that reaches it, and all values count in the last number', () => {
  const distribution = new Distribution([1, 2, 4]);
  expect(distribution.cumulativeCounts()).toEqual([0, 0, 0, 0]);
  for (const value of [0, 1, 1.5, 2, 4, 4.5, 100]) distribution.record(value);
  expect(distribution.cumulativeCounts()).toEqual([2, 4, 5, 7]);
  expect(distribution.sum).toBe(113);
});
