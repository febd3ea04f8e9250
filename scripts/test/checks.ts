/** One of what `npm test` runs, by Node, in the folder of any checkout. */
export type Check = {
  readonly title: string;
  readonly parameters: readonly string[];
  readonly remedy: string;
  readonly env?: Readonly<Record<string, string>>;
};

export const CHECKS = {
  lint: {
    title: 'contract, guides and spelling',
    parameters: ['scripts/lint/main.ts'],
    remedy: 'Mend what is named. Alone it runs as "npm run lint".',
  },
  generated: {
    title: 'generated files are fresh',
    parameters: ['scripts/generate/main.ts', '--check'],
    remedy: 'Run "npm run generate" and commit what it writes.',
  },
  release: {
    title: 'the contract has the version that its changes ask for',
    parameters: ['scripts/release-contract/main.ts', '--check'],
    remedy: 'Do what it says above. "npm run release-contract -- --dry-run" names every change.',
  },
  migrations: {
    title: 'migrations match the schema',
    parameters: ['scripts/migration.ts', '--check'],
    remedy: 'Run "npm run migration -- --name what_changed" and commit what it writes.',
  },
  types: {
    title: 'types',
    parameters: ['node_modules/typescript/bin/tsc', '--noEmit', '--project', '.'],
    remedy: 'Mend the types.',
  },
  style: {
    title: 'style',
    parameters: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'],
    remedy: 'Run "npm run format"; mend by hand what is left.',
  },
  boundaries: {
    title: 'boundaries',
    parameters: [
      'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
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
} satisfies Record<string, Check>;

const EARLY_WORKER_DATA = new URL('../../test/support/early-worker-data.mjs', import.meta.url).href;

export const TESTS: Check = {
  title: 'tests',
  parameters: ['node_modules/jest/bin/jest.js'],
  remedy: 'Mend the code, or the test. One file alone: npm test -- test/api/list.test.ts',
  env: { NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${EARLY_WORKER_DATA}` },
};

export const DRIFT: Check = {
  title: 'planted faults are caught',
  parameters: ['scripts/drift/main.ts', '--quick'],
  remedy:
    'Do what it says above. "npm run drift" tries every planted fault, "npm run drift -- --only TEXT" those of this title.',
};
