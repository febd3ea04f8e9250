// Runs the tests that need processes, browsers or much time. See --help.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { runChild, runCommand } from '../child.ts';
import { callMain, readArguments } from '../command-line.ts';
import { TESTS } from '../test/checks.ts';
import { listNamedSoaks } from '../test/named-files.ts';
import { type Failure, reportingTo, takeFailures } from '../test/report.ts';
import { root } from '../tool.ts';

const HELP = `npm run soak            runs what needs processes, browsers or time, for about 15 minutes on two quiet cores
npm run soak -- --full  runs it for about two hours, as the figures in the guide Guarantees require
npm run soak -- NAME... runs only the files *.soak.ts whose paths contain a name

It runs four parts: the test files *.soak.ts; tests of HTTP, with the server's connections from another process; all planted
faults; and generated requests with new seeds.
`;

/** How long generated requests are sent, in minutes. */
const MINUTES = { usual: 2, full: 30 };

/** The beginnings of the paths of test files that are also run with connections from another process, as with WORKERS. */
const HTTP_TESTS = ['test/connections', 'test/security-headers', 'test/api/http', 'test/dashboard/http/'];

type Part = {
  readonly title: string;
  readonly parameters: (isFull: boolean) => readonly string[];
  readonly env?: (isFull: boolean) => Readonly<Record<string, string>>;
  /** Whether this part is a run of Jest. */
  readonly isJest?: boolean;
  readonly remedy: string;
};

const lengthOf = (isFull: boolean) => (isFull ? 'figures' : 'full');

const PARTS: readonly Part[] = [
  {
    title: 'tests that need processes, browsers or time',
    parameters: () => TESTS.parameters,
    env: (isFull) => ({ CHARTER_TESTS: 'soak', CHARTER_TEST_LENGTH: lengthOf(isFull) }),
    isJest: true,
    remedy: 'Correct the code or the test. To run one file: npm run soak -- test/process/stop.soak.ts',
  },
  {
    title: 'the tests of HTTP through workers',
    parameters: () => [...TESTS.parameters, ...HTTP_TESTS],
    env: () => ({ CHARTER_TESTS: 'test', CHARTER_TEST_TRANSPORT: 'workers' }),
    isJest: true,
    remedy: 'Correct the code. To run one file: CHARTER_TEST_TRANSPORT=workers npm test -- test/connections.test.ts',
  },
  {
    title: 'planted faults are caught',
    parameters: () => ['scripts/drift/main.ts'],
    remedy:
      'A fault that is not caught needs a test. To try it again: npm run drift -- --only TEXT, with a part of its title.',
  },
  {
    title: 'generated requests',
    parameters: (isFull) => ['scripts/fuzz.ts', '--minutes', String(isFull ? MINUTES.full : MINUTES.usual)],
    remedy: 'See "If the fuzzer fails" in CONTRIBUTING.md.',
  },
];

const OPTIONS = { full: { type: 'boolean', default: false } } as const;

const names = process.argv.slice(2).filter((each) => !each.startsWith('-'));
const flags = process.argv.slice(2).filter((each) => each.startsWith('-'));
await runCommand(() =>
  names.length === 0 ? callMain(OPTIONS, HELP, main) : runNamed(readArguments(OPTIONS, HELP, flags)),
);

async function runNamed({ full }: { full: boolean }): Promise<number> {
  const parameters = [...TESTS.parameters, '--runTestsByPath', ...listNamedSoaks(names)];
  const env = { ...process.env, ...TESTS.env, CHARTER_TESTS: 'soak', CHARTER_TEST_LENGTH: lengthOf(full) };
  const { code } = await runChild(parameters, { cwd: root, env, stdio: 'inherit' });
  return code ?? 1;
}

async function main({ full }: { full: boolean }): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-soak-'));
  try {
    return await soak(full, join(folder, 'report.json'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function soak(isFull: boolean, reportFile: string): Promise<number> {
  let [passed, failed] = [0, 0];
  const failures: Failure[] = [];
  // Runs all parts, so that one failure does not hide another.
  for (const { title, parameters, env, isJest = false, remedy } of PARTS) {
    const startedAt = performance.now();
    const flags = isJest ? reportingTo(reportFile) : [];
    const all = { ...process.env, ...TESTS.env, ...env?.(isFull) };
    const { code } = await runChild([...parameters(isFull), ...flags], { cwd: root, env: all, stdio: 'inherit' });
    const isFine = code === 0;
    if (isJest) failures.push(...((await takeFailures(reportFile)) ?? []));
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    process.stdout.write(`${isFine ? 'ok' : 'FAILED'}  ${title} (${seconds} s)\n${isFine ? '' : `\n${remedy}\n\n`}`);
    if (isFine) passed += 1;
    else failed += 1;
  }
  // Prints the failures again, because the later parts print a lot.
  for (const { file, title, message } of failures)
    process.stdout.write(`\nFAILED  ${relative(root, file)}${title === null ? '' : `: ${title}`}\n${message}\n`);
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}
