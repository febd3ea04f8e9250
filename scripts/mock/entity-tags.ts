import { hash } from 'node:crypto';
import { requireIfMatch } from '../../src/api/conditional.ts';
import { isObject, type Operation } from '../../src/contract/document.ts';
import { exampleMessageOf } from './declared-responses.ts';

// Without --stateful, the mock keeps nothing, and yet a client must be able to use the ETag of one change for the next. So a
// tag proves by itself that the mock made it, and for which id: its first half is a hash of the content, its second half a
// hash of the first half and the id. Every other tag counts as stale.

const HALF_CHARACTERS = 11;

/** The tag of a body that the mock does not keep. */
export function statelessTagOf(body: unknown): string {
  const content = hash('sha256', JSON.stringify(body), 'base64url').slice(0, HALF_CHARACTERS);
  const id = isObject(body) && 'id' in body ? String(body['id']) : '';
  return `"${content}${proofOf(content, id)}"`;
}

/** Throws the contract's 412, where the operation has one, unless one of the tags in If-Match is current. */
export function refuseStale(
  operation: Operation,
  ifMatch: string | undefined,
  isCurrent: (entityTag: string) => boolean,
): void {
  const message = exampleMessageOf(operation, 412);
  if (message !== undefined) requireIfMatch(ifMatch, isCurrent, message);
}

/** Whether the mock made the tag for this id. */
export function isTagFor(id: string, tag: string): boolean {
  const text = tag.slice(1, -1);
  return text.slice(HALF_CHARACTERS) === proofOf(text.slice(0, HALF_CHARACTERS), id);
}

function proofOf(content: string, id: string): string {
  return hash('sha256', `${content} ${id}`, 'base64url').slice(0, HALF_CHARACTERS);
}
