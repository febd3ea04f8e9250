import TestSequencer from '@jest/test-sequencer';

/** Parts of the paths of test files that take long for their size. */
const SLOW = ['/fuzz/self', '/browser/', '/process/', '/contract/release/command', '/contract/workflows', '/fuzz/'];

/**
 * Starts the test files that take longest first, so that no worker is still busy when the others have finished. Jest knows
 * their durations from its last run; in a fresh clone it only knows their sizes.
 */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const isSlow = ({ path }) => SLOW.some((part) => path.includes(part));
    return [...sorted.filter(isSlow), ...sorted.filter((test) => !isSlow(test))];
  }
}
