import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type pg from 'pg';
import { v7 as newId } from 'uuid';
import { sealCursor } from '../../src/api/list-page.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { positionOf } from '../../src/store/resources/list.ts';
import { placeOfWebhookSecret } from '../../src/store/sql/secrets.ts';
import type { Case, Servers } from './compare.ts';
import { COMMON_WORD, type Data, KEYRING, type Organization, RARE_WORD } from './data.ts';
import type { Load } from './load.ts';
import {
  authorizationOf,
  creations,
  each,
  getRowsAt,
  INSTANT,
  PAGE_ROWS,
  PATH,
  type Place,
  seal,
  someIds,
  split,
  writes,
} from './requests.ts';
import type { RunningServer } from './servers.ts';

export async function listCases(servers: Servers, data: Data, client: pg.Client): Promise<Case[]> {
  const { charter, uncached, sampling, vast, raw } = servers;
  const { small } = data;
  const [one, without = one, withWebhook = one] = small;
  await addEndpoint(client, withWebhook, await startReceiver());
  const [id] = await someIds(client, one, 1);
  const distinct = await distinctPages(servers, data, client);
  const beside = (load: Load) => ({ title: 'raw', load });
  const [ours, raws] = [creations(charter, one), creations(raw, one)];
  const later = { idleSeconds: 60, base: { title: 'the rate under load', load: each(charter, small) } };
  return [
    {
      title: 'first page, one key',
      floor: 5,
      sameRows: true,
      subject: each(charter, [one]),
      base: beside(each(raw, [one])),
    },
    {
      title: 'first page, 100 keys of 100 organizations in turn',
      floor: 4.5,
      sameRows: true,
      subject: each(charter, small),
      base: beside(each(raw, small)),
    },
    {
      title: 'If-None-Match -> 304',
      floor: 5,
      subject: each(charter, [one], PATH, { 'if-none-match': await fetchTag(each(charter, [one])) }),
      base: beside(each(raw, [one])),
    },
    {
      title: 'uncached pages (a different cursor each time)',
      floor: 1.1,
      sameRows: true,
      subject: distinct(uncached),
      base: beside(distinct(raw)),
    },
    ...(await syncCases(servers, data, client)),
    ...(await listsOfLarge(uncached, data, client)),
    {
      title: '10% writes (create, update)',
      floor: 1.5,
      subject: await writes(charter, one, client),
      base: { title: 'raw doing the same', load: await writes(raw, one, client) },
    },
    {
      title: '10% writes, each of them sent to a webhook endpoint',
      floor: 0.6,
      subject: await writes(charter, withWebhook, client),
      base: { title: 'without an endpoint', load: await writes(charter, without, client) },
    },
    {
      title: 'rows by batches of 100 creations, one connection',
      floor: 10,
      subject: ours.batches,
      base: { title: 'single creations', load: ours.single },
    },
    {
      title: 'rows by batches of 100 creations, one connection, events included',
      floor: 0.5,
      subject: ours.batches,
      base: { title: "raw's multi-row insert without events", load: raws.batches },
    },
    {
      title: 'one parent program by id',
      floor: 2.2,
      sameRows: true,
      subject: each(charter, [one], `${PATH}/${id}`),
      base: beside(each(raw, [one], `${PATH}/${id}`)),
    },
    {
      ...later,
      title: 'first 5 seconds after an idle minute, 100 keys',
      floor: 0.8,
      subject: each(charter, small),
    },
    {
      title: 'contract with 1,000 operations',
      floor: 0.85,
      sameRows: true,
      subject: each(vast, [one]),
      base: { title: "today's contract", load: each(charter, [one]) },
    },
    {
      title: 'response check: report at 1%',
      floor: 0.85,
      sameRows: true,
      subject: each(sampling, [one]),
      base: { title: 'off', load: each(charter, [one]) },
    },
  ];
}

/** Starts a receiver of webhooks in this process and returns its URL. */
async function startReceiver(): Promise<string> {
  const server = createServer((req, res) => {
    req.resume().once('end', () => res.writeHead(204).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

async function addEndpoint(client: pg.Client, { id: organizationId }: Organization, url: string): Promise<void> {
  const id = newId();
  await client.query(
    `insert into webhook_endpoints (organization_id, id, url, event_types, secret)
     values ($1, $2, $3, '{parent_program.created,parent_program.updated,parent_program.deleted}', $4)`,
    [organizationId, id, url, KEYRING.encrypt(randomBytes(32), placeOfWebhookSecret({ organizationId, id }))],
  );
}

async function fetchTag({ server, requests }: Load): Promise<string> {
  const [request] = requests(0, 1);
  return (await fetch(server.origin + PATH, { headers: { ...request?.headers } })).headers.get('etag') ?? '';
}

// Lists that the response cache cannot serve, because every connection requests different pages.

const DEEP_PAGE = 20_000;
/** The number of pages. It exceeds the requests of one pass, so that no page is requested twice. */
const DISTINCT_PAGES = 16_000;
const FEW_ROWS = 20;

/** Returns a function that returns the load of a server: requests for pages of a list. Only one connection requests each page. */
async function distinctPages({ raw }: Servers, { large }: Data, client: pg.Client) {
  const { rows } = await client.query<Place>(
    `select id, value from (
       select id, ${INSTANT} as value, row_number() over (order by created_at, id) as place
       from parent_programs where organization_id = $1 order by created_at, id limit $2
     ) walked where place % $3 = 0`,
    [large.id, DISTINCT_PAGES * PAGE_ROWS, PAGE_ROWS],
  );
  const headers = authorizationOf(large);
  const charterPages = rows.map((row) => ({
    headers,
    path: `${PATH}?cursor=${sealCursor(seal(large), positionOf(row, 'created_at'))}`,
  }));
  const rawPages = rows.map(({ id, value }) => ({ headers, path: `${PATH}?after=${value}&id=${id}` }));
  return (server: RunningServer) => split(server, server === raw ? rawPages : charterPages);
}

/**
 * Returns cases for a client that keeps a copy of the rows in sync. The organization in these cases is one to which no other case
 * writes.
 */
async function syncCases({ uncached, raw }: Servers, { small }: Data, client: pg.Client): Promise<Case[]> {
  const unchanged = small.at(-1) ?? small[0];
  const changes = await listChanges(client, unchanged);
  const at = (index: number) => changes.at(index)?.getTime() ?? 0;
  const pages = (sort: string, from: number, to: number): Load => {
    const headers = authorizationOf(unchanged);
    const all = Array.from({ length: DISTINCT_PAGES }, (_, i) => {
      const since = new Date(from + ((to - from) * i) / DISTINCT_PAGES).toISOString();
      return { headers, path: `${PATH}?${new URLSearchParams({ sort, updated_since: since })}` };
    });
    return split(uncached, all);
  };
  const base = { title: 'raw, an unfiltered page', load: each(raw, [unchanged]) };
  return [
    {
      base,
      title: 'updated_since, in order of updated_at',
      floor: 0.85,
      subject: pages('updated_at', at(0), at(-PAGE_ROWS - 1)),
    },
    {
      base,
      title: 'updated_since, in the default order, all rows match',
      floor: 0.65,
      sameRows: true,
      subject: pages('created_at', at(0) - DAY_MS, at(0)),
    },
    {
      base,
      title: `updated_since, in the default order, ${FEW_ROWS} of 1,000 rows match`,
      floor: 0.75,
      subject: pages('created_at', at(-FEW_ROWS - 1) + 1, at(-FEW_ROWS)),
    },
  ];
}

/** Returns the times of the last changes of the rows, in order. */
async function listChanges(client: pg.Client, { id }: Organization): Promise<Date[]> {
  const text = 'select updated_at as at from parent_programs where organization_id = $1 order by updated_at';
  return (await client.query<{ at: Date }>(text, [id])).rows.map(({ at }) => at);
}

/**
 * Returns cases for lists of 1,000,000 rows. Each connection requests a different number of rows per page, 25 on average, so that
 * no two requests share a response.
 */
async function listsOfLarge(uncached: RunningServer, data: Data, client: pg.Client): Promise<Case[]> {
  const { large } = data;
  const [before, first] = await getRowsAt(client, data, (DEEP_PAGE - 1) * PAGE_ROWS - 1);
  // The data may be from an earlier day, so the period ends with the last change in the data instead of now.
  const newest = `select max(updated_at) - interval '1 day' as since from parent_programs where organization_id = $1`;
  const since = (await client.query<{ since: Date }>(newest, [large.id])).rows[0]?.since ?? new Date();
  const pages = (parameters: Record<string, string>): Load => ({
    server: uncached,
    requests: (connection, connections) => {
      const limit = String(PAGE_ROWS + connection - Math.floor(connections / 2));
      return [{ path: `${PATH}?${new URLSearchParams({ ...parameters, limit })}`, headers: authorizationOf(large) }];
    },
  });
  const base = { title: 'its first page', load: pages({}) };
  const cursor = sealCursor(seal(large), positionOf(before, 'created_at'));
  const title = (what: string) => `${what} on 1,000,000 rows`;
  return [
    { base, title: 'page 20,000 of 1,000,000 rows', floor: 0.9, firstId: first.id, subject: pages({ cursor }) },
    { base, title: `${title('search')}, a rare word`, floor: 0.25, subject: pages({ search: RARE_WORD }) },
    { base, title: `${title('search')}, a common word`, floor: 0.25, subject: pages({ search: COMMON_WORD }) },
    {
      base,
      title: `${title('updated_since')}, a day`,
      floor: 0.55,
      subject: pages({ updated_since: since.toISOString() }),
    },
  ];
}
