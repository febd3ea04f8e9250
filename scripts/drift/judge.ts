import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CHECKS, TESTS } from '../test/checks.ts';
import type { Checkout } from './checkout.ts';
import { type Catcher, isTest } from './lie.ts';
import { run } from './running.ts';

/** What the checks say of a folder: nothing is wrong, or what is, in a line for the table and in full. */
export type Verdict = { readonly isFine: boolean; readonly line: string; readonly printed: string };

/** The packages lie beyond a link here, and the rules know them by their place in the folder. */
const FLAGS: Partial<Record<Catcher, readonly string[]>> = { boundaries: ['--preserve-symlinks'] };

export async function judge({ folder }: Pick<Checkout, 'folder'>, check: keyof typeof CHECKS): Promise<Verdict> {
  const { code, printed } = await run(folder, [...CHECKS[check].parameters, ...(FLAGS[check] ?? [])]);
  return { isFine: code === 0, line: firstLineOf(printed), printed };
}

export function verdictOfCompiler(printed: string): Verdict {
  const error = printed.split('\n').find((line) => line.includes('error TS')) ?? '';
  return { isFine: printed === '', line: error.replace(/: error/, ''), printed };
}

type JestReport = {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
};

/**
 * By the tests of these files. They fail only where one of them does: a file that cannot even begin, because of a lie that is
 * no program, has caught nothing.
 */
export async function judgeByTests(
  { folder, scratch, databaseUrl }: Checkout,
  files: readonly string[],
): Promise<Verdict> {
  const reportFile = join(scratch, 'report.json');
  // A test that fails may leave a server behind, which would keep the run.
  const flags = [
    '--forceExit',
    '--runInBand',
    '--cacheDirectory',
    join(scratch, 'jest'),
    '--json',
    '--outputFile',
    reportFile,
  ];
  const env = { ...TESTS.env, CHARTER_TEST_SERVER: databaseUrl };
  await rm(reportFile, { force: true });
  const { printed } = await run(folder, [...TESTS.parameters, ...flags, '--runTestsByPath', ...files], env);
  const text = await readFile(reportFile, 'utf8').catch(() => null);
  if (text === null) throw new Error(`The tests of ${files.join(', ')} ended without a report:\n${printed}`);
  const { testResults }: JestReport = JSON.parse(text);
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const crashed = testResults.find(({ assertionResults }) => assertionResults.length === 0);
  if (crashed !== undefined) throw new Error(`A file of tests cannot begin:\n${crashed.message}`);
  const failed = tests.find(({ status }) => status === 'failed');
  return { isFine: failed === undefined, line: failed?.fullName ?? '', printed };
}

/** As the table calls it. */
export function kindOf(catcher: Catcher): string {
  if (isTest(catcher)) return catcher.startsWith('test/fuzz/') ? 'fuzz' : 'test';
  return KINDS[catcher];
}

const KINDS: Record<keyof typeof CHECKS, string> = {
  lint: 'lint',
  generated: 'generated files',
  release: 'release check',
  migrations: 'migrations',
  types: 'compiler',
  style: 'style',
  boundaries: 'boundaries',
};

function firstLineOf(printed: string): string {
  return (
    printed
      .split('\n')
      .map((line) => line.trim())
      .find((line) => line !== '') ?? ''
  );
}
