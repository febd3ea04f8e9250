import { root, runTool } from '../../run-tool.ts';
import type { Problem } from '../problem.ts';

type LintProblem = {
  readonly message: string;
  readonly location: readonly {
    readonly source: { readonly ref: string };
    readonly start?: { readonly line: number };
  }[];
};

const CONTRACT = 'openapi/openapi.yaml';

/** What `redocly lint` has against the contract of this checkout. */
export async function lintContract(): Promise<Problem[]> {
  const { stdout, stderr } = await runTool('redocly', ['lint', CONTRACT, '--format', 'json']);
  const problems = stdout.startsWith('{') ? readProblems(stdout) : readFailure(stderr);
  return problems.map((problem) => ({ ...problem, message: problem.message.replaceAll(`${root}/`, '') }));
}

function readProblems(json: string): Problem[] {
  const { problems }: { problems: readonly LintProblem[] } = JSON.parse(json);
  return problems.map(({ message, location: [place] }) => ({
    file: place?.source.ref ?? CONTRACT,
    line: place?.start?.line ?? 1,
    message,
  }));
}

/** Where the contract's first file cannot be read at all, there is but a sentence: `... in "file" (line:column)`. */
function readFailure(printed: string): Problem[] {
  const [, message = printed.trim(), line = '1'] = /- (.+) in ".+" \((\d+):\d+\)/.exec(printed) ?? [];
  return [{ file: CONTRACT, line: Number(line), message }];
}
