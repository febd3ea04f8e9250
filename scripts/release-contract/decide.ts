// Whether a document may be published, and under which number.
//
// The promise is that within /api only additive changes are made. So the changes decide the number, and no other is taken:
// words alone the third, additive changes the second, breaking ones the first. What can carry `deprecated` is taken away
// only from a version after the one that was published with it.
import type { Change } from '../contract-diff/findings.ts';
import type { Verdict } from '../contract-diff/rules.ts';
import { byOrder, FIRST, parseVersion, successorOf, type Version, written } from './version.ts';

export type Decision =
  | { readonly kind: 'release'; readonly version: Version }
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'refused';
      readonly message: string;
      readonly remedy: string;
      /** The document as it stands may not be merged either; else only its publication has to wait. */
      readonly isWrong: boolean;
    };

type Candidate = { readonly number: string; readonly last: Version | null; readonly changes: readonly Change[] };

const SET_NUMBER = 'in openapi/openapi.yaml (info.version), run "npm run generate", then "npm run release-contract"';

export function decide({ number, last, changes }: Candidate): Decision {
  const version = parseVersion(number);
  if (version === null)
    return refused(`The version "${number}" is not three numbers such as 1.2.3.`, `Write one ${SET_NUMBER}.`);
  if (last === null) return decideFirst(version);

  const largest = largestOf(changes);
  if (largest === null) return decideUnchanged(version, last);
  const unannounced = changes.filter(({ isUnannounced }) => isUnannounced);
  if (unannounced.length > 0) return refuseUnannounced(unannounced, successorOf(last, 'additive'));

  const right = successorOf(last, largest);
  const order = byOrder(version, right);
  if (order === 0) return { kind: 'release', version };
  const need = `${ASKS[largest]} ${written(right)}`;
  const remedy = `${largest === 'breaking' ? UNDO : ''}Write ${written(right)} ${SET_NUMBER}.`;
  if (order > 0) return refused(`${number} is too large: after ${written(last)}, ${need}.`, remedy, false);
  // Words may be mended for a while under the number that they were published with.
  if (byOrder(version, last) === 0)
    return refused(`${number} is published and stays as it is: ${need}.`, remedy, largest !== 'words');
  return refused(`${number} is too small: after ${written(last)}, ${need}.`, remedy);
}

export function largestOf(changes: readonly Change[]): Verdict | null {
  const order: readonly Verdict[] = ['breaking', 'additive', 'words'];
  return order.find((verdict) => changes.some((change) => change.verdict === verdict)) ?? null;
}

const ASKS: Readonly<Record<Verdict, string>> = {
  breaking: 'breaking changes make it',
  additive: 'additive changes make it',
  words: 'changed words make it',
};
const UNDO = 'Within /api only additive changes are promised: keep what is there, and add beside it. If it must be: ';

function decideFirst(version: Version): Decision {
  if (byOrder(version, FIRST) === 0) return { kind: 'release', version };
  return refused(
    `Nothing is published yet, and the first version is ${written(FIRST)}, not ${written(version)}.`,
    `Write ${written(FIRST)} ${SET_NUMBER}.`,
  );
}

function decideUnchanged(version: Version, last: Version): Decision {
  if (byOrder(version, last) === 0) return { kind: 'nothing' };
  return refused(
    `Nothing has changed since ${written(last)}, so there is nothing to publish as ${written(version)}.`,
    `Write ${written(last)} again in openapi/openapi.yaml (info.version), and run "npm run generate".`,
    byOrder(version, last) < 0,
  );
}

function refuseUnannounced(changes: readonly Change[], next: Version): Decision {
  const list = changes.map(({ place, words }) => `  ${place}: ${words}`).join('\n');
  return refused(
    `A removal is announced first, by a version in which it is deprecated:\n${list}`,
    `Put it back with "deprecated: true" and a description that says what to use instead, let an operation answer with
the headers Deprecation (RFC 9745) and Sunset (RFC 8594), and publish that (as ${written(next)}). It may go in the next major version.`,
  );
}

function refused(message: string, remedy: string, isWrong = true): Decision {
  return { kind: 'refused', message, remedy, isWrong };
}
