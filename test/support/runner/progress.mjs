import { WEIGHTS } from './longest-first.mjs';

const SLOWEST = 10;
/** Between two lines of progress where the output is no terminal. */
const LINE_MS = 15_000;

/**
 * Prints failures as they occur, one line of progress, and in the end the slowest files. The runner does not measure the top
 * level of a file, which opens servers and databases. This reporter does, also for the order in which the next run starts the files.
 */
export default class Progress {
  #startedAt = new Map();
  #begunAt = performance.now();
  #lineAt = performance.now();
  #done = 0;
  #error;

  onTestFileStart({ path }) {
    this.#startedAt.set(path, performance.now());
  }

  onTestFileResult({ path }, result, { numTotalTestSuites: files, numFailedTests: failed }) {
    result.perfStats.runtime = Math.round(performance.now() - this.#startedAt.get(path));
    this.#done += 1;
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
    if (files === 1) process.stdout.write(titlesOf(result));
    if (result.failureMessage) process.stdout.write(`FAIL  ${nameOf(path)}\n${result.failureMessage}\n`);
    if (files === 1) return;
    const isDue = performance.now() - this.#lineAt > LINE_MS;
    if (!process.stdout.isTTY && !isDue) return;
    this.#lineAt = performance.now();
    const failures = failed === 0 ? '' : `, ${failed} tests failed`;
    const line = `  ${this.#done} of ${files} test files${this.#timeLeft()}${failures}`;
    process.stdout.write(process.stdout.isTTY ? line : `${line}\n`);
  }

  onRunComplete(
    _contexts,
    { testResults, numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites },
  ) {
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
    const files = testResults
      .map(({ testFilePath, perfStats }) => ({ name: nameOf(testFilePath), seconds: perfStats.runtime / 1000 }))
      .sort((a, b) => b.seconds - a.seconds);
    const lines = files.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${name}`);
    if (lines.length > SLOWEST)
      process.stdout.write(`\nThe ${SLOWEST} slowest test files:\n${lines.slice(0, SLOWEST).join('\n')}\n`);
    if (process.env.CHARTER_TEST_TIMES) process.stdout.write(`\n${lines.join('\n')}\n`);
    const failed = testResults.filter(({ failureMessage }) => failureMessage).map((each) => nameOf(each.testFilePath));
    if (failed.length > 0) process.stdout.write(`\nFailed:\n${failed.map((name) => `  test/${name}`).join('\n')}\n`);
    if (numRuntimeErrorTestSuites > 0)
      process.stdout.write(`\n${numRuntimeErrorTestSuites} test files could not run.\n`);
    const seconds = ((performance.now() - this.#begunAt) / 1000).toFixed(0);
    process.stdout.write(
      `\n${testResults.length} files in ${seconds} s: ${numPassedTests} tests passed, ${numFailedTests} failed` +
        `${numPendingTests === 0 ? '' : `, ${numPendingTests} skipped`}\n`,
    );
    // Names as arguments that match no file would otherwise pass.
    if (testResults.length === 0) this.#error = new Error('No test file has run.');
  }

  getLastError() {
    return this.#error;
  }

  /** The time left, if the rest is as fast as what has run. */
  #timeLeft() {
    const weights = globalThis[WEIGHTS] ?? new Map();
    const sum = (paths) => [...paths].reduce((total, path) => total + (weights.get(path) ?? 0), 0);
    const [begun, all] = [sum(this.#startedAt.keys()), sum(weights.keys())];
    if (begun === 0 || all === 0) return '';
    const seconds = Math.round((((performance.now() - this.#begunAt) / begun) * (all - begun)) / 1000);
    return `, about ${seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`} left`;
  }
}

function nameOf(path) {
  return path.split('/test/').at(-1);
}

function titlesOf({ testResults }) {
  const marks = { passed: '✓', failed: '✗' };
  return testResults.map(({ status, fullName }) => `  ${marks[status] ?? '○'} ${fullName}\n`).join('');
}
