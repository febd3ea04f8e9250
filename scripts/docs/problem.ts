/** What a writer has to mend, and where. `npm run lint` tells more of it, and with it what to do. */
export type Problem = { readonly file: string; readonly line: number; readonly message: string };

/** Such as "openapi/guides/errors.md:12  What is wrong.", a line for each. */
export function errorOf(problems: readonly Problem[]): Error {
  return new Error(problems.map(({ file, line, message }) => `${file}:${line}  ${message}`).join('\n'));
}
