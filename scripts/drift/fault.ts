import type { CHECKS } from '../test/checks.ts';

/** `find` must occur exactly once in the file. `test/drift` reports faults that no longer fit the code. */
export type Edit = { readonly file: string; readonly find: string; readonly replace: string };

/** The check or the test file that catches a fault. */
export type Catcher = keyof typeof CHECKS | `test/${string}.${'test' | 'soak'}.ts`;

/** A small defect that a developer could introduce by mistake, and the check or test that fails then. */
export type Fault = Edit & { readonly title: string; readonly caughtBy: Catcher };

export function isTest(catcher: Catcher): catcher is `test/${string}.${'test' | 'soak'}.ts` {
  return catcher.startsWith('test/');
}
