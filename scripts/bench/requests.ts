// The requests that the cases send.
import type pg from 'pg';
import type { Data, Organization } from './data.ts';
import { WRITTEN } from './data.ts';
import type { Load, RequestSpec } from './load.ts';
import type { RunningServer } from './servers.ts';

export const PATH = '/api/parent_programs';
export const PAGE_ROWS = 25;
const READS_PER_WRITE = 9;
/** The number of rows at the beginning of the list that are never updated, so that the first page does not change. */
const UPDATED_FROM = 100;

/** The id of a row and the value by which it is sorted, as in a response. */
export type Place = { readonly id: string; readonly value: string };

export const INSTANT = `to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export const authorizationOf = ({ key }: Pick<Organization, 'key'>) => ({ authorization: `Bearer ${key}` });

export const seal = ({ cursorKey }: Organization) => ({
  key: cursorKey,
  list: '["/api/parent_programs","created_at"]',
});

/**
 * Returns a load that repeats the request with the key of each organization in turn. Each connection begins with a different
 * organization, so that concurrent requests differ.
 */
export function each(
  server: RunningServer,
  organizations: readonly Organization[],
  path = PATH,
  headers: Record<string, string> = {},
): Load {
  const all = organizations.map((organization) => ({
    path,
    headers: { ...authorizationOf(organization), ...headers },
  }));
  return {
    server,
    requests: (connection, connections) => {
      const start = Math.floor((connection * all.length) / connections) % all.length;
      return [...all.slice(start), ...all.slice(0, start)];
    },
  };
}

/** Returns a load that divides the requests among the connections, so that no two connections send the same request. */
export function split(server: RunningServer, all: readonly RequestSpec[]): Load {
  return { server, requests: (connection, connections) => all.filter((_, i) => i % connections === connection) };
}

export async function someIds(client: pg.Client, { id }: Organization, count: number): Promise<string[]> {
  const text = 'select id from parent_programs where organization_id = $1 order by created_at, id offset $2 limit $3';
  return (await client.query<{ id: string }>(text, [id, UPDATED_FROM, count])).rows.map((row) => row.id);
}

/**
 * Returns a load that reads the first page. Every tenth request is a write, a create and an update in turn. Each connection
 * updates a different program.
 */
export async function writes(server: RunningServer, organization: Organization, client: pg.Client): Promise<Load> {
  const ids = await someIds(client, organization, 300);
  const read = { path: PATH, headers: authorizationOf(organization) };
  const headers = { ...authorizationOf(organization), 'content-type': 'application/json' };
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

const CHUNK_ROWS = 100;

/** Returns two loads that create rows over one connection: one row per request, and batches of 100 rows. */
export function creations(server: RunningServer, organization: Organization): { single: Load; batches: Load } {
  const headers = { ...authorizationOf(organization), 'content-type': 'application/json' };
  const body = { name: WRITTEN, description: 'A row of a catalogue, as long as most of them are.' };
  const changes = Array<object>(CHUNK_ROWS).fill({ action: 'create', body });
  const post = (path: string, content: object): Load => ({
    server,
    connections: 1,
    requests: () => [{ method: 'POST', path, headers, body: JSON.stringify(content) }],
  });
  return {
    single: post(PATH, body),
    batches: { ...post(`${PATH}/batch`, { changes }), rowsPerRequest: CHUNK_ROWS },
  };
}

/** Returns two consecutive rows in the order of creation: the row at the offset (from 0) and the next one. */
export async function getRowsAt(client: pg.Client, { large }: Data, offset: number): Promise<[Place, Place]> {
  const { rows } = await client.query<Place>(
    `select id, ${INSTANT} as value
     from parent_programs where organization_id = $1 order by created_at, id offset $2 limit 2`,
    [large.id, offset],
  );
  const [before, first] = rows;
  if (before === undefined || first === undefined)
    throw new Error('The large organization has too few rows. Run npm run bench -- --fresh.');
  return [before, first];
}
