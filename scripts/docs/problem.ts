/** What a writer has to mend, and where. */
export type Problem = { readonly file: string; readonly line: number; readonly message: string };

export class DocsError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(wordsOf).join('\n'));
    this.problems = problems;
  }
}

/** "openapi/guides/errors.md:12  What is wrong." */
export function wordsOf({ file, line, message }: Problem): string {
  return `${file}:${line}  ${message}`;
}
