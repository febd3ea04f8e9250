export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'mjs', 'cjs', 'js', 'json'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' } },
    ],
  },
  globalSetup: '<rootDir>/test/support/set-up.ts',
  globalTeardown: '<rootDir>/test/support/tear-down.ts',
  testTimeout: 240_000,
  maxWorkers: '100%',
  randomize: true,
};
