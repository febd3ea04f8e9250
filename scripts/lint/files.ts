import { existsSync, globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import { lint } from 'markdownlint/promise';
import { type LinkTargets, readLinkTargets } from '../../openapi/lint/link-targets.ts';
import { adviceForMarkdown } from '../../openapi/lint/markdownlint-messages.ts';
import { nearest } from '../../openapi/lint/nearest.ts';
import { asMarkdownRule, type PageRule, SEPARATOR } from '../../openapi/lint/page-rule.ts';
import { codeContent } from '../../openapi/lint/pages/code-content.ts';
import { codeLabel } from '../../openapi/lint/pages/code-label.ts';
import { link } from '../../openapi/lint/pages/link.ts';
import type { Json } from '../../src/contract/document.ts';
import { contractOf } from '../docs/contract.ts';
import { GUIDES, guidesIn, QUESTIONS, questionsIn, readSource, type Source } from '../docs/guides.ts';
import { linksOf } from '../docs/markdown.ts';
import { lostQuestions, placesIn } from '../docs/search.ts';
import { root } from '../tool.ts';
import { CONTRACT } from './contract.ts';
import { inOrder, type Problem } from './problem.ts';

/** Returns the files of the contract that are written by hand. */
export function contractFiles(): string[] {
  return [CONTRACT, ...globSync('openapi/{paths,webhooks,components/*}/*.yaml', { cwd: root })].sort();
}

/** Returns the Markdown pages that are written by hand. Leaves out the changelog of the contract, which is generated. */
export function pageFiles(): string[] {
  const elsewhere = ['node_modules', 'generated', '.node', '.data', '.git', 'sample.md'];
  return globSync('**/*.md', { cwd: root, exclude: (name) => elsewhere.includes(name) })
    .filter((file) => file !== 'openapi/CHANGELOG.md')
    .sort();
}

/**
 * Returns the problems with the files themselves: contract files to which nothing refers, guides that are missing or not in the
 * list, and guides to which no other guide links.
 */
export function lintFiles(): Problem[] {
  return inOrder([...unusedComponents(), ...unlistedGuides(), ...unlinkedGuides()]);
}

function unusedComponents(): Problem[] {
  const files = contractFiles();
  const used = files.flatMap((file) =>
    [...read(file).matchAll(/\$ref: *["']?([^"'#\s]+)/g)].map(([, to = '']) => posix.join(posix.dirname(file), to)),
  );
  return files
    .filter((file) => file !== CONTRACT && !used.includes(file))
    .map((file) => ({
      file,
      line: 1,
      column: 1,
      rule: 'unused-file',
      message: `Nothing uses "${basename(file)}".`,
      remedy: 'Refer to it with "$ref:", or delete it.',
    }));
}

const LIST = `${GUIDES}/guides.yaml`;

function unlistedGuides(): Problem[] {
  const existing = globSync('*.md', { cwd: join(root, GUIDES) });
  const listed = guidesIn(read(LIST));
  const missing = listed.filter(({ file }) => !existsSync(join(root, file)));
  const unlisted = existing.filter((name) => !listed.some((each) => each.name === name));
  return [
    ...missing.map(({ file, name, line }) => {
      const near = nearest(name, existing);
      return {
        file: LIST,
        line,
        column: 3,
        rule: 'guide-list',
        message: `The guide "${file}" does not exist.`,
        remedy: near === undefined ? 'Write it, or remove this line.' : `Did you mean "${near}"?`,
      };
    }),
    ...unlisted.map((name) => ({
      file: `${GUIDES}/${name}`,
      line: 1,
      column: 1,
      rule: 'guide-list',
      message: 'This guide is not in the list, so it is not published.',
      remedy: `Add "- ${name}" to ${LIST}, in reading order.`,
    })),
  ];
}

/** Returns a problem for each guide to which no other guide links. The first guide needs no link. */
function unlinkedGuides(): Problem[] {
  const [first, ...files] = guidesIn(read(LIST)).map(({ file }) => file);
  const existing = globSync('*.md', { cwd: join(root, GUIDES) });
  const linked = new Set(
    existing.flatMap((from) =>
      linksOf(read(`${GUIDES}/${from}`))
        .map(({ target }) => target.split('#', 1)[0] ?? '')
        .filter((to) => to !== from)
        .map((to) => posix.join(GUIDES, to)),
    ),
  );
  return files
    .filter((file) => existsSync(join(root, file)) && !linked.has(file))
    .map((file) => ({
      file,
      line: 1,
      column: 1,
      rule: 'guide-linked',
      message: 'No other guide links to this one.',
      remedy: `Link to it from the guide that its readers come from, such as ${first}: [its title](${posix.relative(GUIDES, file)}).`,
    }));
}

/** Returns the problems with questions.yaml, whose content is `text`. `source` is `null` if the guides cannot be read. */
export function lintQuestions(text: string, source: Source | null): Problem[] {
  const { found, problems } = questionsIn(text);
  const form = 'Write each place with a list of questions: "limits.md: [quota, why 429]".';
  const ofText = problems.map((problem) => ({ ...problem, column: 1, rule: 'yaml', remedy: form }));
  if (source === null) return ofText;
  const ofPlaces = lostQuestions({ ...source, questions: found }).map(({ place, ...problem }) => {
    const near = nearest(place, placesIn(source));
    const remedy =
      near === undefined
        ? 'Write a guide (errors.md#anchor), operation:getKey, or the name of a field.'
        : `Did you mean "${near}"?`;
    return { ...problem, column: 1, rule: 'question', remedy };
  });
  return [...ofText, ...ofPlaces];
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

export const pageRules: readonly PageRule[] = [codeContent, codeLabel, link];

/**
 * Returns the problems that markdownlint and our rules find in pages and in the questions. The paths are relative to the root of
 * the checkout; `document` is the contract.
 */
export async function lintPages(files: readonly string[], document: Json | null): Promise<Problem[]> {
  const texts = await Promise.all(files.map(async (file) => [file, await readFile(join(root, file), 'utf8')]));
  const ofTexts = await lintTexts(Object.fromEntries(texts), readLinkTargets(root, document));
  // If the guides cannot be read, other checks report the reason.
  const source = document === null ? null : await readSource(root, contractOf(document)).catch(() => null);
  return inOrder([...ofTexts, ...lintQuestions(read(QUESTIONS), source)]);
}

/** Returns the problems that markdownlint and our rules find in the texts, which are given by path. */
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
