import type { components } from '../../generated/openapi.d.ts';
import type { Caller } from '../domain/caller.ts';
import { cursorKeyOf } from '../service/resources/cursor-key.ts';
import type { RowPage } from '../service/resources/pages.ts';
import type { Database } from '../store/database.ts';
import type { PageQuery, SortField } from '../store/list.ts';
import { LIST_PARAMETERS, nextPage, openCursor, sealCursor } from './cursor.ts';
import { JsonText } from './json-text.ts';

type Order = Pick<PageQuery, 'sortField' | 'descending'>;

const ORDERS: Readonly<Record<SortField | `-${SortField}`, Order>> = {
  created_at: { sortField: 'created_at', descending: false },
  '-created_at': { sortField: 'created_at', descending: true },
  updated_at: { sortField: 'updated_at', descending: false },
  '-updated_at': { sortField: 'updated_at', descending: true },
  name: { sortField: 'name', descending: false },
  '-name': { sortField: 'name', descending: true },
};

/** The query of a list operation, and who sends it. */
export type ListRequest = {
  readonly query: {
    readonly limit: number;
    readonly cursor?: string | undefined;
    readonly sort: keyof typeof ORDERS;
    readonly [filter: string]: string | number | boolean | undefined;
  };
  readonly caller: Pick<Caller, 'scope' | 'cursorKey'>;
};

type PageResponse = {
  readonly status: 200;
  readonly headers: { readonly Link?: string };
  readonly body: JsonText;
  readonly version: string | undefined;
};

/** Identifies a list: a cursor of another list, another order or other filters is refused. */
export function listOf(path: string, filters: Readonly<Record<string, unknown>>, sort?: string): string {
  return JSON.stringify([path, sort, ...Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/** Reads a page of the list at the path, and responds with its rows and with the cursor of the next page. */
export async function respondWithPage(
  db: Database,
  { query, caller }: ListRequest,
  { path, read }: { path: string; read: (page: PageQuery) => Promise<RowPage> },
): Promise<PageResponse> {
  const { limit, cursor, sort, ...filters } = query;
  const seal = { key: cursorKeyOf(db, caller), list: listOf(path, filters, sort) };
  const after = cursor === undefined ? null : openCursor(seal, cursor, LIST_PARAMETERS);
  const { rows, version, next: position } = await read({ ...ORDERS[sort], limit, after });
  const next = position === null ? null : sealCursor(seal, position);
  const separated = rows.map((json, i) => (i === 0 ? json : `,${json}`));
  const page: components['schemas']['Page'] = { limit, next_cursor: next };
  return {
    status: 200,
    headers: next === null ? {} : { Link: `<${nextPage(path, query, next)}>; rel="next"` },
    body: new JsonText('{"data":[', ...separated, '],"page":', JSON.stringify(page), '}'),
    version,
  };
}
