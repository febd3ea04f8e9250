import type { Actor } from '../../src/domain/actor.ts';
import { deactivateUser } from '../../src/service/change-user.ts';
import { startKeyUses } from '../../src/service/last-used.ts';
import { createPeople } from '../support/actors.ts';
import { untilWaiting, withClient } from '../support/postgres.ts';
import { createKeyRow, useDatabase } from '../support/store.ts';

const database = await useDatabase();

const ids = ['1', '2', '3'].map((digit) => `0000000${digit}-0000-7000-8000-000000000000`);

async function addKeysOf({ scope, userId }: Actor, count: number): Promise<void> {
  await database.db.pool.query(
    `insert into api_keys (organization_id, id, user_id, name, name_key, key_hash, key_prefix, permissions)
     select $1, gen_random_uuid(), $2, 'Key ' || i, sha256(gen_random_uuid()::text::bytea), sha256(gen_random_uuid()::text::bytea), 'charter_live_0000', '{}'
     from generate_series(1, ${count}) i`,
    [scope.organizationId, userId],
  );
  await database.db.pool.query('analyze api_keys');
}

// Both lock the same keys. With different orders, each could hold one that the other waits for. PostgreSQL would then
// abort one of them, and the deactivation or the times of last use would be lost.
test('a deactivation and the write of last-used times never deadlock', async () => {
  const { administrator, member } = await createPeople(database.db);
  const { organizationId } = member.scope;
  // The last id has the first name and the first time. A statement without an explicit order finds the keys of a user
  // by the indexes on these columns.
  for (const [i, id] of ids.toReversed().entries()) await createKeyRow(database.db, member, { id, name: `Key ${i}` });
  await addKeysOf(administrator, 2000);
  const failures: unknown[] = [];
  const uses = startKeyUses(database.db, { onFailure: (error) => failures.push(error) });
  const usedAt = new Date();
  for (const id of ids.toReversed()) uses.used({ organizationId, id }, usedAt);

  const both = await withClient(database.url, async (holder) => {
    // A third transaction locks the middle key, so that each of the two holds its first key before it can take its
    // second.
    await holder.query('begin');
    await holder.query('select 1 from api_keys where id = $1 for update', [ids[1]]);
    const writing = uses.stop();
    await untilWaiting(database.db.pool, 1);
    const deactivating = deactivateUser(database.db, administrator, { userId: member.userId });
    await untilWaiting(database.db.pool, 2);
    await holder.query('rollback');
    return [writing, deactivating];
  });
  await Promise.all(both);
  expect(failures).toEqual([]);
  const keys = await database.db.prisma.apiKey.findMany({ where: { userId: member.userId } });
  expect(keys.map(({ lastUsedAt, revokedAt }) => [lastUsedAt, revokedAt])).toEqual(
    ids.map(() => [usedAt, expect.any(Date)]),
  );
});
