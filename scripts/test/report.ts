// The report that Jest writes about a run.
import { readFile, rm } from 'node:fs/promises';

/** `file` is absolute; `message` is what Jest prints. */
export type Failure = {
  readonly file: string;
  /** The title of the test; `null` if no test of the file has run, such as if the file cannot be imported. */
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

/** The flags with which Jest writes its report to `file`. */
export const reportingTo = (file: string) => ['--json', '--outputFile', file];

/** Reads the report and deletes it, so that no later run is taken for this one. `null` if the run ended before it wrote it. */
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
