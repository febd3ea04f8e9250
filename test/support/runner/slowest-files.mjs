const COUNT = 10;

/**
 * Ends a run of many test files with the ten slowest. The runner does not measure the top level of a file, which opens
 * servers and databases. This reporter does, also for the order in which the next run starts the files.
 */
export default class SlowestFiles {
  #startedAt = new Map();

  onTestFileStart({ path }) {
    this.#startedAt.set(path, performance.now());
  }

  onTestFileResult({ path }, { perfStats }) {
    perfStats.runtime = Math.round(performance.now() - this.#startedAt.get(path));
  }

  onRunComplete(_contexts, { testResults }) {
    if (testResults.length <= COUNT) return;
    const files = testResults
      .map(({ testFilePath, perfStats }) => ({ file: testFilePath, seconds: perfStats.runtime / 1000 }))
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, COUNT);
    const lines = files.map(
      ({ file, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${file.split('/test/').at(-1)}`,
    );
    process.stdout.write(`\nThe ${COUNT} slowest test files:\n${lines.join('\n')}\n`);
  }
}
