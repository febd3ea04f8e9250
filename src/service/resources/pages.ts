import type { OrganizationScope } from '../../domain/organization-scope.ts';
import * as store from '../../store/resources/list.ts';
import type { Stored, Table } from '../../store/resources/table.ts';
import type { Database } from '../../store/sql/database.ts';

/** The rows of a list page as JSON. */
export type RowPage = {
  readonly rows: readonly string[];
  /** The organization's, from the same snapshot as the rows; undefined if there is no row. */
  readonly version: string | undefined;
  /** The position after which the next page starts, or null if this is the last page. */
  readonly next: Buffer | null;
};

/** A list page of a table. */
export function listRows<Row extends Stored>(
  db: Database,
  scope: OrganizationScope,
  table: Table<Row>,
  query: store.RowsQuery<Row>,
): Promise<RowPage> {
  return pageOf(query, (limit) => store.listRows(db, scope, table, { ...query, limit }));
}

/** Reads one row more than the page shows, which tells whether there is a next page. */
export async function pageOf(
  { limit }: Pick<store.PageQuery, 'limit'>,
  read: (limit: number) => Promise<store.ListPage>,
): Promise<RowPage> {
  const { rows, version } = await read(limit + 1);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { rows: shown.map(({ json }) => json), version, next: last?.position ?? null };
}
