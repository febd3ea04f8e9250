import { createHash } from 'node:crypto';
import type pg from 'pg';
import { nameKeyOf } from '../../domain/name.ts';
import { BATCH_ROWS } from '../sql/delete-in-batches.ts';
import { isCurrent } from './api-keys.ts';

type NamedKey = { organization_id: string; user_id: string; id: string; name: string; is_current: boolean };

/**
 * Sets the normalized name of every API key of all organizations that lacks it, in batches. If the names of several current keys
 * of a user look alike, only the oldest key gets it, and each of the others gets a unique value instead: they stay valid, and no
 * further key can have such a name.
 */
export async function fillNameKeys(client: pg.ClientBase): Promise<void> {
  let [holder, taken] = ['', new Set<string>()];
  for (;;) {
    const { rows } = await client.query<NamedKey>(
      `select organization_id, user_id, id, name, ${isCurrent('api_keys')} as is_current
       from api_keys where name_key is null order by organization_id, user_id, created_at, id limit ${BATCH_ROWS}`,
    );
    if (rows.length === 0) return;
    const forms = rows.map(({ organization_id, user_id, id, name, is_current }) => {
      if (holder !== `${organization_id} ${user_id}`) {
        [holder, taken] = [`${organization_id} ${user_id}`, new Set()];
      }
      const form = nameKeyOf(name);
      const key = form.toString('hex');
      if (is_current && taken.has(key)) return createHash('sha256').update(form).update(id).digest();
      if (is_current) taken.add(key);
      return form;
    });
    await client.query(
      `update api_keys k set name_key = new.name_key
       from unnest($1::uuid[], $2::uuid[], $3::bytea[]) as new (organization_id, id, name_key)
       where k.organization_id = new.organization_id and k.id = new.id`,
      [rows.map((row) => row.organization_id), rows.map(({ id }) => id), forms],
    );
  }
}
