import type { Rule as MarkdownRule, MicromarkToken, RuleOnError } from 'markdownlint';
import type { LinkTargets } from './link-targets.ts';
import type { Mistake } from './rule.ts';

/** A rule for Markdown pages. Markdownlint parses each page and calls `check`. */
export type PageRule = {
  readonly name: string;
  readonly check: (page: Page, targets: LinkTargets) => void;
  readonly mistakes: readonly Mistake[];
};

export type Fault = {
  readonly at: MicromarkToken;
  /** The line number of the fault in the page. The default is the first line of `at`. */
  readonly line?: number;
  readonly message: string;
  readonly remedy: string;
};

type Page = {
  /** The path relative to the root of the checkout, such as "openapi/guides/errors.md". */
  readonly file: string;
  /** All tokens of the page in reading order, including nested tokens. */
  readonly tokens: readonly MicromarkToken[];
  report(fault: Fault): void;
};

/** Separates the message from the remedy, because a markdownlint error has only one line of text. */
export const SEPARATOR = '\u001f';

export function asMarkdownRule({ name, check }: PageRule, targets: LinkTargets): MarkdownRule {
  return {
    names: [name],
    description: name,
    tags: ['charter'],
    parser: 'micromark',
    function: ({ name: file, parsers }, onError) =>
      check({ file, tokens: flat(parsers.micromark.tokens), report: (fault) => passOn(onError, fault) }, targets),
  };
}

function passOn(onError: RuleOnError, { at, line = at.startLine, message, remedy }: Fault): void {
  const detail = `${message}${SEPARATOR}${remedy}`;
  if (line !== at.startLine) return void onError({ lineNumber: line, detail });
  // Markdownlint requires the range to end in the first line of the token.
  const end = at.text.indexOf('\n');
  onError({ lineNumber: line, detail, range: [at.startColumn, Math.max(1, end < 0 ? at.text.length : end)] });
}

function flat(tokens: readonly MicromarkToken[]): MicromarkToken[] {
  return tokens.flatMap((token) => [token, ...flat(token.children)]);
}
