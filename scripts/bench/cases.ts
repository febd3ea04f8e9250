import type pg from 'pg';
import { sealCursor } from '../../src/api/cursor.ts';
import type { ListQuery, Position } from '../../src/store/parent-program-pages.ts';
import type { Data, Organization } from './data.ts';
import { COMMON_WORD, RARE_WORD } from './fill.ts';
import type { Load } from './load.ts';
import type { List } from './plans.ts';

export type Case = {
  readonly title: string;
  readonly subject: Load;
  /** What the subject's rate is divided by. */
  readonly base: { readonly title: string; readonly load: Load };
  /** The ratio to reach; null: for information. */
  readonly goal: number | null;
  /** The id that the subject's first row must have. */
  readonly firstId?: string;
  /** True: subject and base must answer with the same rows. */
  readonly sameRows: boolean;
  /** What PostgreSQL is asked to explain; one Seq Scan and the case falls short, however fast it was. */
  readonly explain: List | null;
};

type Origins = { readonly charter: string; readonly raw: string };

const PATH = '/api/parent_programs';
const PAGE_ROWS = 25;
const DEEP_PAGE = 20_000;
const FIRST_PAGE: ListQuery = { sortField: 'created_at', descending: false, limit: PAGE_ROWS + 1, after: null };

/** Everything that is measured, in the table's order. */
export async function listCases(origins: Origins, { large, small }: Data, client: pg.Client): Promise<Case[]> {
  const firstOfLarge = { title: 'its first page', load: load(origins.charter, [large]) };
  const [before, first] = await findDeepRows(client, large);
  const since = await findRecentInstant(client, large);
  const cursor = sealCursor({ key: large.cursorKey, list: '["created_at",null,null,null]' }, before);
  const onLarge = (title: string, parameters: Record<string, string>, query: Partial<ListQuery>) => ({
    ...{ title, goal: null, base: firstOfLarge, sameRows: false },
    subject: load(origins.charter, [large], `${PATH}?${new URLSearchParams(parameters)}`),
    explain: { organizationId: large.id, query: { ...FIRST_PAGE, ...query } },
  });
  return [
    againstRaw('first page, one key', origins, small.slice(0, 1)),
    againstRaw('first page, 100 keys in turn', origins, small),
    { ...onLarge('page 20,000 of 1,000,000 rows', { cursor }, { after: before }), goal: 0.95, firstId: first.id },
    onLarge('search, a rare word', { search: RARE_WORD }, { search: RARE_WORD }),
    onLarge('search, a common word', { search: COMMON_WORD }, { search: COMMON_WORD }),
    onLarge('updated_since, a day', { updated_since: since.toISOString() }, { updatedSince: since }),
  ];
}

function againstRaw(title: string, origins: Origins, organizations: readonly Organization[]): Case {
  return {
    ...{ title, goal: 1, sameRows: true, explain: null },
    subject: load(origins.charter, organizations),
    base: { title: 'raw', load: load(origins.raw, organizations) },
  };
}

function load(origin: string, organizations: readonly Organization[], path = PATH): Load {
  return { origin, requests: organizations.map(({ key }) => ({ path, headers: { authorization: `Bearer ${key}` } })) };
}

/** The last row of the page before, as a cursor names it, and the first of the deep page: found the slow, sure way. */
async function findDeepRows(client: pg.Client, { id }: Organization): Promise<[Position, Position]> {
  const { rows } = await client.query<Position>(
    `select id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as value
     from parent_programs where organization_id = $1 order by created_at, id offset $2 limit 2`,
    [id, (DEEP_PAGE - 1) * PAGE_ROWS - 1],
  );
  const [before, first] = rows;
  if (before === undefined || first === undefined) throw new Error('The large organization lacks rows.');
  return [before, first];
}

/** A day before the last change: the data's day, as the data may be older than today. */
async function findRecentInstant(client: pg.Client, { id }: Organization): Promise<Date> {
  const newest = `select max(updated_at) - interval '1 day' as since from parent_programs where organization_id = $1`;
  return (await client.query<{ since: Date }>(newest, [id])).rows[0]?.since ?? new Date();
}
