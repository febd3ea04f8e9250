/**
 * What is long by nature, such as random traffic, runs short in `npm test` and at full length in `npm run soak`, which runs
 * every test file that calls this.
 */
export function length<T>({ short, full }: { short: T; full: T }): T {
  return process.env['CHARTER_TEST_LENGTH'] === 'full' ? full : short;
}
