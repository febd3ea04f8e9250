import { join } from 'node:path';
import { CHECKS, TESTS } from '../test/checks.ts';
import { type Failure, reportingTo, takeFailures } from '../test/report.ts';
import { type Checkout, run } from './checkout.ts';
import type { Catcher } from './faults.ts';

/** The result of a check. `line` is the first line of its errors; `printed` is its whole output. */
export type Verdict = { readonly isFine: boolean; readonly line: string; readonly printed: string };

/**
 * Additional flags of checks. In a copy of the checkout, node_modules is a symbolic link. The rules recognize packages by their
 * path in the checkout, so links must not be resolved.
 */
const FLAGS: Partial<Record<Catcher, readonly string[]>> = { boundaries: ['--preserve-symlinks'] };

/** Runs a check and returns its result. Throws if the check was killed, because its result then proves nothing. */
export async function judge({ folder }: Pick<Checkout, 'folder'>, check: keyof typeof CHECKS): Promise<Verdict> {
  const { code, printed } = await run(folder, [...CHECKS[check].parameters, ...(FLAGS[check] ?? [])]);
  if (code === null) throw new Error(`The check "${check}" was killed by a signal:\n${printed}`);
  return { isFine: code === 0, line: firstLineOf(printed), printed };
}

type TestRun = {
  /**
   * Whether the test files run in several processes. By default they run one after the other, because other checks run at the
   * same time.
   */
  readonly isParallel?: boolean;
  readonly env?: Readonly<Record<string, string>>;
};

/**
 * Runs test files and returns their result. Throws if a test file cannot be loaded, because a fault that breaks the syntax does
 * not show that the test works.
 */
export async function judgeByTests(checkout: Checkout, files: readonly string[]): Promise<Verdict> {
  const failures = await listFailures(checkout, files);
  const unloadable = failures.find(({ title }) => title === null);
  if (unloadable !== undefined) throw new Error(`A test file cannot be loaded:\n${unloadable.message}`);
  const [first] = failures;
  return { isFine: first === undefined, line: first?.title ?? '', printed: first?.message ?? '' };
}

export async function listFailures(
  { folder, scratch, databaseUrl }: Checkout,
  files: readonly string[],
  { isParallel = false, env = {} }: TestRun = {},
): Promise<readonly Failure[]> {
  const reportFile = join(scratch, 'report.json');
  // A failed test may leave a server open, which would keep Jest running.
  const flags = ['--forceExit', ...(isParallel ? [] : ['--runInBand']), '--cacheDirectory', join(scratch, 'jest')];
  // Lets Jest find both kinds of test files. The soak run, which may have started this process, restricts Jest to one kind.
  const kinds = { CHARTER_TESTS: '{test,soak}' };
  const environment = { ...TESTS.env, ...kinds, ...env, CHARTER_TEST_SERVER: await databaseUrl() };
  const parameters = [...TESTS.parameters, ...flags, ...reportingTo(reportFile), '--runTestsByPath', ...files];
  const { printed } = await run(folder, parameters, environment);
  const failures = await takeFailures(reportFile);
  if (failures === null) throw new Error(`The tests of ${files.join(', ')} ended without a report:\n${printed}`);
  return failures;
}

function firstLineOf(printed: string): string {
  return (
    printed
      .split('\n')
      .map((line) => line.trim())
      .find((line) => line !== '') ?? ''
  );
}
