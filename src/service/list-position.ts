import { isId } from '../domain/id.ts';

// The position after which a list page of the dashboard starts, encoded for its URL. It is not secret: an edited position shows
// no more than the list itself, and an invalid one starts the list from the beginning.

export function encodePosition(...parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Splits a position into its last part, which is an id, and the parts before it. Null: the position is missing or invalid. */
export function decodePosition(text: string | null): { readonly parts: readonly string[]; readonly id: string } | null {
  const parts = text === null ? null : parse(text);
  const id = parts?.at(-1) ?? '';
  return parts !== null && isId(id) ? { parts: parts.slice(0, -1), id } : null;
}

function parse(text: string): readonly string[] | null {
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

/** PostgreSQL has fewer years than a Date. */
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/;

/** An instant of a position. Undefined: the text is none. */
export function parseInstant(text: string): Date | undefined {
  const instant = new Date(text);
  return INSTANT.test(text) && !Number.isNaN(instant.getTime()) ? instant : undefined;
}
