import { isId } from '../domain/id.ts';

// Where a page of a list goes on, as its URL has it: a place in the order, no secret. Whatever somebody makes of it shows no
// more than the list does, and what is nonsense begins anew.

export function encodePosition(...parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Texts, the last of which is an id. Null: nonsense, or none was given. */
export function decodePosition(text: string | null): { readonly parts: readonly string[]; readonly id: string } | null {
  const parts = text === null ? null : parsed(text);
  const id = parts?.at(-1) ?? '';
  return parts !== null && isId(id) ? { parts: parts.slice(0, -1), id } : null;
}

function parsed(text: string): readonly string[] | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    // PostgreSQL's text cannot hold NUL.
    const isTexts = (list: readonly unknown[]): list is readonly string[] =>
      list.every((part) => typeof part === 'string' && !part.includes('\0'));
    return Array.isArray(value) && isTexts(value) ? value : null;
  } catch {
    return null;
  }
}
