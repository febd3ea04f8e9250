import type { KeyUsage } from '../../domain/keys/key-usage.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Database } from '../sql/database.ts';
import { COLUMNS, type ListedKey, PEOPLE } from './key-lists.ts';
import { isShown, JSON_OF_USE, shownFrom, type UseJson, usageFrom } from './key-uses.ts';

/** A key and its place among the rotations of another one: 0 is that key itself, -1 its predecessor, 1 its successor. */
export type RotatedKey = ListedKey & { readonly step: number };

/** The number of predecessors, and of successors, that are read. */
export const MAX_STEPS = 10;

const FIND = {
  name: 'find_key_rotations',
  text: `
    with recursive asked as (
      select id, successor_id from api_keys where organization_id = $1 and user_id = $2 and id = $3),
    earlier as (
      select id, 0 as step from asked
      union all
      select k.id, earlier.step - 1
      from earlier join api_keys k on k.organization_id = $1 and k.successor_id = earlier.id
      where earlier.step > -${MAX_STEPS}),
    later as (
      select id, successor_id, 0 as step from asked
      union all
      select k.id, k.successor_id, later.step + 1
      from later join api_keys k on k.organization_id = $1 and k.id = later.successor_id
      where later.step < ${MAX_STEPS}),
    line as (select id, step from earlier union select id, step from later)
    select ${COLUMNS}, line.step,
      case line.step when 0 then (
        select json_agg(${JSON_OF_USE}) from key_uses u
        where u.organization_id = $1 and u.key_id = k.id and ${isShown('$4', '$5')}) end as uses
    from line join api_keys k on k.organization_id = $1 and k.id = line.id ${PEOPLE}
    order by line.step`,
};

/**
 * A key of the user with its predecessors and successors, the oldest first, and the requests with the key itself. No keys: the
 * user has no such key.
 */
export async function findKeyRotations(
  db: Database,
  scope: OrganizationScope,
  { userId, id, now }: { userId: string; id: string; now: Date },
): Promise<{ readonly keys: readonly RotatedKey[]; readonly usage: KeyUsage }> {
  const values = [scope.organizationId, userId, id, ...shownFrom(now)];
  const { rows } = await db.pool.query<RotatedKey & { uses: UseJson[] | null }>({ ...FIND, values });
  return { keys: rows, usage: usageFrom(rows.find(({ step }) => step === 0)?.uses ?? null, now) };
}
