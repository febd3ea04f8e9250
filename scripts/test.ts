// Every check, then every test. It stops at the first that fails and says what to do.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const bin = (path: string) => join(root, 'node_modules', path);

type Check = { title: string; parameters: string[]; remedy: string; env?: Record<string, string> };

const CHECKS: readonly Check[] = [
  {
    title: 'contract, guides and spelling',
    parameters: ['scripts/lint.ts'],
    remedy: 'Mend what is named. Alone it runs as "npm run lint".',
  },
  {
    title: 'generated files are fresh',
    parameters: ['scripts/generate.ts', '--check'],
    remedy: 'Run "npm run generate" and commit what it writes.',
  },
  {
    title: 'the contract has the version that its changes ask for',
    parameters: ['scripts/release-contract.ts', '--check'],
    remedy: 'Do what it says above. "npm run release-contract -- --dry-run" names every change.',
  },
  {
    title: 'migrations match the schema',
    parameters: ['scripts/migration.ts', '--check'],
    remedy: 'Run "npm run migration -- --name what_changed" and commit what it writes.',
  },
  { title: 'types', parameters: [bin('typescript/bin/tsc'), '--noEmit', '--project', '.'], remedy: 'Mend the types.' },
  {
    title: 'style',
    parameters: [bin('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.'],
    remedy: 'Run "npm run format"; mend by hand what is left.',
  },
  {
    title: 'boundaries',
    parameters: [
      bin('dependency-cruiser/bin/dependency-cruiser.mjs'),
      '--config',
      '.dependency-cruiser.cjs',
      'src',
      'scripts',
      'openapi/lint',
      'prisma',
      'test',
    ],
    remedy: 'Imports point one way: api | dashboard | operations -> service -> store -> domain.',
  },
  {
    title: 'tests',
    parameters: [bin('jest/bin/jest.js'), ...process.argv.slice(2)],
    remedy: 'Mend the code, or the test. One file alone: npm test -- test/api/list.test.ts',
    env: { NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning' },
  },
];

// With a file named, only the tests: for the minute in which one is being written.
const checks = process.argv.length > 2 ? CHECKS.slice(-1) : CHECKS;
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
