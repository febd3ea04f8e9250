// Runs every check, two at a time, and then every test. Stops at the first failure and prints the remedy. See --help.
import { formatCount } from '../../src/domain/text.ts';
import { runChild, runCommand } from '../child.ts';
import { root } from '../tool.ts';
import { listAffectedBy, listChangedSince, RECORDS } from './changed.ts';
import { CHECKS, type Check, TESTS } from './checks.ts';
import { listNamedTests } from './named-files.ts';

const HELP = `npm test                      runs every check, then every test file *.test.ts
npm test -- NAME...           runs the test files whose paths contain a name, but files *.soak.ts only if it contains ".soak"
npm test -- --changed         runs the checks and test files that the uncommitted changes can affect
npm test -- --since REVISION  runs those that the changes since a revision can affect, such as origin/main

Other options, after the names, are passed on to Jest, such as --testNamePattern.
`;

let [passed, failed] = [0, 0];

await runCommand(main);

async function main(): Promise<number> {
  const named = process.argv.slice(2);
  const [first, revision] = named;
  if (named.includes('--help')) {
    process.stdout.write(HELP);
    return 0;
  }
  if (first === '--since' && revision === undefined) throw new Error('Name a revision: npm test -- --since main');
  if (first === '--changed' || first === '--since') await runAffected(revision ?? 'HEAD');
  // If test files are named as arguments, only these test files run, and no checks, to be fast while a developer writes a test.
  else if (named.length > 0) await runNamed(named);
  else {
    await runInTurn(Object.values(CHECKS), 2);
    if (failed === 0) await runTests([], { CHARTER_TESTS: 'test' });
  }
  // All tests together count as one check.
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

async function runNamed(parameters: readonly string[]): Promise<void> {
  const end = parameters.findIndex((each) => each.startsWith('-'));
  const names = end === -1 ? parameters : parameters.slice(0, end);
  if (names.length === 0) return runTests(parameters);
  const { files, leftOut } = listNamedTests(names);
  if (leftOut.length > 0)
    process.stdout.write(
      `Left out: ${formatCount(leftOut.length, 'long test file')}. To run: npm run soak -- ${names.join(' ')}\n`,
    );
  await runTests(['--runTestsByPath', ...files, ...parameters.slice(names.length)]);
}

async function runAffected(revision: string): Promise<void> {
  const { changed, checks, tests } = listAffectedBy(listChangedSince(revision));
  process.stdout.write(
    `Changed files: ${changed.length}. Checks affected: ${checks.length}. Test files: ${tests.length}.\n`,
  );
  for (const file of changed.filter((each) => each.endsWith('.soak.ts')))
    process.stdout.write(`Not run: npm test -- ${file}\n`);
  await runInTurn(checks, 2);
  if (failed === 0 && tests.length > 0) await runTests(['--runTestsByPath', ...tests]);
}

function runTests(parameters: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
  const all = { ...TESTS.env, CHARTER_TEST_RECORDS: RECORDS, ...env };
  return runOne({ ...TESTS, parameters: [...TESTS.parameters, ...parameters], env: all }, 'inherit');
}

/** Runs the checks, `atOnce` at a time. After a failure, starts no further check. */
async function runInTurn(checks: readonly Check[], atOnce: number): Promise<void> {
  const left = [...checks];
  const lane = async () => {
    for (let check = left.shift(); check !== undefined && failed === 0; check = left.shift())
      await runOne(check, 'pipe');
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

/**
 * Runs one check. With "pipe", prints the check's output only if the check fails, so that the outputs of two checks do not mix.
 */
async function runOne(check: Check, output: 'pipe' | 'inherit'): Promise<void> {
  const startedAt = performance.now();
  const env = { ...process.env, ...check.env };
  const { code, printed } = await runChild(check.parameters, { cwd: root, env, stdio: ['inherit', output, output] });
  const isFine = code === 0;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (isFine) passed += 1;
  else failed += 1;
  process.stdout.write(`${isFine ? '' : printed}${isFine ? 'ok' : 'FAILED'}  ${check.title} (${seconds} s)\n`);
  if (!isFine) process.stdout.write(`\n${check.remedy}\n`);
}
