import type pg from 'pg';
import type { Organization } from './data.ts';

/** A row's place as the contract shows it. */
export type Place = { readonly id: string; readonly value: string };

export const INSTANT = `to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Past the first page, which thus stays as it is whatever becomes of them. */
export async function someIds(client: pg.Client, { id }: Organization, count: number): Promise<string[]> {
  const text = 'select id from parent_programs where organization_id = $1 order by created_at, id offset 100 limit $2';
  return (await client.query<{ id: string }>(text, [id, count])).rows.map((row) => row.id);
}

/** The last row of the page before, and the first of the deep page: found the slow, sure way. */
export async function findDeepRows(client: pg.Client, { id }: Organization, offset: number): Promise<[Place, Place]> {
  const { rows } = await client.query<Place>(
    `select id, ${INSTANT} as value
     from parent_programs where organization_id = $1 order by created_at, id offset $2 limit 2`,
    [id, offset],
  );
  const [before, first] = rows;
  if (before === undefined || first === undefined) throw new Error('The large organization lacks rows.');
  return [before, first];
}

/** A day before the last change: the data's day, as the data may be older than today. */
export async function findRecentInstant(client: pg.Client, { id }: Organization): Promise<Date> {
  const newest = `select max(updated_at) - interval '1 day' as since from parent_programs where organization_id = $1`;
  return (await client.query<{ since: Date }>(newest, [id])).rows[0]?.since ?? new Date();
}
