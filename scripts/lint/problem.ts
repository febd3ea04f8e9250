/** Something that whoever writes can see and mend. */
export type Problem = {
  /** From the root of the checkout. */
  readonly file: string;
  /** 1 is the first. */
  readonly line: number;
  readonly column: number;
  /** What is wrong: one sentence. */
  readonly words: string;
  /** What to do about it. */
  readonly remedy: string;
  /** Who says so, for whoever wants to look it up. */
  readonly rule: string;
};

/** In the order of reading, each once, however many ways lead to it. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  const once = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return [...once.values()].sort(
    (a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column || compare(a.rule, b.rule),
  );
}

export function problemsText(problems: readonly Problem[]): string {
  return problems
    .map(
      ({ file, line, column, words, remedy, rule }) => `${file}:${line}:${column}\n  ${words}\n  ${remedy} [${rule}]\n`,
    )
    .join('\n');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
