import { availableParallelism } from 'node:os';

export default {
  roots: ['<rootDir>/test'],
  // `npm test` runs the files *.test.ts, and `npm run soak` the files *.soak.ts. Files that are named may be of both kinds.
  testMatch: [`**/*.${process.env.CHARTER_TESTS ?? '{test,soak}'}.ts`],
  moduleFileExtensions: ['ts', 'mjs', 'js'],
  transform: {},
  // Native modules and Node's own type stripping; processes, because some tests send signals or set V8's flags.
  runner: ['jest-light-runner', { runtime: 'child_process' }],
  setupFilesAfterEnv: ['<rootDir>/test/support/runner/worker.ts'],
  globalSetup: '<rootDir>/test/support/runner/set-up.ts',
  globalTeardown: '<rootDir>/test/support/runner/tear-down.ts',
  reporters: ['<rootDir>/test/support/runner/progress.mjs'],
  // Most tests wait for PostgreSQL, a browser or another process for a part of their time.
  maxWorkers: availableParallelism() + 2,
  randomize: true,
  testSequencer: '<rootDir>/test/support/runner/longest-first.mjs',
};
