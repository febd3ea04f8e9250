// Decides whether a document may be published, and under which version.
//
// For the paths in /api, only additive changes are promised. The changes determine the version: wording increases the patch
// number, additive changes the minor number, and breaking changes the major number. Anything that can be `deprecated` must have
// been published as deprecated before it is removed.
import type { Change } from '../contract-diff/comparison.ts';
import type { Verdict } from '../contract-diff/rules.ts';

export type Decision =
  | { readonly kind: 'release'; readonly version: Version }
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'refused';
      readonly message: string;
      readonly remedy: string;
      /** Whether the document must not be merged. If `false`, it can be merged now and published later. */
      readonly isWrong: boolean;
    };

type Candidate = { readonly number: string; readonly last: Version | null; readonly changes: readonly Change[] };

const SET_NUMBER = 'in openapi/openapi.yaml (info.version), run "npm run generate", then "npm run release-contract"';

export function decide({ number, last, changes }: Candidate): Decision {
  const version = parseVersion(number);
  if (version === null)
    return refusalOf(`The version "${number}" must be three numbers, such as 1.2.3.`, `Write one ${SET_NUMBER}.`);
  if (last === null) return decideFirst(version);

  const largest = largestOf(changes);
  if (largest === null) return decideUnchanged(version, last);
  const undeprecated = changes.filter(({ lacksDeprecation }) => lacksDeprecation);
  if (undeprecated.length > 0) return refusalOfUndeprecated(undeprecated, successorOf(last, 'additive'));

  const right = successorOf(last, largest);
  const order = byOrder(version, right);
  if (order === 0) return { kind: 'release', version };
  const need = `${REASONS[largest]} ${numberOf(right)}`;
  const remedy = `${largest === 'breaking' ? UNDO : ''}Write ${numberOf(right)} ${SET_NUMBER}.`;
  if (order > 0) return refusalOf(`${number} is too large: after ${numberOf(last)}, ${need}.`, remedy, false);
  // A document with only changed wording can be merged under the published version number, and published later.
  if (byOrder(version, last) === 0)
    return refusalOf(`${number} is published and cannot change: ${need}.`, remedy, largest !== 'words');
  return refusalOf(`${number} is too small: after ${numberOf(last)}, ${need}.`, remedy);
}

export function largestOf(changes: readonly Change[]): Verdict | null {
  const order: readonly Verdict[] = ['breaking', 'additive', 'words'];
  return order.find((verdict) => changes.some((change) => change.verdict === verdict)) ?? null;
}

const REASONS: Readonly<Record<Verdict, string>> = {
  breaking: 'breaking changes require',
  additive: 'additive changes require',
  words: 'changed wording requires',
};
const UNDO =
  'Within /api only additive changes are promised: keep what exists and add to it. If the change is necessary: ';

function decideFirst(version: Version): Decision {
  if (byOrder(version, FIRST) === 0) return { kind: 'release', version };
  return refusalOf(
    `Nothing is published yet, so the version must be ${numberOf(FIRST)}, not ${numberOf(version)}.`,
    `Write ${numberOf(FIRST)} ${SET_NUMBER}.`,
  );
}

function decideUnchanged(version: Version, last: Version): Decision {
  if (byOrder(version, last) === 0) return { kind: 'nothing' };
  return refusalOf(
    `Nothing has changed since ${numberOf(last)}, so there is nothing to publish as ${numberOf(version)}.`,
    `Write ${numberOf(last)} again in openapi/openapi.yaml (info.version), and run "npm run generate".`,
    byOrder(version, last) < 0,
  );
}

function refusalOfUndeprecated(changes: readonly Change[], next: Version): Decision {
  const list = changes.map(({ place, words }) => `  ${place}: ${words}`).join('\n');
  return refusalOf(
    `These were removed without having been deprecated in a published version:\n${list}`,
    `Restore each with "deprecated: true" and a description that says what to use instead. Let a deprecated operation send
the headers Deprecation (RFC 9745) and Sunset (RFC 8594). Publish that (as ${numberOf(next)}), and remove it in the next major version.`,
  );
}

function refusalOf(message: string, remedy: string, isWrong = true): Decision {
  return { kind: 'refused', message, remedy, isWrong };
}

/** A version of the contract (Semantic Versioning 2.0.0). */
export type Version = { readonly major: number; readonly minor: number; readonly patch: number };

const FIRST: Version = { major: 1, minor: 0, patch: 0 };

/** Parses a version of three numbers. Returns `null` for any other text, such as a pre-release, which is never published. */
export function parseVersion(text: string): Version | null {
  const [, major, minor, patch] = /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/.exec(text) ?? [];
  return major === undefined ? null : { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

export function numberOf({ major, minor, patch }: Version): string {
  return `${major}.${minor}.${patch}`;
}

/** Compares two versions. Returns a negative number if the first is lower. */
export function byOrder(one: Version, other: Version): number {
  return one.major - other.major || one.minor - other.minor || one.patch - other.patch;
}

/** Returns the next version. `largest` is the verdict on the largest change. */
export function successorOf({ major, minor, patch }: Version, largest: Verdict): Version {
  if (largest === 'breaking') return { major: major + 1, minor: 0, patch: 0 };
  return largest === 'additive' ? { major, minor: minor + 1, patch: 0 } : { major, minor, patch: patch + 1 };
}
