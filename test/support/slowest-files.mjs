const COUNT = 10;

/** Ends a run of many test files with the ten slowest. */
export default class SlowestFiles {
  onRunComplete(_contexts, { testResults }) {
    if (testResults.length <= COUNT) return;
    const files = testResults
      .map(({ testFilePath, perfStats }) => ({ file: testFilePath, seconds: (perfStats.end - perfStats.start) / 1000 }))
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, COUNT);
    const lines = files.map(
      ({ file, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${file.split('/test/').at(-1)}`,
    );
    process.stdout.write(`\nThe ${COUNT} slowest test files:\n${lines.join('\n')}\n`);
  }
}
