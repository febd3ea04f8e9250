import { rm } from 'node:fs/promises';

/**
 * Stops the shared services. Throws if a secret was printed, or if after a complete run of `npm test` no test has produced one of
 * the contract's statuses.
 */
export default async function tearDown(options: {
  testPathPatterns?: { patterns: string[] };
  testNamePattern?: string;
}) {
  const isWhole =
    process.env['CHARTER_TESTS'] === 'test' &&
    (options.testPathPatterns?.patterns.length ?? 0) === 0 &&
    !options.testNamePattern;
  const unseen = isWhole ? await (await import('../contract/contract.ts')).unseenStatuses() : [];
  const secrets = await (await import('../processes/secrecy.ts')).printedSecrets();
  await globalThis.charterTestServices?.end();
  await rm(process.env['CHARTER_TEST_FOLDER'] ?? '', { recursive: true, force: true });
  if (secrets.length > 0) throw new Error(`These lines hold a secret:\n  ${secrets.join('\n  ')}`);
  if (unseen.length > 0)
    throw new Error(`No test has produced these responses of the contract:\n  ${unseen.join('\n  ')}`);
}
