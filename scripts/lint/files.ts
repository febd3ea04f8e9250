import { globSync, readFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { nearest } from '../../openapi/lint/nearest.ts';
import { guidesIn } from '../guides.ts';
import { root } from '../tool.ts';
import { CONTRACT } from './contract.ts';
import { inOrder, type Problem } from './problem.ts';

/** Every file of the contract as it is written by hand. */
export function contractFiles(): string[] {
  return [CONTRACT, ...globSync('openapi/{paths,components/*}/*.yaml', { cwd: root })].sort();
}

/** Every Arazzo description, of one or more workflows each. */
export function workflowFiles(): string[] {
  return globSync('openapi/workflows/*.arazzo.yaml', { cwd: root }).sort();
}

/** Every page of the checkout that is written by hand, as the changelog of the contract is not. */
export function pageFiles(): string[] {
  const elsewhere = ['node_modules', 'generated', '.node', '.data', '.git', 'sample.md'];
  return globSync('**/*.md', { cwd: root, exclude: (name) => elsewhere.includes(name) })
    .filter((file) => file !== 'openapi/CHANGELOG.md')
    .sort();
}

/** Files that nothing points to, as nobody who reads the published contract or the guides ever sees them. */
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
      ...{ file, line: 1, column: 1, rule: 'unused-file' },
      words: `Nothing points to "${basename(file)}".`,
      remedy: 'Point to it with "$ref:" where it belongs, or delete the file.',
    }));
}

const LIST = 'openapi/guides/guides.yaml';

function unlistedGuides(): Problem[] {
  const there = globSync('*.md', { cwd: join(root, 'openapi/guides') });
  const listed = guidesIn(read(LIST));
  const missing = listed.filter(({ name }) => !there.includes(name));
  const unlisted = there.filter((name) => !listed.some((each) => each.name === name));
  return [
    ...missing.map(({ name, line }) => {
      const near = nearest(name, there);
      return {
        ...{ file: LIST, line, column: 3, rule: 'guide-list', words: `There is no guide "${name}".` },
        remedy: near === undefined ? 'Write it, or take this line out.' : `Did you mean "${near}"?`,
      };
    }),
    ...unlisted.map((name) => ({
      ...{ file: `openapi/guides/${name}`, line: 1, column: 1, rule: 'guide-list' },
      words: 'This guide is not in the list, so it is not published.',
      remedy: `Add "- ${name}" to ${LIST}, at its place in the order of reading.`,
    })),
  ];
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
