import type { CHECKS } from '../test/checks.ts';

/** `find` stands in the file once, so that a lie that no longer fits the code is noticed, and mended. */
export type Edit = { readonly file: string; readonly find: string; readonly replace: string };

/** What catches a lie: one of the checks, or a file of tests. */
export type Catcher = keyof typeof CHECKS | `test/${string}.test.ts`;

/** One small untruth, as somebody could write it by mistake. */
export type Lie = {
  readonly title: string;
  readonly edits: readonly Edit[];
  /** Who tells it has run this too, so that it is no longer the generated files that give it away. */
  readonly afterwards?: 'generate' | 'generate and release' | 'build the docs';
  /** The earliest that catches it. */
  readonly caughtBy: Catcher;
};

export function isTest(catcher: Catcher): catcher is `test/${string}.test.ts` {
  return catcher.startsWith('test/');
}
