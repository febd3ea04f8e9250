import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lint } from 'markdownlint/promise';
import { type Book, readBook } from '../../openapi/lint/book.ts';
import { wordsForMarkdown } from '../../openapi/lint/markdownlint-words.ts';
import { asMarkdownRule, SEPARATOR } from '../../openapi/lint/page-rule.ts';
import { pageRules } from '../../openapi/lint/pages/index.ts';
import { root } from '../tool.ts';
import { inOrder, type Problem } from './problem.ts';

/** What markdownlint and our rules find in pages, given by their path from the root of the checkout. */
export async function lintPages(files: readonly string[]): Promise<Problem[]> {
  const texts = await Promise.all(files.map(async (file) => [file, await readFile(join(root, file), 'utf8')]));
  return lintTexts(Object.fromEntries(texts), readBook(root));
}

/** The texts by the path at which they stand. */
export async function lintTexts(texts: Readonly<Record<string, string>>, book: Book): Promise<Problem[]> {
  const results = await lint({
    strings: texts,
    config: JSON.parse(readFileSync(join(root, 'openapi/lint/markdownlint.json'), 'utf8')),
    customRules: pageRules.map((rule) => asMarkdownRule(rule, book)),
  });
  const own = new Set(pageRules.map(({ name }) => name));
  const problems = Object.entries(results).flatMap(([file, errors]) =>
    errors.map(({ lineNumber, errorRange, errorDetail, ruleDescription, ruleNames }): Problem => {
      const [rule = ''] = ruleNames;
      const detail = errorDetail ?? '';
      const [words = '', remedy = ''] = detail.split(SEPARATOR);
      const told = own.has(rule)
        ? { words, remedy }
        : wordsForMarkdown({ names: ruleNames, description: ruleDescription, detail });
      return { file, line: lineNumber, column: errorRange?.[0] ?? 1, ...told, rule };
    }),
  );
  return inOrder(problems);
}
