import type pg from 'pg';
import type { Organization } from './data.ts';

/** The id of a row and its time, as in a response. */
export type Place = { readonly id: string; readonly value: string };

export const INSTANT = `to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Ids of rows after the first page, so that updates of them do not change that page. */
export async function someIds(client: pg.Client, { id }: Organization, count: number): Promise<string[]> {
  const text = 'select id from parent_programs where organization_id = $1 order by created_at, id offset 100 limit $2';
  return (await client.query<{ id: string }>(text, [id, count])).rows.map((row) => row.id);
}

/** The last row before the deep page and its first, found with `offset`. */
export async function findDeepRows(client: pg.Client, { id }: Organization, offset: number): Promise<[Place, Place]> {
  const { rows } = await client.query<Place>(
    `select id, ${INSTANT} as value
     from parent_programs where organization_id = $1 order by created_at, id offset $2 limit 2`,
    [id, offset],
  );
  const [before, first] = rows;
  if (before === undefined || first === undefined)
    throw new Error('The large organization has too few rows. Run npm run bench -- --fresh.');
  return [before, first];
}

/** One day before the last change, because the data may have been created earlier than today. */
export async function findRecentInstant(client: pg.Client, { id }: Organization): Promise<Date> {
  const newest = `select max(updated_at) - interval '1 day' as since from parent_programs where organization_id = $1`;
  return (await client.query<{ since: Date }>(newest, [id])).rows[0]?.since ?? new Date();
}

/** When the rows were last changed, in order of time. */
export async function listChangeInstants(client: pg.Client, { id }: Organization): Promise<Date[]> {
  const text = 'select updated_at as at from parent_programs where organization_id = $1 order by updated_at';
  return (await client.query<{ at: Date }>(text, [id])).rows.map(({ at }) => at);
}
