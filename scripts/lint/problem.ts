/** A problem that the author of the file can fix. */
export type Problem = {
  /** The path relative to the root of the checkout. */
  readonly file: string;
  /** The line number. Lines and columns begin with 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly remedy: string;
  /** The name of the rule: one of our rules or a tool's rule. */
  readonly rule: string;
};

/** The rules whose problems cause further problems. A duplicate operation id, for example, hides the target of a link. */
const CAUSES = ['yaml', 'unique-operation-id'];

/**
 * Returns the problems without repeats. Problems that cause further problems come first; the others are sorted by file and place.
 */
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
