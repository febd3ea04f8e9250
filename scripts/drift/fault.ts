import type { CHECKS } from '../test/checks.ts';

/** `find` must occur exactly once in the file. `test/drift` reports faults that no longer fit the code. */
export type Edit = { readonly file: string; readonly find: string; readonly replace: string };

/** The check or the test file that catches a fault. */
export type Catcher = keyof typeof CHECKS | `test/${string}.test.ts`;

/** A small defect that a developer could introduce by mistake. */
export type Fault = {
  readonly title: string;
  readonly edits: readonly Edit[];
  /** Runs after the edits, so that the fault is not caught merely because generated files are stale. */
  readonly afterwards?: 'generate' | 'generate and release' | 'build the docs';
  /** The first check of `npm test` that fails. */
  readonly caughtBy: Catcher;
};

export function isTest(catcher: Catcher): catcher is `test/${string}.test.ts` {
  return catcher.startsWith('test/');
}
