import TestSequencer from '@jest/test-sequencer';

/** The expected work of each test file of this run, by its path. Jest counts the reporters' module as another one. */
export const WEIGHTS = Symbol.for('charter.test.weights');

/**
 * Starts the test files that take longest first, so that no worker is still busy when the others have finished. Jest knows
 * their durations from its last run; in a fresh clone it only knows their sizes.
 */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    globalThis[WEIGHTS] = new Map(sorted.map((test) => [test.path, weightOf(test)]));
    return sorted;
  }
}

/** In milliseconds, or for a file that has not run here, estimated from its size. */
function weightOf({ path, duration, context: { hasteFS } }) {
  return duration ?? (hasteFS.getSize(path) ?? 0) / 2;
}
