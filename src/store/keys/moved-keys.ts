import { NIL } from 'uuid';
import type { Database } from '../sql/database.ts';
import { BATCH_ROWS } from '../sql/delete-in-batches.ts';

const LIST = {
  name: 'list_keys_of_other_cells',
  text: `
    select organization_id as "organizationId", id, encode(key_hash, 'hex') as hash, key_prefix !~ $3 as "isOfAnother"
    from api_keys k
    where (organization_id, id) > ($1::uuid, $2::uuid)
      and not exists (select from organization_moves m where m.organization_id = k.organization_id)
    order by organization_id, id limit ${BATCH_ROWS}`,
};

type Row = {
  readonly organizationId: string;
  readonly id: string;
  readonly hash: string;
  readonly isOfAnother: boolean;
};

/**
 * The SHA-256, in hexadecimal, of each key whose text does not name this cell: it was issued in another one, or before there were
 * cells. Those of organizations that are moving away are left out. In batches, over all organizations.
 */
export async function* listKeysOfOtherCells({ pool }: Database, cell: string): AsyncGenerator<string[]> {
  for (let [organizationId, id]: [string, string] = [NIL, NIL]; ; ) {
    const values = [organizationId, id, `^charter_(live|test)_${cell}_`];
    const { rows } = await pool.query<Row>({ ...LIST, values });
    yield rows.filter(({ isOfAnother }) => isOfAnother).map(({ hash }) => hash);
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH_ROWS) return;
    [organizationId, id] = [last.organizationId, last.id];
  }
}
