// Publishes a version of the contract: lists every change since the last version, checks that the version number matches the
// changes, and writes openapi/released/ and openapi/CHANGELOG.md.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../../src/contract/document.ts';
import { runMain } from '../command-line.ts';
import { compareDocuments } from '../contract-diff/compare-documents.ts';
import type { Change } from '../contract-diff/comparison.ts';
import { objectOf } from '../contract-diff/json.ts';
import { root } from '../tool.ts';
import { TITLES, withEntry } from './changelog.ts';
import { type Decision, decide, numberOf } from './decide.ts';
import { findLastReleased, publish, readChangelog, readYaml } from './released.ts';

const HELP = `npm run release-contract                publishes the contract under its info.version
npm run release-contract -- --dry-run   shows what would be published, and writes nothing
npm run release-contract -- --check     fails if the changes require another info.version; publishes nothing

The contract is compared with the version in openapi/released/. The changes determine the version: after 1.0.0, changes
of wording require 1.0.1, additive changes 1.1.0, and breaking changes 2.0.0. Set info.version in openapi/openapi.yaml.
`;
const OPTIONS = {
  'dry-run': { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
} as const;
const generated = join(root, 'generated');

await runMain(OPTIONS, HELP, main);

async function main(options: { 'dry-run': boolean; check: boolean }): Promise<number> {
  const document = options['dry-run'] ? await readSource() : await readGenerated();
  const last = await findLastReleased();
  const changes = last === null ? [] : compareDocuments(last.document, document);
  const number = String(objectOf(document['info'])['version']);
  const decision = decide({ number, last: last?.version ?? null, changes });

  if (options.check) return concludeCheck(decision, changes);
  if (last !== null) console.log(`Compared with ${numberOf(last.version)}:\n\n${listChanges(changes)}`);
  if (decision.kind === 'release') return release(decision, changes, options['dry-run']);
  return conclude(decision);
}

/** Reads the contract as "npm run generate" would bundle it. */
function readSource(): Promise<Json> {
  return readYaml('openapi/openapi.yaml', 'Fix the problem above, in openapi/. "npm run lint" says more.');
}

async function readGenerated(): Promise<Json> {
  return objectOf(JSON.parse(await readFile(join(generated, 'openapi.json'), 'utf8')));
}

/** Reports the result of the check in `npm test`, which fails only if the document must not be merged. Returns the exit code. */
function concludeCheck(decision: Decision, changes: readonly Change[]): number {
  if (decision.kind !== 'refused' || !decision.isWrong) return 0;
  console.error(listChanges(changes.filter(({ verdict }) => verdict !== 'words')));
  return conclude(decision);
}

async function release(
  { version }: Extract<Decision, { kind: 'release' }>,
  changes: readonly Change[],
  isDry: boolean,
): Promise<number> {
  if (isDry) {
    console.log(`The number in info.version is right. Would publish ${numberOf(version)}. Nothing was written.`);
    return 0;
  }
  const text = await readFile(join(generated, 'openapi.yaml'), 'utf8');
  const changelog = withEntry(await readChangelog(), { version, date: new Date(), changes });
  await publish({ version, text, changelog });
  console.log(
    `Published ${numberOf(version)}: openapi/released/${numberOf(version)}.yaml in the place of the previous version, and openapi/CHANGELOG.md. Commit both.`,
  );
  return 0;
}

function conclude(decision: Exclude<Decision, { kind: 'release' }>): number {
  if (decision.kind === 'nothing') {
    console.log('There is nothing to release.');
    return 0;
  }
  console.error(`${decision.message}\n${decision.remedy}`);
  return 1;
}

function listChanges(changes: readonly Change[]): string {
  const groups = Object.entries(TITLES).flatMap(([verdict, title]) => {
    const lines = changes
      .filter((change) => change.verdict === verdict)
      .map(({ place, words, why }) => `  ${place}: ${words}\n${why === '' ? '' : `    ${why}\n`}`);
    return lines.length === 0 ? [] : [`${title} (${lines.length})\n${lines.join('')}`];
  });
  return groups.length === 0 ? 'No changes.\n' : groups.join('\n');
}
