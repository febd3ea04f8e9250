// Every check, then every test. It stops at the first that fails and says what to do.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { CHECKS, type Check, TESTS } from './checks.ts';

const root = join(import.meta.dirname, '../..');

const DRIFT: Check = {
  title: 'planted lies are caught',
  parameters: ['scripts/drift/main.ts', '--quick'],
  remedy: 'Do what it says above. "npm run drift" tries every lie, "npm run drift -- --only TEXT" those of this title.',
};

// With a file named, only the tests: for the minute in which one is being written.
const named = process.argv.slice(2);
const tests = { ...TESTS, parameters: [...TESTS.parameters, ...named] };
const checks = named.length > 0 ? [tests] : [...Object.values(CHECKS), DRIFT, tests];
let passed = 0;
for (const check of checks) {
  const startedAt = Date.now();
  const isFine = await run(check);
  process.stdout.write(
    `${isFine ? 'ok' : 'FAILED'}  ${check.title} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)\n`,
  );
  if (!isFine) {
    process.stdout.write(`\n${check.remedy}\n`);
    process.exitCode = 1;
    break;
  }
  passed += 1;
}
// Checks, of which Jest's tests are one.
process.stdout.write(`\n${passed} passed, ${process.exitCode === 1 ? 1 : 0} failed\n`);

async function run({ parameters, env }: Check): Promise<boolean> {
  const child = spawn(process.execPath, parameters, { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit' });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code === 0)));
}
