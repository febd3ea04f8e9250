/** A problem that stops the build. `npm run lint` finds more problems, and prints a remedy for each. */
export type Problem = { readonly file: string; readonly line: number; readonly message: string };

/** An error with one line for each problem: "openapi/guides/errors.md:12  The problem." */
export function errorOf(problems: readonly Problem[]): Error {
  return new Error(problems.map(({ file, line, message }) => `${file}:${line}  ${message}`).join('\n'));
}
