import type { MicromarkToken, Rule as MarkdownRule, RuleOnError } from 'markdownlint';
import type { Book } from './book.ts';
import type { Mistake } from './rule.ts';

/** A rule of ours about Markdown. Markdownlint reads the page and calls `check`. */
export type PageRule = {
  readonly name: string;
  readonly check: (page: Page, book: Book) => void;
  readonly mistakes: readonly Mistake[];
};

export type Page = {
  /** From the root of the checkout: "openapi/guides/errors.md". */
  readonly file: string;
  /** Every token of the page, in the order of reading, those within others too. */
  readonly tokens: readonly MicromarkToken[];
  report(fault: { at: MicromarkToken; words: string; remedy: string }): void;
};

/** Between words and remedy on their way through markdownlint, which breaks no lines. */
export const SEPARATOR = '\u001f';

export function asMarkdownRule({ name, check }: PageRule, book: Book): MarkdownRule {
  return {
    names: [name],
    description: name,
    tags: ['charter'],
    parser: 'micromark',
    function: ({ name: file, parsers }, onError) =>
      check({ file, tokens: flat(parsers.micromark.tokens), report: (fault) => tell(onError, fault) }, book),
  };
}

function tell(onError: RuleOnError, { at, words, remedy }: { at: MicromarkToken; words: string; remedy: string }): void {
  onError({
    lineNumber: at.startLine,
    detail: `${words}${SEPARATOR}${remedy}`,
    // Within its line, of which a block of code has several.
    range: [at.startColumn, Math.max(1, at.text.indexOf('\n') < 0 ? at.text.length : at.text.indexOf('\n'))],
  });
}

function flat(tokens: readonly MicromarkToken[]): MicromarkToken[] {
  return tokens.flatMap((token) => [token, ...flat(token.children)]);
}
