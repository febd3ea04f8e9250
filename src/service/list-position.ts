import { isId } from '../domain/text.ts';
import type { Edge } from '../store/sql/lists.ts';

// A position is where a page of a list begins, encoded for the URL of the page. It is not secret: an edited position shows no more
// than the list itself, and an invalid one shows the first page.

export function encodePosition(...parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Splits a position into its last part, which is an id, and the parts before it. Returns `null` if it is missing or invalid. */
export function decodePosition(text: string | null): { readonly parts: readonly string[]; readonly id: string } | null {
  const parts = text === null ? null : parseParts(text);
  const id = parts?.at(-1) ?? '';
  return parts !== null && isId(id) ? { parts: parts.slice(0, -1), id } : null;
}

function parseParts(text: string): readonly string[] | null {
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

/** Years of four digits only, because PostgreSQL supports fewer years than a Date. */
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/;

/** Returns `undefined` if the text is not an instant. */
export function parseInstant(text: string): Date | undefined {
  const instant = new Date(text);
  return INSTANT.test(text) && !Number.isNaN(instant.getTime()) ? instant : undefined;
}

type Window<Position> = {
  /** The page starts after the one position, or ends before the other. If both are `null`, it is the first page. */
  readonly after: Position | null;
  readonly before: Position | null;
  readonly size: number;
};

type ListPage<Row> = {
  readonly rows: readonly Row[];
  /** `before` of the previous page, encoded; `null` on the first page. */
  readonly previous: string | null;
  /** `after` of the next page, encoded; `null` on the last page. */
  readonly next: string | null;
};

/**
 * Reads a page of a list. `read` returns at most `limit` rows next to an edge, in the order of the list, or its first rows if the
 * edge is `null`. `encode` returns the position of a row.
 */
export async function readListPage<Row, Position extends object>(
  { after, before, size }: Window<Position>,
  read: (from: Edge<Position> | null, limit: number) => Promise<Row[]>,
  encode: (row: Row) => string,
): Promise<ListPage<Row>> {
  const earlier = before === null ? [] : await read({ ...before, side: 'before' }, size + 1);
  // With fewer rows, the page is the first one. It is then read from the start of the list, so that it is full.
  const isMiddle = earlier.length > size;
  const start = before === null ? after : null;
  const found = isMiddle ? [] : await read(start === null ? null : { ...start, side: 'after' }, size + 1);
  const rows = isMiddle ? earlier.slice(1) : found.slice(0, size);
  const [first, last] = [rows.at(0), rows.at(-1)];
  return {
    rows,
    previous: first !== undefined && (isMiddle || start !== null) ? encode(first) : null,
    next: last !== undefined && (isMiddle || found.length > size) ? encode(last) : null,
  };
}

/** The position in a list that is ordered by id. Returns `null` if the text is not an id. */
export function positionOfId(id: string | null): { readonly id: string } | null {
  return id !== null && isId(id) ? { id } : null;
}
