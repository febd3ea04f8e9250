import type { components } from '../../generated/openapi.d.ts';
import type { Caller } from '../domain/caller.ts';
import { cursorKeyOf } from '../service/resources/cursor-key.ts';
import type { RowPage } from '../service/resources/pages.ts';
import type { Database } from '../store/database.ts';
import type { PageQuery } from '../store/list.ts';
import { listOf, nextPage, openCursor, sealCursor } from './cursor.ts';
import { JsonText } from './json-text.ts';
import { OF_LIST, ORDERS } from './list-orders.ts';

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

/** Reads a page of the list at the path, and responds with its rows and with the cursor of the next page. */
export async function respondWithPage(
  db: Database,
  { query, caller }: ListRequest,
  { path, read }: { path: string; read: (page: PageQuery) => Promise<RowPage> },
): Promise<PageResponse> {
  const { limit, cursor, ...listed } = query;
  const seal = { key: cursorKeyOf(db, caller), list: listOf(path, listed) };
  const after = cursor === undefined ? null : openCursor(seal, cursor, { path, query: listed, ...OF_LIST });
  const { rows, version, next: position } = await read({ ...ORDERS[query.sort], limit, after });
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
