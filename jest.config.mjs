import { availableParallelism } from 'node:os';

export default {
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  moduleFileExtensions: ['ts', 'mjs', 'js'],
  transform: {},
  // Native modules and Node's own type stripping; processes, because some tests send signals or set V8's flags.
  runner: ['jest-light-runner', { runtime: 'child_process' }],
  setupFilesAfterEnv: ['<rootDir>/test/support/runner/worker.ts'],
  globalSetup: '<rootDir>/test/support/runner/set-up.ts',
  globalTeardown: '<rootDir>/test/support/runner/tear-down.ts',
  reporters: ['default', '<rootDir>/test/support/runner/slowest-files.mjs'],
  // Most tests wait for PostgreSQL, a browser or another process for a part of their time.
  maxWorkers: availableParallelism() + 2,
  randomize: true,
  testSequencer: '<rootDir>/test/support/runner/longest-first.mjs',
};
