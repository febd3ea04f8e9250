import { WEIGHTS } from './longest-first.mjs';

const SLOWEST = 10;
/** The maximum number of lines that are printed about the failures of a file, in a run of several files. */
const MOST_LINES = 120;
/** The time between two lines of progress if the output is not a terminal. */
const LINE_MS = 15_000;

/**
 * Prints failures as they occur, one line of progress, and at the end the slowest files. Measures the time of each file including
 * its top level, which opens servers and databases and which the runner does not measure. The next run uses these durations to
 * order the files.
 */
export default class Progress {
  #startedAt = new Map();
  #begunAt = performance.now();
  #lineAt = performance.now();
  #ended = new Set();
  #error;

  onTestFileStart({ path }) {
    this.#startedAt.set(path, performance.now());
  }

  onTestFileResult({ path }, result, { numTotalTestSuites: files, numFailedTests: failed }) {
    result.perfStats.runtime = Math.round(performance.now() - this.#startedAt.get(path));
    this.#ended.add(path);
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
    if (files === 1) process.stdout.write(titlesOf(result));
    if (result.failureMessage) process.stdout.write(failureOf(path, result, files === 1 ? Infinity : MOST_LINES));
    if (files === 1) return;
    const isDue = performance.now() - this.#lineAt > LINE_MS;
    if (!process.stdout.isTTY && !isDue) return;
    this.#lineAt = performance.now();
    const failures = failed === 0 ? '' : `, ${failed} tests failed`;
    const line = `  ${this.#ended.size} of ${files} test files${this.#timeLeft()}${failures}`;
    process.stdout.write(process.stdout.isTTY ? line : `${line}\n`);
  }

  onRunComplete(_contexts, { testResults, numPassedTests, numFailedTests, numPendingTests }) {
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
    const files = testResults
      .map(({ testFilePath, perfStats }) => ({ name: nameOf(testFilePath), seconds: perfStats.runtime / 1000 }))
      .sort((a, b) => b.seconds - a.seconds);
    const lines = files.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${name}`);
    if (lines.length > SLOWEST)
      process.stdout.write(`\nThe ${SLOWEST} slowest test files:\n${lines.slice(0, SLOWEST).join('\n')}\n`);
    if (process.env.CHARTER_TEST_TIMES) process.stdout.write(`\n${lines.join('\n')}\n`);
    const failed = testResults.filter(({ failureMessage }) => failureMessage);
    const reasonOf = ({ numFailingTests }) => (numFailingTests === 0 ? 'could not run' : `${numFailingTests} failed`);
    if (failed.length > 0)
      process.stdout.write(
        `\nFailed:\n${failed.map((each) => `  test/${nameOf(each.testFilePath)}: ${reasonOf(each)}\n`).join('')}`,
      );
    const seconds = ((performance.now() - this.#begunAt) / 1000).toFixed(0);
    process.stdout.write(
      `\n${testResults.length} files in ${seconds} s: ${numPassedTests} tests passed, ${numFailedTests} failed` +
        `${numPendingTests === 0 ? '' : `, ${numPendingTests} skipped`}\n`,
    );
    // Fails, because a run whose arguments match no file would otherwise pass.
    if (testResults.length === 0) this.#error = new Error('No test file has run.');
  }

  getLastError() {
    return this.#error;
  }

  /** Returns the time left, if the remaining files run as fast as those that have run. */
  #timeLeft() {
    const weights = globalThis[WEIGHTS] ?? new Map();
    const now = performance.now();
    let [all, done, longest] = [0, 0, 0];
    for (const [path, weight] of weights) {
      const startedAt = this.#startedAt.get(path);
      const ran = this.#ended.has(path) ? weight : startedAt === undefined ? 0 : Math.min(weight, now - startedAt);
      all += weight;
      done += ran;
      if (startedAt !== undefined) longest = Math.max(longest, weight - ran);
    }
    if (done === 0) return '';
    const seconds = Math.round(Math.max((all / done - 1) * (now - this.#begunAt), longest) / 1000);
    return `, about ${seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`} left`;
  }
}

function nameOf(path) {
  return path.split('/test/').at(-1);
}

/**
 * Returns the first lines of a failure, because there may be thousands. Replaces control characters, which a terminal would
 * interpret as commands.
 */
function failureOf(path, { failureMessage }, most) {
  const lines = failureMessage.replace(/[^\P{Cc}\n\t]/gu, '?').split('\n');
  const more =
    lines.length > most ? `\n  ... ${lines.length - most} more lines. To see them, run this file alone.` : '';
  return `FAIL  ${nameOf(path)}\n${lines.slice(0, most).join('\n')}${more}\n`;
}

function titlesOf({ testResults }) {
  const marks = { passed: '✓', failed: '✗' };
  return testResults.map(({ status, fullName }) => `  ${marks[status] ?? '○'} ${fullName}\n`).join('');
}
