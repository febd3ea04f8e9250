// The report that Jest writes about a run.
import { readFile, rm } from 'node:fs/promises';

/** A failure of a test. `file` is an absolute path; `message` is what Jest prints. */
export type Failure = {
  readonly file: string;
  /** The title of the test; `null` if no test of the file has run, for example because the file cannot be imported. */
  readonly title: string | null;
  readonly message: string;
};

type Written = {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
};

/** Returns the flags that make Jest write its report to `file`. */
export const reportingTo = (file: string) => ['--json', '--outputFile', file];

/**
 * Reads the report and deletes it, so that a later run cannot read it. Returns `null` if the run ended before it wrote a report.
 */
export async function takeFailures(file: string): Promise<Failure[] | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  await rm(file);
  const { testResults }: Written = JSON.parse(text);
  return testResults.flatMap<Failure>(({ name, message, assertionResults }) =>
    assertionResults.length === 0
      ? [{ file: name, title: null, message }]
      : assertionResults
          .filter(({ status }) => status === 'failed')
          .map(({ fullName, failureMessages }) => ({
            file: name,
            title: fullName,
            message: failureMessages.join('\n'),
          })),
  );
}
