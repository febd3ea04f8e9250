// Every check, two at a time, and then every test. It stops at the first failure and says what to do.
import { spawn } from 'node:child_process';
import { root } from '../tool.ts';
import { CHECKS, type Check, DRIFT, TESTS } from './checks.ts';

// With test files named, only those run: for the minute in which one is being written.
const named = process.argv.slice(2);
const tests = { ...TESTS, parameters: [...TESTS.parameters, ...named] };
let [passed, failed] = [0, 0];

if (named.length === 0) await runInTurn([DRIFT, ...Object.values(CHECKS)], 2);
if (failed === 0) await runOne(tests, 'inherit');
process.exitCode = failed === 0 ? 0 : 1;
// Jest's tests count as one check.
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);

/** Begins no further check after a failure. */
async function runInTurn(checks: readonly Check[], atOnce: number): Promise<void> {
  const left = [...checks];
  const lane = async () => {
    for (let check = left.shift(); check !== undefined && failed === 0; check = left.shift())
      await runOne(check, 'pipe');
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

/** "pipe": prints what the check has printed if it fails, so that two at a time do not mix their lines. */
async function runOne(check: Check, output: 'pipe' | 'inherit'): Promise<void> {
  const startedAt = performance.now();
  const { code, printed } = await run(check, output);
  const isFine = code === 0;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (isFine) passed += 1;
  else failed += 1;
  process.stdout.write(`${isFine ? '' : printed}${isFine ? 'ok' : 'FAILED'}  ${check.title} (${seconds} s)\n`);
  if (!isFine) process.stdout.write(`\n${check.remedy}\n`);
}

function run(
  { parameters, env }: Check,
  output: 'pipe' | 'inherit',
): Promise<{ code: number | null; printed: string }> {
  const stdio = ['inherit', output, output] as const;
  const child = spawn(process.execPath, parameters, { cwd: root, env: { ...process.env, ...env }, stdio: [...stdio] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (printed += chunk));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, printed })));
}
