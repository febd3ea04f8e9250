import TestSequencer from '@jest/test-sequencer';

/**
 * The key of the expected durations of this run's test files, by path. A symbol on the global object, because Jest loads this
 * module twice.
 */
export const WEIGHTS = Symbol.for('charter.test.weights');

/**
 * Starts the test files that take longest first, so that no worker is still busy when the others have finished. Jest knows the
 * durations of its last run; in a fresh clone, it only knows the sizes of the files.
 */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    globalThis[WEIGHTS] = new Map(sorted.map((test) => [test.path, weightOf(test)]));
    return sorted;
  }
}

/**
 * Returns the expected duration in milliseconds. For a file that has not run here yet, estimates it from the size of the file.
 */
function weightOf({ path, duration, context: { hasteFS } }) {
  return duration ?? (hasteFS.getSize(path) ?? 0) / 2;
}
