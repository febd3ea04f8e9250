import { sealCursor } from '../../src/api/list-page.ts';
import { positionOf } from '../../src/store/resources/list.ts';
import type { Organization } from './data.ts';
import { COMMON_WORD, RARE_WORD } from './data.ts';
import type { GrownData } from './growth-data.ts';
import type { RequestSpec } from './load.ts';
import { authorizationOf, INSTANT, PAGE_ROWS, PATH, type Place, seal } from './requests.ts';

export type GrowthCase = {
  readonly title: string;
  /** The organizations that send the requests: the large one, or the small ones in turn. */
  readonly of: 'large' | 'small';
  readonly isWrite: boolean;
  /** Returns the requests of one pass, which are divided among the connections. */
  readonly requests: (data: GrownData) => Promise<readonly RequestSpec[]>;
};

/** The number of connections. It is small, so that requests do not wait for each other, which would add to the latency. */
export const CONNECTIONS = 4;
/** The maximum number of organizations in a sample. Most cases send fewer requests in a pass, so that no request is repeated. */
const MOST_ORGANIZATIONS = 10_000;
const MOST_ROWS = 5000;
/** A prime number. Steps of this size reach every organization, but not in the order of the rows. */
const STEP = 7919;
const CHANGED_ROWS = 100;
/** A search text that one in 288 names contains: a place and a subject. */
const PART = 'Leeds Robotics';
/** A time before the creation of all rows. */
const LONG_AGO = '2020-01-01T00:00:00Z';

/** All cases. A pass begins with the writes, so that its reads include updated rows. */
export const GROWTH_CASES: readonly GrowthCase[] = [
  { title: 'update', of: 'large', isWrite: true, requests: updatesOfLarge },
  { title: 'update', of: 'small', isWrite: true, requests: (data) => ofSmall(data, updatesOf) },
  read('look-up of the key', 'large', ({ large }) => onEach(() => get(large, '/api/key'))),
  read('look-up of the key', 'small', ({ small }) => sampleOf(small).map((each) => get(each, '/api/key'))),
  read('one by its id', 'large', async (data) =>
    (await spreadRows(data)).map(({ id }) => get(data.large, `${PATH}/${id}`)),
  ),
  read('one by its id', 'small', (data) => ofSmall(data, (each, { id }) => [get(each, `${PATH}/${id}`)])),
  read('first page', 'large', ({ large }) => pages(large, {})),
  read('first page', 'small', ({ small }) => sampleOf(small).map((each) => get(each, PATH))),
  read('any other page', 'large', async (data) =>
    (await spreadRows(data)).map((row) =>
      list(data.large, { cursor: sealCursor(seal(data.large), positionOf(row, 'created_at')) }),
    ),
  ),
  read('filter by external_id', 'large', async (data) =>
    (await spreadRows(data)).map(({ externalId }) => list(data.large, { external_id: externalId })),
  ),
  read('filter by external_id', 'small', (data) =>
    ofSmall(data, (each, { externalId }) => [list(each, { external_id: externalId })]),
  ),
  read('filter by updated_since', 'large', async (data) =>
    pages(data.large, { updated_since: (await getChange(data)).toISOString() }),
  ),
  read('filter by updated_since', 'small', ({ small }) =>
    sampleOf(small).map((each) => list(each, { updated_since: LONG_AGO })),
  ),
  read('search: 20 names', 'large', ({ large }) => pages(large, { search: RARE_WORD })),
  read('search: 1 name in 288', 'large', ({ large }) => pages(large, { search: PART })),
  read('search: 1 name in 8', 'large', ({ large }) => pages(large, { search: COMMON_WORD })),
  read('search: 1 name in 8', 'small', ({ small }) =>
    sampleOf(small).map((each) => list(each, { search: COMMON_WORD })),
  ),
];

function read(
  title: string,
  of: GrowthCase['of'],
  requests: (data: GrownData) => readonly RequestSpec[] | Promise<readonly RequestSpec[]>,
): GrowthCase {
  return { title, of, isWrite: false, requests: async (data) => requests(data) };
}

function get(organization: Organization, path: string): RequestSpec {
  return { path, headers: authorizationOf(organization) };
}

function list(organization: Organization, parameters: Record<string, string>): RequestSpec {
  return get(organization, `${PATH}?${new URLSearchParams(parameters)}`);
}

function onEach(request: (connection: number) => RequestSpec): RequestSpec[] {
  return Array.from({ length: CONNECTIONS }, (_, connection) => request(connection));
}

/**
 * Returns requests for the same list with different numbers of rows per page, because identical concurrent requests would share a
 * response.
 */
function pages(organization: Organization, parameters: Record<string, string>): RequestSpec[] {
  return onEach((connection) => {
    const limit = String(PAGE_ROWS + connection - CONNECTIONS / 2);
    return list(organization, { ...parameters, limit });
  });
}

/** Returns at most 10,000 organizations, in a scattered order. */
function sampleOf(small: readonly Organization[]): Organization[] {
  const all = Array.from({ length: small.length }, (_, i) => small[(i * STEP) % small.length]);
  return all.filter((each) => each !== undefined).slice(0, MOST_ORGANIZATIONS);
}

type Row = Place & { readonly externalId: string };

const COLUMNS = `id, ${INSTANT} as value, coalesce(external_id, 'none') as "externalId"`;

/** Returns requests for one row of each small organization in the sample. */
async function ofSmall(
  { client, small }: GrownData,
  requests: (organization: Organization, row: Row) => readonly RequestSpec[],
): Promise<RequestSpec[]> {
  const sample = new Map(sampleOf(small).map((each) => [each.id, each]));
  const { rows } = await client.query<Row & { organization: string }>(
    `select o.id as organization, found.* from unnest($1::uuid[]) with ordinality o (id, place) cross join lateral (
       select ${COLUMNS} from parent_programs p where p.organization_id = o.id
       order by external_id is null, created_at, p.id limit 1) found
     order by place`,
    [[...sample.keys()]],
  );
  return rows.flatMap(({ organization, ...row }) => {
    const found = sample.get(organization);
    return found === undefined ? [] : requests(found, row);
  });
}

/** Returns at most 5,000 rows of the large organization in a scattered order. Their creation times are spread evenly. */
async function spreadRows({ client, large, rows: count }: GrownData): Promise<Row[]> {
  const wanted = Math.min(count, MOST_ROWS);
  const { rows } = await client.query<Row>(
    `select found.* from (
       select min(created_at) as first, max(created_at) - min(created_at) as span
       from parent_programs where organization_id = $1) bounds
     cross join generate_series(0, $2::int - 1) i
     cross join lateral (
       select ${COLUMNS} from parent_programs
       where organization_id = $1 and created_at >= first + span * ((i * ${STEP}::bigint) % $2) / ($2 + 1.0)::float8
       order by created_at, id limit 1) found
     order by i`,
    [large.id, wanted],
  );
  return rows;
}

/** Returns the time since which 100 rows have changed. These rows fill four pages. */
async function getChange({ client, large }: GrownData): Promise<Date> {
  const text = `select updated_at as at from parent_programs where organization_id = $1
    order by updated_at desc offset $2 limit 1`;
  return (await client.query<{ at: Date }>(text, [large.id, CHANGED_ROWS - 1])).rows[0]?.at ?? new Date(0);
}

async function updatesOfLarge(data: GrownData): Promise<RequestSpec[]> {
  const rows = await spreadRows(data);
  // Each row is updated twice with different values, because the server does not write an update that changes nothing.
  return [0, 1].flatMap((turn) => rows.map((row) => updateOf(data.large, row, turn)));
}

function updatesOf(organization: Organization, row: Row): RequestSpec[] {
  return [updateOf(organization, row, 0)];
}

function updateOf(organization: Organization, { id }: Row, turn: number): RequestSpec {
  return {
    method: 'PATCH',
    path: `${PATH}/${id}`,
    headers: { ...authorizationOf(organization), 'content-type': 'application/json' },
    body: JSON.stringify({ description: `Changed at ${Date.now()}, ${turn}` }),
  };
}
