// Every check, two at a time, and then every test. It stops at the first failure and says what to do.
import { runCommand, startChild, throwIfInterrupted } from '../child.ts';
import { root } from '../tool.ts';
import { CHECKS, type Check, TESTS } from './checks.ts';

let [passed, failed] = [0, 0];

await runCommand(main);

async function main(): Promise<number> {
  // With test files as arguments, only these run, without the checks: quick enough while a test is being written.
  const named = process.argv.slice(2);
  if (named.length === 0) await runInTurn(Object.values(CHECKS), 2);
  const env = { ...TESTS.env, ...(named.length === 0 && { CHARTER_TESTS: 'test' }) };
  if (failed === 0) await runOne({ ...TESTS, parameters: [...TESTS.parameters, ...named], env }, 'inherit');
  // Jest's tests count as one check.
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

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

/** Throws an `Interruption` if the run is stopped meanwhile. */
async function run(
  { parameters, env }: Check,
  output: 'pipe' | 'inherit',
): Promise<{ code: number | null; printed: string }> {
  const child = startChild(parameters, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['inherit', output, output],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => (printed += text));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  throwIfInterrupted();
  return { code, printed };
}
