// The report that Jest writes about a run.
import { readFile } from 'node:fs/promises';

/** A failed test. `file` is absolute; `message` is what Jest prints about it. */
export type Failure = { readonly file: string; readonly title: string; readonly message: string };

export type Report = {
  readonly failures: readonly Failure[];
  /** Test files without a result, such as those that cannot be imported, with the reason as `message`. */
  readonly crashed: readonly Omit<Failure, 'title'>[];
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

/** null if the run ended before it wrote the report. */
export async function readReport(file: string): Promise<Report | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  const { testResults }: Written = JSON.parse(text);
  const crashed = testResults
    .filter(({ assertionResults }) => assertionResults.length === 0)
    .map(({ name, message }) => ({ file: name, message }));
  const failures = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => ({ file: name, title: fullName, message: failureMessages.join('\n') })),
  );
  return { failures, crashed };
}
