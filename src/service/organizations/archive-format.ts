import { DomainError } from '../../domain/errors.ts';

// An archive is JSON Lines: a head, a line for each row, and an end, which shows that the file is whole.

export const ARCHIVE_FORMAT = 1;

/** "move": every row and column, for another database. "data": without secrets, for people. */
export type ArchiveKind = 'move' | 'data';

export type ArchiveHead = {
  readonly charter_archive: typeof ARCHIVE_FORMAT;
  readonly kind: ArchiveKind;
  readonly organization: { readonly id: string; readonly name: string };
  /** Names the move in both databases; `null` without one. */
  readonly move_id: string | null;
  /** When the rows were read. */
  readonly at: string;
  /** Of the database. Another one can import the archive only if it has the same. */
  readonly migrations: readonly string[];
};

export function headLine(head: ArchiveHead): string {
  return `${JSON.stringify(head)}\n`;
}

/** `row` is JSON. */
export function rowLine(table: string, row: string): string {
  return `{"table":"${table}","row":${row}}\n`;
}

export function endLine(rows: ReadonlyMap<string, number>): string {
  return `${JSON.stringify({ end: true, rows: Object.fromEntries(rows) })}\n`;
}

export type ArchiveLine =
  | { readonly kind: 'row'; readonly table: string; readonly row: string }
  | { readonly kind: 'end'; readonly rows: ReadonlyMap<string, number> };

const ROW = /^\{"table":"([a-z_]+)","row":/;

/** A line after the head. A row is not parsed: PostgreSQL does that. */
export function readLine(line: string): ArchiveLine {
  const start = ROW.exec(line);
  if (start?.[1] !== undefined && line.endsWith('}'))
    return { kind: 'row', table: start[1], row: line.slice(start[0].length, -1) };
  const end = parse(line);
  if (end['end'] !== true || typeof end['rows'] !== 'object' || end['rows'] === null) throw damaged();
  return { kind: 'end', rows: new Map(Object.entries(end['rows']).map(([table, count]) => [table, Number(count)])) };
}

/** Throws unless the line is the head of an archive of this format. */
export function readHead(line: string): ArchiveHead {
  const head = parse(line);
  const { charter_archive: format, organization, migrations } = head;
  if (format !== ARCHIVE_FORMAT || !isObject(organization) || !Array.isArray(migrations)) throw damaged();
  // Written by headLine, and the format has its number.
  return head as unknown as ArchiveHead;
}

function parse(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return { ...value };
  } catch {
    // Below.
  }
  throw damaged();
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export function damaged(): DomainError {
  return new DomainError(
    'invalid',
    'The file is not a whole archive of an organization. Export the organization again.',
  );
}
