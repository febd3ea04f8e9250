/** A check of `npm test`: a script that Node runs in the root folder of a checkout. */
export type Check = {
  readonly title: string;
  readonly parameters: readonly string[];
  readonly remedy: string;
  readonly env?: Readonly<Record<string, string>>;
};

/** A check of some files. `reads` matches the files whose changes can affect the check. */
export type FileCheck = Check & { readonly reads: RegExp };

export const CHECKS = {
  lint: {
    title: 'contract, guides and spelling',
    reads: /^openapi\/|^scripts\/(lint|docs)\/|\.md$/,
    parameters: ['scripts/lint/main.ts'],
    remedy: 'Correct the problems above. To run this check alone: npm run lint',
  },
  generated: {
    title: 'generated files are fresh',
    reads: /^(openapi\/(?!guides)|generated\/|prisma\/|scripts\/generate\/)|^scripts\/(bundle|tool)|^package|^redocly/,
    parameters: ['scripts/generate/main.ts', '--check'],
    remedy: 'Run "npm run generate" and commit what it writes.',
  },
  release: {
    title: 'the contract has the version that its changes require',
    reads: /^(openapi\/(?!guides)|generated\/|scripts\/(release-contract|contract-diff)\/)/,
    parameters: ['scripts/release-contract/main.ts', '--check'],
    remedy: 'Follow the message above. To list all changes: npm run release-contract -- --dry-run',
  },
  migrations: {
    title: 'migrations match the schema',
    reads: /^prisma\/|^scripts\/migration/,
    parameters: ['scripts/migration.ts', '--check'],
    remedy: 'Run "npm run migration -- --name what_changed" and commit what it writes.',
  },
  types: {
    title: 'types',
    reads: /\.m?ts$|^package|^tsconfig/,
    parameters: ['node_modules/typescript-native/bin/tsc', '--noEmit', '--project', '.'],
    remedy: 'Correct the type errors. To run this check alone: npm run types',
  },
  style: {
    title: 'style',
    reads: /\.(m?[jt]s|cjs|css|json)$/,
    parameters: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'],
    remedy: 'Run "npm run format", and correct the remaining problems by hand.',
  },
  boundaries: {
    title: 'boundaries',
    reads: /\.m?[jt]s$|^\.dependency-cruiser/,
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
    remedy: 'The table in "Architecture" in CONTRIBUTING.md says what each folder may import.',
  },
} satisfies Record<string, FileCheck>;

const EARLY_WORKER_DATA = new URL('../../test/support/runner/early-worker-data.mjs', import.meta.url).href;

export const TESTS: Check = {
  title: 'tests',
  parameters: ['node_modules/jest/bin/jest.js'],
  remedy: 'Correct the code or the test. To run one file: npm test -- test/api/list.test.ts',
  env: { NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${EARLY_WORKER_DATA}` },
};
