/**
 * What is long by nature, such as random traffic, runs short in `npm test` and at full length in `npm run soak`, which runs
 * every test file that calls this. `npm run soak -- --full` measures the figures that the documentation shows, which may take
 * longer still.
 */
export function length<T>({ short, full, figures = full }: { short: T; full: T; figures?: T }): T {
  const { CHARTER_TEST_LENGTH: chosen } = process.env;
  return chosen === 'figures' ? figures : chosen === 'full' ? full : short;
}
