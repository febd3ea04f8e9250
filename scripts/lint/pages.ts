import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lint } from 'markdownlint/promise';
import { type LinkTargets, readLinkTargets } from '../../openapi/lint/link-targets.ts';
import { adviceForMarkdown } from '../../openapi/lint/markdownlint-messages.ts';
import { asMarkdownRule, SEPARATOR } from '../../openapi/lint/page-rule.ts';
import { pageRules } from '../../openapi/lint/pages/index.ts';
import type { Json } from '../../src/contract/document.ts';
import { root } from '../tool.ts';
import { inOrder, type Problem } from './problem.ts';

/** What markdownlint and our rules find in pages; the paths start at the root of the checkout. `document`: the contract. */
export async function lintPages(files: readonly string[], document: Json | null): Promise<Problem[]> {
  const texts = await Promise.all(files.map(async (file) => [file, await readFile(join(root, file), 'utf8')]));
  return lintTexts(Object.fromEntries(texts), readLinkTargets(root, document));
}

/** The same for texts, by their path. */
export async function lintTexts(texts: Readonly<Record<string, string>>, targets: LinkTargets): Promise<Problem[]> {
  const results = await lint({
    strings: texts,
    config: JSON.parse(readFileSync(join(root, 'openapi/lint/markdownlint.json'), 'utf8')),
    customRules: pageRules.map((rule) => asMarkdownRule(rule, targets)),
  });
  const own = new Set(pageRules.map(({ name }) => name));
  const problems = Object.entries(results).flatMap(([file, errors]) =>
    errors.map(({ lineNumber, errorRange, errorDetail, ruleDescription, ruleNames }): Problem => {
      const [rule = ''] = ruleNames;
      const detail = errorDetail ?? '';
      const [message = '', remedy = ''] = detail.split(SEPARATOR);
      const advice = own.has(rule)
        ? { message, remedy }
        : adviceForMarkdown({ names: ruleNames, description: ruleDescription, detail });
      return { file, line: lineNumber, column: errorRange?.[0] ?? 1, ...advice, rule };
    }),
  );
  return inOrder(problems);
}
