import type { Caller } from '../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import * as store from '../../store/resources/list.ts';
import * as programs from '../../store/resources/parent-program-list.ts';
import type { Stored, Table } from '../../store/resources/table.ts';
import type { Database } from '../../store/sql/database.ts';
import { placeOfCursorKey } from '../../store/sql/secrets.ts';

/** The rows of a list page as JSON. */
export type RowPage = {
  readonly rows: readonly string[];
  /** The version of the organization, from the same snapshot as the rows; `undefined` if there is no row. */
  readonly version: string | undefined;
  /** The position after which the next page starts; `null` if this is the last page. */
  readonly next: Buffer | null;
};

export function listRows<Row extends Stored>(
  db: Database,
  scope: OrganizationScope,
  table: Table<Row>,
  query: store.RowsQuery<Row>,
): Promise<RowPage> {
  return readPage(query, (limit) => store.listRows(db, scope, table, { ...query, limit }));
}

export function listParentPrograms(
  db: Database,
  scope: OrganizationScope,
  query: programs.ListQuery,
): Promise<RowPage> {
  return readPage(query, (limit) => programs.listParentPrograms(db, scope, { ...query, limit }));
}

/** Reads a page. Fetches one row more than the page shows, to learn whether there is a next page. */
async function readPage(
  { limit }: Pick<store.PageQuery, 'limit'>,
  read: (limit: number) => Promise<store.ListPage>,
): Promise<RowPage> {
  const { rows, version } = await read(limit + 1);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { rows: shown.map(({ json }) => json), version, next: last?.position ?? null };
}

/** The maximum number of decrypted keys that are cached, in about 3 MB of memory. */
const MAX_KEYS = 10_000;

/**
 * The decrypted keys by their encrypted form. They are cached because the decryption takes as long as the check of two cursors.
 */
const decrypted = new WeakMap<Database, Map<string, string>>();

/** Returns the key that signs the page cursors of the caller's organization: 32 bytes in hexadecimal. */
export function cursorKeyOf(db: Database, { scope, cursorKey }: Pick<Caller, 'scope' | 'cursorKey'>): string {
  const known = decrypted.get(db) ?? new Map<string, string>();
  decrypted.set(db, known);
  const found = known.get(cursorKey);
  if (found !== undefined) return found;
  const key = db.keyring.decrypt(Buffer.from(cursorKey, 'hex'), placeOfCursorKey(scope.organizationId)).toString('hex');
  if (known.size >= MAX_KEYS) known.clear();
  known.set(cursorKey, key);
  return key;
}
