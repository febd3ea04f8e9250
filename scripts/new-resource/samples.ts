// The rows in the contract's examples, and their ids. The same input always gives the same ids.
import { createHash } from 'node:crypto';
import type { Field, Value } from './field.ts';
import { isRequired, type Resource } from './resource.ts';

type Content = Readonly<Record<string, Value | null>>;
type Row = Content & { readonly id: string; readonly created_at: string; readonly updated_at: string };

export type Samples = {
  /**
   * The row with all fields. This row and `minimal` are also in the demonstration data, so that the code samples in the
   * documentation work.
   */
  readonly full: Row;
  /** The row with only the required fields. */
  readonly minimal: Row;
  /** The first row after an update. */
  readonly updated: Row;
  readonly created: { readonly full: Content; readonly minimal: Content };
  readonly update: Content;
};

const CREATED = [Date.UTC(2026, 1, 3, 8, 20, 11, 4), Date.UTC(2026, 1, 11, 13, 45, 0, 120)] as const;
const UPDATED = Date.UTC(2026, 2, 19, 9, 2, 51, 340);

export function samplesOf({ names: { plural }, fields }: Resource): Samples {
  const contentOf = (i: 0 | 1) => Object.fromEntries(fields.map((field) => [field.name, field.examples[i]]));
  const full = contentOf(0);
  const required = fields.filter(isRequired).map(({ name }) => name);
  const minimal = Object.fromEntries(Object.entries(contentOf(1)).filter(([name]) => required.includes(name)));
  const omitted = Object.fromEntries(fields.map((field) => [field.name, field.default ?? null]));
  // The updated value must differ from that of the second row. Otherwise the first row would seem to become the second row.
  const isOwn = ({ examples: [first, second, updated] }: Field) => updated !== first && updated !== second;
  const changed =
    fields.find(isOwn) ?? fields.find(({ examples: [first, , updated] }) => updated !== first) ?? fields[0];
  const update = changed === undefined ? {} : { [changed.name]: changed.examples[2] };
  const row = rowOf(plural, full, CREATED[0]);
  return {
    full: row,
    minimal: rowOf(plural, { ...omitted, ...minimal }, CREATED[1]),
    updated: { ...row, ...update, updated_at: new Date(UPDATED).toISOString() },
    created: { full, minimal },
    update,
  };
}

function rowOf(table: string, content: Content, createdAt: number): Row {
  const at = new Date(createdAt).toISOString();
  return { id: idAt(createdAt, table), ...content, created_at: at, updated_at: at };
}

/** Returns a UUID of version 7 with this time, in milliseconds. The bits that are usually random depend on the seed. */
function idAt(time: number, seed: string): string {
  const hex = `${time.toString(16).padStart(12, '0')}7${createHash('sha256').update(seed).digest('hex').slice(0, 3)}`;
  const rest = createHash('sha256').update(`${seed} ${time}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12)}-8${rest.slice(0, 3)}-${rest.slice(3, 15)}`;
}

/**
 * Returns the id of an event in this millisecond, as the SQL function "event_id" makes it. The timestamp of the event is the next
 * millisecond, because "event_timestamp" rounds up.
 */
export function eventIdAt(time: number, seed: string): string {
  const random = createHash('sha256').update(seed).digest();
  const microseconds = 1 + (random.readUInt16BE() % 999);
  const hex = `${time.toString(16).padStart(12, '0')}7${microseconds.toString(16).padStart(3, '0')}`;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12)}-8000-0001${random.toString('hex', 2, 6)}`;
}
