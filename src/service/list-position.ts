import { isId } from '../domain/text.ts';
import type { Edge } from '../store/sql/lists.ts';

// A position is the place in a list where a page begins, encoded for the page's URL. The position need not be secret: an edited
// position shows only rows of the same list, and an invalid position shows the first page.

export function encodePosition(...parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/**
 * Splits an encoded position into its last part, which is an id, and the parts before the id. Returns `null` if the position is
 * missing or invalid.
 */
export function decodePosition(text: string | null): { readonly parts: readonly string[]; readonly id: string } | null {
  const parts = text === null ? null : parseParts(text);
  const id = parts?.at(-1) ?? '';
  return parts !== null && isId(id) ? { parts: parts.slice(0, -1), id } : null;
}

function parseParts(text: string): readonly string[] | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    // A text with a NUL character is refused, because PostgreSQL cannot store such a text.
    const isTexts = (list: readonly unknown[]): list is readonly string[] =>
      list.every((part) => typeof part === 'string' && !part.includes('\0'));
    return Array.isArray(value) && isTexts(value) ? value : null;
  } catch {
    return null;
  }
}

/** A timestamp in ISO 8601 with a year of four digits, because PostgreSQL supports a smaller range of years than a Date. */
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/;

/** Returns the time of a timestamp in ISO 8601, or `undefined` if the text is not such a timestamp. */
export function parseInstant(text: string): Date | undefined {
  const instant = new Date(text);
  return INSTANT.test(text) && !Number.isNaN(instant.getTime()) ? instant : undefined;
}

type Window<Position> = {
  /**
   * The page starts after the position `after`, or ends before the position `before`. If both positions are `null`, the page is
   * the first page.
   */
  readonly after: Position | null;
  readonly before: Position | null;
  readonly size: number;
};

type ListPage<Row> = {
  readonly rows: readonly Row[];
  /** The encoded `before` parameter of the previous page; `null` on the first page. */
  readonly previous: string | null;
  /** The encoded `after` parameter of the next page; `null` on the last page. */
  readonly next: string | null;
};

/**
 * Yields the rows of all pages, page by page, so that memory stays bounded. `read` returns the page after a position, or the first
 * page for `null`.
 */
export async function* eachPage<Row, Position = string>(
  read: (after: Position | null) => Promise<{ readonly rows: readonly Row[]; readonly next: Position | null }>,
): AsyncGenerator<readonly Row[], void, undefined> {
  let after: Position | null = null;
  do {
    const { rows, next }: Awaited<ReturnType<typeof read>> = await read(after);
    if (rows.length > 0) yield rows;
    after = next;
  } while (after !== null);
}

/**
 * Reads a page of a list. `read` returns at most `limit` rows next to a position, in the order of the list, or the first rows of
 * the list if the position is `null`. `encode` returns the position of a row.
 */
export async function readListPage<Row, Position extends object>(
  { after, before, size }: Window<Position>,
  read: (from: Edge<Position> | null, limit: number) => Promise<Row[]>,
  encode: (row: Row) => string,
): Promise<ListPage<Row>> {
  const earlier = before === null ? [] : await read({ ...before, side: 'before' }, size + 1);
  // If there are too few rows before the position, the page is the first page. This page is then read again from the start of the
  // list, so that it is full.
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

/** Returns the position in a list that is ordered by id, or `null` if the text is not an id. */
export function positionOfId(id: string | null): { readonly id: string } | null {
  return id !== null && isId(id) ? { id } : null;
}
