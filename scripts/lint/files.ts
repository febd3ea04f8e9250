import { globSync, readFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { nearest } from '../../openapi/lint/nearest.ts';
import { guidesIn } from '../guides.ts';
import { root } from '../tool.ts';
import { CONTRACT } from './contract.ts';
import { inOrder, type Problem } from './problem.ts';

/** The files of the contract that are written by hand. */
export function contractFiles(): string[] {
  return [CONTRACT, ...globSync('openapi/{paths,webhooks,components/*}/*.yaml', { cwd: root })].sort();
}

/** The Markdown pages that are written by hand; the changelog of the contract is generated. */
export function pageFiles(): string[] {
  const elsewhere = ['node_modules', 'generated', '.node', '.data', '.git', 'sample.md'];
  return globSync('**/*.md', { cwd: root, exclude: (name) => elsewhere.includes(name) })
    .filter((file) => file !== 'openapi/CHANGELOG.md')
    .sort();
}

/** Files that are not published, because nothing refers to them, and guides that are listed but missing. */
export function lintFiles(): Problem[] {
  return inOrder([...unusedComponents(), ...unlistedGuides()]);
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

const LIST = 'openapi/guides/guides.yaml';

function unlistedGuides(): Problem[] {
  const existing = globSync('*.md', { cwd: join(root, 'openapi/guides') });
  const listed = guidesIn(read(LIST));
  const missing = listed.filter(({ name }) => !existing.includes(name));
  const unlisted = existing.filter((name) => !listed.some((each) => each.name === name));
  return [
    ...missing.map(({ name, line }) => {
      const near = nearest(name, existing);
      return {
        file: LIST,
        line,
        column: 3,
        rule: 'guide-list',
        message: `The guide "${name}" does not exist.`,
        remedy: near === undefined ? 'Write it, or remove this line.' : `Did you mean "${near}"?`,
      };
    }),
    ...unlisted.map((name) => ({
      file: `openapi/guides/${name}`,
      line: 1,
      column: 1,
      rule: 'guide-list',
      message: 'This guide is not in the list, so it is not published.',
      remedy: `Add "- ${name}" to ${LIST}, in reading order.`,
    })),
  ];
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
