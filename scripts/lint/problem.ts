/** A problem that a writer can fix. */
export type Problem = {
  /** The path from the root of the checkout. */
  readonly file: string;
  /** The line and the column count from 1. */
  readonly line: number;
  readonly column: number;
  /** What is wrong: one sentence. */
  readonly message: string;
  /** What to do. */
  readonly remedy: string;
  /** The name of the rule, ours or that of a tool. */
  readonly rule: string;
};

/** The rules whose problems cause others, such as links to an operation that another one hides. */
const CAUSES = ['yaml', 'unique-operation-id'];

/** Sorted by file and place, causes first; without repeats. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  const once = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return [...once.values()].sort(
    (a, b) =>
      Number(CAUSES.includes(b.rule)) - Number(CAUSES.includes(a.rule)) ||
      compare(a.file, b.file) ||
      a.line - b.line ||
      a.column - b.column ||
      compare(a.rule, b.rule),
  );
}

export function problemsText(problems: readonly Problem[]): string {
  return problems
    .map(
      ({ file, line, column, message, remedy, rule }) =>
        `${file}:${line}:${column}\n  ${message}\n  ${remedy} [${rule}]\n`,
    )
    .join('\n');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
