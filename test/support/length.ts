/**
 * What is long by nature, such as random traffic: `full` in `npm run soak`, and `figures` in `npm run soak -- --full`, which
 * measures the figures that the documentation shows.
 */
export function length<T>({ full, figures }: { full: T; figures: T }): T {
  return process.env['CHARTER_TEST_LENGTH'] === 'figures' ? figures : full;
}
