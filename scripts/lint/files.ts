import { globSync, readFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { nearest } from '../../openapi/lint/nearest.ts';
import { linksOf } from '../docs/markdown.ts';
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

/** Files that are not published, because nothing refers to them, and guides that are missing or that readers do not find. */
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

/** Readers come from other guides. The first guide is the one that they are sent to. */
function unlinkedGuides(): Problem[] {
  const [first, ...names] = guidesIn(read(LIST)).map(({ name }) => name);
  const existing = globSync('*.md', { cwd: join(root, 'openapi/guides') });
  const linked = new Set(
    existing.flatMap((from) =>
      linksOf(read(`openapi/guides/${from}`))
        .map(({ target }) => target.split('#', 1)[0] ?? '')
        .filter((to) => to !== from),
    ),
  );
  return names
    .filter((name) => existing.includes(name) && !linked.has(name))
    .map((name) => ({
      file: `openapi/guides/${name}`,
      line: 1,
      column: 1,
      rule: 'guide-linked',
      message: 'No other guide links to this one.',
      remedy: `Link to it from the guide that its readers come from, such as ${first}: [its title](${name}).`,
    }));
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
