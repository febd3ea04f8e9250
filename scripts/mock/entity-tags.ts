import { hash } from 'node:crypto';
import { entityTagsIn } from '../../src/api/conditional.ts';
import { isObject, type Operation } from '../../src/api/document.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { examplesOf } from './declared-responses.ts';

// The mock keeps nothing, and yet a client must be able to use the ETag of one change for the next. So a tag proves by
// itself that the mock made it, and for which id: its first half is a hash of the content, its second half a hash of the
// first half and the id. Every other tag counts as stale.

const HALF_CHARACTERS = 11;

export function entityTagOf(body: unknown): string {
  const content = hash('sha256', JSON.stringify(body), 'base64url').slice(0, HALF_CHARACTERS);
  const id = isObject(body) && 'id' in body ? String(body['id']) : '';
  return `"${content}${proofOf(content, id)}"`;
}

/** Throws the contract's 412, where the operation has one, unless the mock made one of the tags for this id. */
export function refuseStale(operation: Operation, ifMatch: string | undefined, id: string): void {
  const [example] = examplesOf(operation, 412);
  if (example === undefined || ifMatch === undefined || ifMatch.trim() === '*') return;
  if (entityTagsIn(ifMatch).some((tag) => isFor(id, tag))) return;
  const [, { value }] = example;
  throw new DomainError('precondition_failed', isObject(value) ? String(value['message']) : '');
}

function isFor(id: string, tag: string): boolean {
  const text = tag.slice(1, -1);
  return tag.startsWith('"') && text.slice(HALF_CHARACTERS) === proofOf(text.slice(0, HALF_CHARACTERS), id);
}

function proofOf(content: string, id: string): string {
  return hash('sha256', `${content} ${id}`, 'base64url').slice(0, HALF_CHARACTERS);
}
