import { rm } from 'node:fs/promises';

/** Stops the shared services; after a whole run, throws if no test has produced some status of the contract. */
export default async function tearDown(options: {
  testPathPatterns?: { patterns: string[] };
  testNamePattern?: string;
}) {
  const isWhole = (options.testPathPatterns?.patterns.length ?? 0) === 0 && !options.testNamePattern;
  const unseen = isWhole ? await (await import('../contract/contract.ts')).unseenStatuses() : [];
  await globalThis.charterTestServices?.end();
  await rm(process.env['CHARTER_TEST_FOLDER'] ?? '', { recursive: true, force: true });
  if (unseen.length > 0)
    throw new Error(`No test has produced these responses of the contract:\n  ${unseen.join('\n  ')}`);
}
