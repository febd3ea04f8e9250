import { hash } from 'node:crypto';
import { entityTagsIn } from '../../src/api/conditional.ts';
import type { Operation } from '../../src/api/document.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { examplesOf } from './response-source.ts';

// The mock remembers nothing, and yet a client must be able to change what it has just changed with the new ETag. So a
// tag shows by itself that the mock gave it, and for which id: half of it hashes the content, the other half that and
// the id. Any other tag is a stale one.

const HALF = 11;

/** Undefined: the content has no id. */
export function entityTagOf(body: unknown): string {
  const content = hash('sha256', JSON.stringify(body), 'base64url').slice(0, HALF);
  const id = body !== null && typeof body === 'object' && 'id' in body ? String(body.id) : '';
  return `"${content}${sealOf(content, id)}"`;
}

/** Throws a 412 in the contract's words, where it shows one, for tags that the mock never gave for this id. */
export function refuseStale(operation: Operation, ifMatch: string | undefined, id: string): void {
  const [example] = examplesOf(operation, 412);
  if (example === undefined || ifMatch === undefined || ifMatch.trim() === '*') return;
  if (entityTagsIn(ifMatch).some((tag) => isOurs(tag, id))) return;
  const [, { value }] = example;
  const message = value !== null && typeof value === 'object' && 'message' in value ? String(value.message) : '';
  throw new DomainError('precondition_failed', message);
}

function isOurs(tag: string, id: string): boolean {
  const text = tag.slice(1, -1);
  return tag.startsWith('"') && text.slice(HALF) === sealOf(text.slice(0, HALF), id);
}

function sealOf(content: string, id: string): string {
  return hash('sha256', `${content} ${id}`, 'base64url').slice(0, HALF);
}
