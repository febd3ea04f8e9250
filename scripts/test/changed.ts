// Finds the checks and test files that a change can affect, for `npm test -- --changed`.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from '../tool.ts';
import { CHECKS, type Check, type FileCheck } from './checks.ts';

/** The folder in which a test run records, for each test file, which files of the program it executes. Git ignores the folder. */
export const RECORDS = join(root, 'node_modules/.cache/charter-tests');

type Affected = {
  readonly changed: readonly string[];
  readonly checks: readonly Check[];
  /** The test files. All paths in this file are relative to the root of the checkout. */
  readonly tests: readonly string[];
};

/**
 * Matches files on which nearly everything depends: the contract, the generated files, the tables, the dependencies, and the code
 * that runs commands and tests.
 */
const AFFECTS_ALL =
  /^(openapi\/(?!guides|lint|released)|generated\/|prisma\/|package(-lock)?\.json|jest\.config|test\/support\/runner\/|scripts\/(run|stamps|launch)\.mjs)/;
const IMPORT =
  /(?:\bfrom|\bimport)\s*['"](\.[^'"]+)['"]|\bimport(?:\.meta\.resolve)?\(\s*['"](\.[^'"]+)['"]|new URL\(\s*['"](\.[^'"]+)['"]/g;

/** Returns the files that differ from the revision, and the files that git does not track. */
export function listChangedSince(revision: string): string[] {
  const git = (...parameters: string[]) =>
    execFileSync('git', parameters, { cwd: root, encoding: 'utf8' })
      .split('\0')
      .filter((name) => name !== '');
  return [...git('diff', '-z', '--name-only', revision), ...git('ls-files', '-z', '--others', '--exclude-standard')];
}

/**
 * Returns what the changed files can affect. `executedBy` returns the files whose functions a test file executed in its last run,
 * or `null` if the test file has not run yet.
 */
export function listAffectedBy(changed: readonly string[], executedBy = readRecord): Affected {
  const checks = Object.values<FileCheck>(CHECKS).filter(({ reads }) => changed.some((file) => reads.test(file)));
  const all = globSync('test/**/*.test.ts', { cwd: root }).sort();
  if (changed.some((file) => AFFECTS_ALL.test(file))) return { changed, checks, tests: all };
  const graph = readGraph();
  const sources = withImporters(changed, graph);
  return {
    changed,
    checks,
    tests: all.filter((test) => isAffected(test, executedBy(test), { changed: sources, graph })),
  };
}

type Graph = { readonly texts: ReadonlyMap<string, string>; readonly imports: ReadonlyMap<string, readonly string[]> };

function readGraph(): Graph {
  const files = globSync('{src,scripts,test,prisma,openapi/lint}/**/*.{ts,mjs,js}', { cwd: root });
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  const imports = new Map(
    [...texts].map(([file, text]) => {
      const targets = [...text.matchAll(IMPORT)].map((match) =>
        join(dirname(file), match.slice(1).find(Boolean) ?? ''),
      );
      return [file, targets.filter((target) => texts.has(target))];
    }),
  );
  return { texts, imports };
}

/**
 * Returns the changed files. If a file computes a value when it is loaded and a change may concern this value, adds the files
 * that import the file. The records do not cover such values, because every process loads every file.
 */
function withImporters(changed: readonly string[], { imports, texts }: Graph): ReadonlySet<string> {
  const all = new Set(changed);
  const add = (file: string) => {
    if (!isCode(file) || file.startsWith('test/') || hasOnlyFunctions(texts.get(file) ?? '')) return;
    for (const [importer, targets] of imports) {
      if (!targets.includes(file) || all.has(importer)) continue;
      all.add(importer);
      // A file without functions only passes the value on to its own importers.
      if (!/=>|function|class /.test(texts.get(importer) ?? '')) add(importer);
    }
  };
  for (const file of changed) add(file);
  return all;
}

/** Returns whether the file exports only functions, classes and types. */
function hasOnlyFunctions(text: string): boolean {
  const values = [...text.matchAll(/^export const \w+(?:: [^=]+)? = (.*)$/gm)];
  return values.every(([line, value = '']) => /Handler</.test(line) || /^(async )?(\(|function|\w+ =>)/.test(value));
}

const isCode = (file: string) => /\.(ts|mjs)$/.test(file);

type Change = { readonly changed: ReadonlySet<string>; readonly graph: Graph };

function isAffected(test: string, executed: ReadonlySet<string> | null, { changed, graph }: Change): boolean {
  // If no run of the test was recorded, the test depends on every file that it imports, directly or indirectly.
  const reached = filesReachedFrom(test, graph, executed === null ? () => true : isOfTests);
  const texts = [...reached].filter(isOfTests).map((file) => (graph.texts.get(file) ?? '').replace(IMPORT, ''));
  return [...changed].some((file) => {
    if (reached.has(file) || executed?.has(file)) return true;
    // The text of a test names the files that the test reads or runs, or their folders.
    const names = isCode(file)
      ? [file]
      : [relative(dirname(dirname(file)), file), `${dirname(file)}'`, `${dirname(file)}/`];
    return texts.some((text) => names.some((name) => text.includes(name)));
  });
}

const isOfTests = (file: string) => file.startsWith('test/');

function filesReachedFrom(
  test: string,
  { imports }: Graph,
  isFollowed: (file: string) => boolean,
): ReadonlySet<string> {
  const reached = new Set<string>();
  const left = [test];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    left.push(...(imports.get(file) ?? []).filter(isFollowed));
  }
  return reached;
}

function readRecord(test: string): ReadonlySet<string> | null {
  const file = join(RECORDS, `${test}.json`);
  return existsSync(file) ? new Set(JSON.parse(readFileSync(file, 'utf8'))) : null;
}
