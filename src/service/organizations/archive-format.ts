import { createHash } from 'node:crypto';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/text.ts';

// An archive consists of JSON Lines: a head, one line for each row, and a last line with a checksum, which shows that the file is
// complete.

export const ARCHIVE_FORMAT = 1;

/**
 * The kind of an archive. "move" has every row and column, for import into another database. "data" has no secrets, and is for
 * people to read. "completion" has the audit events of the revocations during the move, which the other database needs before it
 * serves the organization.
 */
export type ArchiveKind = 'move' | 'data' | 'completion';

export type ArchiveHead = {
  readonly charter_archive: typeof ARCHIVE_FORMAT;
  readonly kind: ArchiveKind;
  readonly organization: { readonly id: string; readonly name: string };
  /** The id of the move, which is the same in both databases; `null` if the organization does not move. */
  readonly move_id: string | null;
  /** The time at which the rows were read. */
  readonly at: string;
  /** The migrations of the database. An archive can be imported only into a database with the same migrations. */
  readonly migrations: readonly string[];
};

type Write = (text: string) => Promise<void>;

/**
 * Passes the lines of an archive to `write`. The last line has the number of rows of each table, and the SHA-256 of all previous
 * lines.
 */
export class ArchiveWriter {
  readonly rows = new Map<string, number>();
  readonly #hash = createHash('sha256');
  readonly #write: Write;

  constructor(write: Write) {
    this.#write = write;
  }

  async writeHead(head: ArchiveHead): Promise<void> {
    await this.#append(`${JSON.stringify(head)}\n`);
  }

  /** Writes rows of one table, each given as JSON. */
  async writeRows(table: string, rows: readonly string[]): Promise<void> {
    if (rows.length === 0) return;
    await this.#append(rows.map((row) => `{"table":"${table}","row":${row}}\n`).join(''));
    this.rows.set(table, (this.rows.get(table) ?? 0) + rows.length);
  }

  async writeEnd(): Promise<void> {
    const end = { end: true, rows: Object.fromEntries(this.rows), sha256: this.#hash.digest('hex') };
    await this.#write(`${JSON.stringify(end)}\n`);
  }

  async #append(text: string): Promise<void> {
    this.#hash.update(text);
    await this.#write(text);
  }
}

/** The maximum length of a line, far above the length of the largest row. */
const MAX_LINE_CHARACTERS = 64 * 1024 * 1024;

/** Returns the lines of a text that arrives in chunks. A chunk may end within a line. */
export async function* linesIn(chunks: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string, undefined> {
  let rest = '';
  // Does not use node:readline, which also ends lines at U+2028, a character that a name may contain.
  for await (const chunk of chunks) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_CHARACTERS) throw new DamagedError('a line is too long');
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** A row of an archive. `row` is unparsed JSON, because PostgreSQL parses it. */
export type ArchiveRow = { readonly table: string; readonly row: string };

export type Archive = {
  readonly head: ArchiveHead;
  /**
   * The rows of the archive. The iterator throws after the last row if a line was lost or changed, so read all rows before you
   * commit.
   */
  readonly rows: AsyncIterable<ArchiveRow>;
};

/** Reads the head of an archive. Throws unless the first line is the head of an archive in this format. */
export async function readArchive(lines: AsyncIterator<string>): Promise<Archive> {
  const first = await lines.next();
  const text = first.done === true ? '' : first.value;
  const head = parseHead(text);
  return { head, rows: readRows({ head, firstLine: text }, { [Symbol.asyncIterator]: () => lines }) };
}

type Begun = { readonly head: ArchiveHead; readonly firstLine: string };

async function* readRows({ head, firstLine }: Begun, lines: AsyncIterable<string>): AsyncGenerator<ArchiveRow> {
  const hash = createHash('sha256').update(`${firstLine}\n`);
  const counts = new Map<string, number>();
  let end: Record<string, unknown> | null = null;
  for await (const line of lines) {
    if (end !== null) throw new DamagedError('it goes on after its end');
    const start = ROW.exec(line);
    if (start?.[1] === undefined || !line.endsWith('}')) {
      end = parseLine(line);
      continue;
    }
    hash.update(`${line}\n`);
    counts.set(start[1], (counts.get(start[1]) ?? 0) + 1);
    yield { table: start[1], row: line.slice(start[0].length, -1) };
  }
  if (end?.['end'] !== true || !isObject(end['rows'])) throw new DamagedError('its end is missing');
  const stated = new Map(Object.entries(end['rows']));
  if ([...counts.keys(), ...stated.keys()].some((table) => counts.get(table) !== stated.get(table)))
    throw new DamagedError('rows are missing or too many');
  if (end['sha256'] !== hash.digest('hex')) throw new DamagedError('it has another checksum than its last line says');
  if (head.kind !== 'completion' && counts.get('organizations') !== 1)
    throw new DamagedError('it does not have exactly one row of the organization itself');
}

const ROW = /^\{"table":"([a-z_]+)","row":/;

/** Parses the head of an archive. Throws unless the line is the head of an archive in this format. */
export function parseHead(line: string): ArchiveHead {
  const head = parseLine(line);
  const { charter_archive: format, organization, move_id: moveId, migrations } = head;
  const isNamed = isObject(organization) && isIdText(Reflect.get(organization, 'id'));
  if (format !== ARCHIVE_FORMAT || !isNamed || !(moveId === null || isIdText(moveId)) || !Array.isArray(migrations))
    throw new DamagedError('its first line is not that of an archive');
  // The line has this type, because its format number shows that ArchiveWriter has written it.
  return head as unknown as ArchiveHead;
}

function parseLine(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return { ...value };
  } catch {
    // The line is incomplete, or belongs to another kind of file.
  }
  throw new DamagedError('a line is not one of an archive');
}

function isIdText(value: unknown): boolean {
  return typeof value === 'string' && isId(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The file is incomplete, was changed or is not an archive. `why` is a clause that completes the message. */
export class DamagedError extends DomainError {
  constructor(why = 'a row cannot be read') {
    super(
      'invalid',
      `The file is not a whole archive of an organization: ${why}. Nothing was imported or activated. Copy the file again, export the organization again, or run complete-move again: it writes the same revocations.`,
    );
  }
}
