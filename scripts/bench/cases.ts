import type pg from 'pg';
import { sealCursor } from '../../src/api/cursor.ts';
import { DAY_MS } from '../../src/domain/duration.ts';
import { positionOf } from '../../src/store/list.ts';
import type { ListQuery } from '../../src/store/parent-program-list.ts';
import type { Data, Organization } from './data.ts';
import { COMMON_WORD, RARE_WORD, WRITTEN } from './fill.ts';
import type { Load, RequestSpec } from './load.ts';
import type { List } from './plans.ts';
import { findDeepRows, findRecentInstant, INSTANT, listChangeInstants, type Place, someIds } from './rows.ts';
import type { RunningServer } from './servers.ts';
import { addEndpoint, type Receiver } from './webhooks.ts';

export type Case = {
  readonly title: string;
  readonly subject: Load;
  /** The load whose rate the subject's rate is divided by. */
  readonly base: { readonly title: string; readonly load: Load };
  /** The ratio to reach; null if the case is only for information. */
  readonly goal: number | null;
  /** The expected id of the subject's first row. */
  readonly firstId?: string;
  /** Whether the responses of subject and base must have the same rows. */
  readonly sameRows: boolean;
  /** The list whose plan is checked; a sequential scan fails the case, however fast it was. */
  readonly explain: List | null;
  /** Makes the subject the first five seconds after the server was idle for this time, and the base five seconds later. */
  readonly idleSeconds?: number;
};

export function isAgainstRaw({ base }: Case): boolean {
  return base.title.startsWith('raw');
}

export type Servers = {
  readonly charter: RunningServer;
  /** Without the response cache. */
  readonly uncached: RunningServer;
  readonly raw: RunningServer;
  /** Three servers like `charter` in one process. */
  readonly variants: Readonly<Record<'today' | 'sampling' | 'unlimited', RunningServer>>;
  /** With a contract of 1,000 operations, in a process of its own. */
  readonly vast: RunningServer;
  /** Two servers like `uncached` in one process. */
  readonly uncachedVariants: Readonly<Record<'today' | 'sampling', RunningServer>>;
};

export const PATH = '/api/parent_programs';
export const PAGE_ROWS = 25;
const DEEP_PAGE = 20_000;
/** More than one pass requests. */
const DISTINCT_PAGES = 16_000;
const READS_PER_WRITE = 9;
const FEW_ROWS = 20;
const FIRST_PAGE: ListQuery = { sortField: 'created_at', descending: false, limit: PAGE_ROWS + 1, after: null };

/** All cases, in the order of the table. */
export async function listCases(
  servers: Servers,
  { large, small }: Data,
  { client, receiver }: { client: pg.Client; receiver: Receiver },
): Promise<Case[]> {
  const { charter, uncached, raw, variants, vast, uncachedVariants } = servers;
  const [one, without = one, withWebhook = one] = small;
  await addEndpoint(client, withWebhook, receiver.url);
  const first = { title: 'raw', load: each(raw, [one]) };
  const distinct = await distinctPages(servers, large, client);
  const against = { sameRows: true, explain: null };
  return [
    { ...against, title: 'first page, one key', goal: 8, subject: each(charter, [one]), base: first },
    {
      ...against,
      title: 'first page, 100 keys of 100 organizations in turn',
      goal: 5.5,
      subject: each(charter, small),
      base: { title: 'raw', load: each(raw, small) },
    },
    {
      ...against,
      sameRows: false,
      title: 'If-None-Match -> 304',
      goal: 7,
      subject: each(charter, [one], PATH, { 'if-none-match': await tagOf(charter, one) }),
      base: first,
    },
    {
      ...against,
      title: 'uncached pages (a different cursor each time)',
      goal: 1.3,
      subject: distinct(uncached),
      base: { title: 'raw', load: distinct(raw) },
    },
    ...(await syncCases(servers, small.at(-1) ?? one, client)),
    ...(await onLarge(uncached, large, client)),
    {
      ...against,
      sameRows: false,
      title: '10% writes (create, update)',
      goal: 2,
      subject: await writes(charter, one, client),
      base: { title: 'raw doing the same', load: await writes(raw, one, client) },
    },
    {
      ...against,
      sameRows: false,
      title: '10% writes, each of them sent to a webhook endpoint',
      goal: null,
      subject: await writes(charter, withWebhook, client),
      base: { title: 'without an endpoint', load: await writes(charter, without, client) },
    },
    { ...against, title: 'one parent program by id', goal: 3.3, ...(await oneProgram(servers, one, client)) },
    {
      ...against,
      title: 'first 5 seconds after an idle minute, 100 keys',
      goal: 0.9,
      idleSeconds: 60,
      subject: each(charter, small),
      base: { title: 'the rate under load', load: each(charter, small) },
    },
    {
      ...against,
      title: 'first 5 seconds after an idle minute, uncached pages',
      goal: 0.9,
      idleSeconds: 60,
      subject: distinct(uncached),
      base: { title: 'the rate under load', load: distinct(uncached) },
    },
    {
      ...against,
      title: 'contract with 1,000 operations',
      goal: 0.95,
      subject: each(vast, [one]),
      base: { title: "today's contract", load: each(variants.today, [one]) },
    },
    {
      ...against,
      title: 'first page, rate limits on',
      goal: 0.97,
      subject: each(variants.today, [one]),
      base: { title: 'off', load: each(variants.unlimited, [one]) },
    },
    {
      ...against,
      title: 'response check: report at 1%',
      goal: 0.97,
      subject: each(variants.sampling, [one]),
      base: { title: 'off', load: each(variants.today, [one]) },
    },
    {
      ...against,
      title: 'response check: report at 1%, uncached pages',
      goal: 0.97,
      subject: distinct(uncachedVariants.sampling),
      base: { title: 'off', load: distinct(uncachedVariants.today) },
    },
  ];
}

export const authorized = ({ key }: Pick<Organization, 'key'>) => ({ authorization: `Bearer ${key}` });

/** The keys of the organizations in turn. Each connection starts with another one, so that requests at the same time differ. */
export function each(
  server: RunningServer,
  organizations: readonly Organization[],
  path = PATH,
  headers: Record<string, string> = {},
): Load {
  const all = organizations.map((organization) => ({ path, headers: { ...authorized(organization), ...headers } }));
  return {
    server,
    requests: (connection, connections) => {
      const start = Math.floor((connection * all.length) / connections) % all.length;
      return [...all.slice(start), ...all.slice(0, start)];
    },
  };
}

/** Each connection sends a share of its own, so that no two send the same request. */
export function split(server: RunningServer, all: readonly RequestSpec[]): Load {
  return { server, requests: (connection, connections) => all.filter((_, i) => i % connections === connection) };
}

async function tagOf({ origin }: RunningServer, organization: Organization): Promise<string> {
  return (await fetch(origin + PATH, { headers: authorized(organization) })).headers.get('etag') ?? '';
}

export const seal = ({ cursorKey }: Organization) => ({
  key: cursorKey,
  list: '["/api/parent_programs","created_at"]',
});

/** Returns a function from a server to its load: list pages that no two connections share. */
async function distinctPages({ raw }: Servers, large: Organization, client: pg.Client) {
  const { rows } = await client.query<Place>(
    `select id, value from (
       select id, ${INSTANT} as value, row_number() over (order by created_at, id) as place
       from parent_programs where organization_id = $1 order by created_at, id limit $2
     ) walked where place % $3 = 0`,
    [large.id, DISTINCT_PAGES * PAGE_ROWS, PAGE_ROWS],
  );
  const headers = authorized(large);
  const charterPages = rows.map((row) => ({
    headers,
    path: `${PATH}?cursor=${sealCursor(seal(large), positionOf(row, 'created_at'))}`,
  }));
  const rawPages = rows.map(({ id, value }) => ({ headers, path: `${PATH}?after=${value}&id=${id}` }));
  return (server: RunningServer) => split(server, server === raw ? rawPages : charterPages);
}

/** First pages of what an integrator fetches to keep a copy in sync. Each has another instant. No other case writes to these rows. */
async function syncCases({ uncached, raw }: Servers, unchanged: Organization, client: pg.Client): Promise<Case[]> {
  const changedAt = await listChangeInstants(client, unchanged);
  const at = (index: number) => changedAt.at(index)?.getTime() ?? 0;
  const pages = (sort: string, from: number, to: number): Load => {
    const headers = authorized(unchanged);
    const all = Array.from({ length: DISTINCT_PAGES }, (_, i) => {
      const since = new Date(from + ((to - from) * i) / DISTINCT_PAGES).toISOString();
      return { headers, path: `${PATH}?${new URLSearchParams({ sort, updated_since: since })}` };
    });
    return split(uncached, all);
  };
  const base = { title: 'raw, an unfiltered page', load: each(raw, [unchanged]) };
  const others = { base, explain: null };
  return [
    {
      ...others,
      title: 'updated_since, in order of updated_at',
      goal: 1.2,
      sameRows: false,
      subject: pages('updated_at', at(0), at(-PAGE_ROWS - 1)),
    },
    {
      ...others,
      title: 'updated_since, in the default order, all rows match',
      goal: 0.8,
      sameRows: true,
      subject: pages('created_at', at(0) - DAY_MS, at(0)),
    },
    {
      ...others,
      title: `updated_since, in the default order, ${FEW_ROWS} of 1,000 rows match`,
      goal: 0.8,
      sameRows: false,
      subject: pages('created_at', at(-FEW_ROWS - 1) + 1, at(-FEW_ROWS)),
    },
  ];
}

/** Uncached lists of 1,000,000 rows. Each connection requests another number of rows, 25 on average. */
async function onLarge(uncached: RunningServer, large: Organization, client: pg.Client): Promise<Case[]> {
  const [before, first] = await findDeepRows(client, large, (DEEP_PAGE - 1) * PAGE_ROWS - 1);
  const since = await findRecentInstant(client, large);
  const pages = (parameters: Record<string, string>): Load => ({
    server: uncached,
    requests: (connection, connections) => {
      const limit = String(PAGE_ROWS + connection - Math.floor(connections / 2));
      return [{ path: `${PATH}?${new URLSearchParams({ ...parameters, limit })}`, headers: authorized(large) }];
    },
  });
  const base = { title: 'its first page', load: pages({}) };
  const list = (title: string, parameters: Record<string, string>, query: Partial<ListQuery>) => ({
    title,
    goal: null,
    base,
    sameRows: false,
    subject: pages(parameters),
    explain: { organizationId: large.id, query: { ...FIRST_PAGE, ...query } },
  });
  const after = positionOf(before, 'created_at');
  const cursor = sealCursor(seal(large), after);
  return [
    { ...list('page 20,000 of 1,000,000 rows', { cursor }, { after }), goal: 0.95, firstId: first.id },
    list('search on 1,000,000 rows, a rare word', { search: RARE_WORD }, { search: RARE_WORD }),
    list('search on 1,000,000 rows, a common word', { search: COMMON_WORD }, { search: COMMON_WORD }),
    {
      ...list(
        'updated_since on 1,000,000 rows, a day',
        { updated_since: since.toISOString() },
        { updatedSince: since },
      ),
      goal: 0.8,
    },
  ];
}

/** Reads of the first page, with a create and an update in turn. Each connection updates a program of its own. */
async function writes(server: RunningServer, organization: Organization, client: pg.Client): Promise<Load> {
  const ids = await someIds(client, organization, 300);
  const read = { path: PATH, headers: authorized(organization) };
  const headers = { ...authorized(organization), 'content-type': 'application/json' };
  const write = (method: 'POST' | 'PATCH', path: string, body: object): RequestSpec[] => [
    ...Array<RequestSpec>(READS_PER_WRITE).fill(read),
    { method, path, headers, body: JSON.stringify(body) },
  ];
  return {
    server,
    requests: (connection) =>
      ['morning', 'evening'].flatMap((description) => [
        ...write('POST', PATH, { name: WRITTEN, description }),
        ...write('PATCH', `${PATH}/${ids[connection]}`, { description }),
      ]),
  };
}

async function oneProgram({ charter, raw }: Servers, one: Organization, client: pg.Client) {
  const [id] = await someIds(client, one, 1);
  const path = `${PATH}/${id}`;
  return { subject: each(charter, [one], path), base: { title: 'raw', load: each(raw, [one], path) } };
}
