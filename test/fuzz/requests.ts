// Generates requests for all operations of the document, each with its expected response.
import fc from 'fast-check';
import { successesOf } from '../../src/contract/document.ts';
import type { Operation } from '../support/contract/contract.ts';
import { maxBodyBytesOf } from '../support/contract/every-operation.ts';
import { referencesOf } from '../support/contract/resources.ts';
import { accessFlaw } from './access-flaws.ts';
import { type Change, type Draft, type Flaw, MOST_URL_BYTES, STAGES, unchanged } from './draft.ts';
import { inputFlaw } from './input-flaws.ts';
import type { Outgoing } from './outgoing.ts';
import { harmless, validDraft } from './valid-requests.ts';

export function anyDraft(operations: readonly Operation[]): fc.Arbitrary<Draft> {
  return fc.oneof(...operations.map((operation) => draftFor(operation, operations)));
}

function draftFor(operation: Operation, all: readonly Operation[]): fc.Arbitrary<Draft> {
  const sometimes = (change: fc.Arbitrary<Change>) =>
    fc.oneof({ withCrossShrink: true }, fc.constant(unchanged), change);
  const changes = [harmless(operation), sometimes(inputFlaw(operation)), sometimes(accessFlaw(operation, all))];
  return fc
    .tuple(validDraft(operation), fc.tuple(...changes))
    .map(([draft, each]) => each.reduce((before, change) => change(before), draft));
}

export type Expectation = {
  readonly statuses: readonly number[];
  /** The field that the 422 must name. */
  readonly field?: string | undefined;
  /** The expectation in words, for the failure report. */
  readonly words: string;
};

/**
 * Returns what the response must be. `before` contains earlier requests of the organization, which can conflict with the new one.
 */
export function expectationOf(
  draft: Draft,
  { url, before }: { url: string; before: readonly Outgoing[] },
): Expectation {
  const flaws = [...draft.flaws, ...tooLong(draft, url)];
  const stage = STAGES.find((each) => flaws.some((flaw) => flaw.stage === each));
  const first = flaws.filter((flaw) => flaw.stage === stage);
  if (first.length > 0) {
    const field = first.length === 1 ? first[0]?.field : undefined;
    const named = field === undefined ? '' : ` that names ${JSON.stringify(field)}`;
    const statuses = [...new Set(first.map(({ status }) => status))];
    return { statuses, field, words: `is invalid and must get ${statuses.join(' or ')}${named}` };
  }
  const isMissing = draft.subject === 'unknown' && draft.operation.responses[404] !== undefined;
  const statuses = isMissing ? [404] : fineStatuses(draft, before);
  return { statuses, words: `is valid and must get ${statuses.join(' or ')}` };
}

function fineStatuses({ operation, headers, body, key }: Draft, before: readonly Outgoing[]): number[] {
  const isShown = (status: number) => operation.responses[status] !== undefined;
  const isSentAgain = (name: string) =>
    headers[name] !== undefined && before.some((other) => other.headers[name] === headers[name]);
  const conditional = [
    ...(headers['If-None-Match'] === undefined ? [] : [304, 412]),
    ...(headers['If-Match'] === undefined ? [] : [412]),
    ...(before.some(isWriting) ? [409] : []),
    ...(isSentAgain('Idempotency-Key') ? [422] : []),
    // Another organization does not have the rows to which the body refers.
    ...(key === 'other organization' && referencesOf(operation).length > 0 ? [422] : []),
  ];
  const refused = operation.requestBody !== undefined && isAtomic(body) ? [409, 412, 422] : [];
  return [...successesOf(operation), ...conditional.filter(isShown), ...refused];
}

/** Returns whether the body is a batch that is made as a whole or not at all. The server may refuse any of its changes. */
function isAtomic(body: Draft['body']): boolean {
  return typeof body === 'string' && Object(JSON.parse(body)).atomic === true;
}

function isWriting({ method }: Outgoing): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/** Returns the flaws of a request that is too large, although each of its values may be valid. */
function tooLong({ operation, body }: Draft, url: string): Flaw[] {
  const isLargeBody = operation.requestBody !== undefined && Buffer.byteLength(body ?? '') > maxBodyBytesOf(operation);
  return [
    ...(url.length > MOST_URL_BYTES ? [{ stage: 'address', status: 414 } as const] : []),
    ...(isLargeBody ? [{ stage: 'input', status: 413 } as const] : []),
  ];
}
