import { rm } from 'node:fs/promises';
import { removeCluster } from '../../src/postgres/embedded-cluster.ts';
import type { EmbeddedPostgres } from '../../src/postgres/embedded-postgres.ts';
import { unseenStatuses } from './contract.ts';

declare global {
  var charterTestPostgres: EmbeddedPostgres | undefined;
}

/** Ends the run's PostgreSQL; after a whole run, fails where the contract shows a status that no test has produced. */
export default async function tearDown(options: {
  testPathPatterns?: { patterns: string[] };
  testNamePattern?: string;
}) {
  const isWhole = (options.testPathPatterns?.patterns.length ?? 0) === 0 && !options.testNamePattern;
  const unseen = isWhole ? await unseenStatuses() : [];
  await globalThis.charterTestPostgres?.leave();
  await removeCluster(process.env['CHARTER_TEST_FOLDER'] ?? '');
  await rm(process.env['CHARTER_TEST_FOLDER'] ?? '', { recursive: true, force: true });
  if (unseen.length > 0)
    throw new Error(`No test has produced these answers of the contract:\n  ${unseen.join('\n  ')}`);
}
