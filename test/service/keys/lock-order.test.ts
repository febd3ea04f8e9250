import { randomBytes } from 'node:crypto';
import type { Actor } from '../../../src/domain/audit/actor.ts';
import { Keyring } from '../../../src/domain/keyring.ts';
import { rotateEncryptionKey } from '../../../src/service/operator/organizations.ts';
import { deactivateUser } from '../../../src/service/people/change-user.ts';
import { type Database, openDatabase } from '../../../src/store/sql/database.ts';
import { addEncryptionKey, placeOfTotpSecret } from '../../../src/store/sql/secrets.ts';
import { startKeyUses } from '../../../src/traffic/last-used.ts';
import { createPeople } from '../../support/data/actors.ts';
import { encryptedSecret, KEY, KEYRING, untilWaiting, withClient } from '../../support/postgres/postgres.ts';
import {
  createKeyRow,
  createTenant,
  openTestDatabase,
  type TestDatabase,
  useDatabase,
} from '../../support/postgres/store.ts';
import { until } from '../../support/wait.ts';

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

// The race: a deactivation and the write of last-used times lock the same keys. In different orders, each could lock a key for
// which the other waits. PostgreSQL would abort one of them, and the deactivation or the times of last use would be lost.
test('a deactivation and the write of last-used times never deadlock', async () => {
  const { administrator, member } = await createPeople(database.db);
  const { organizationId } = member.scope;
  // The last id has the first name and the first time. Without ORDER BY, an SQL statement finds the keys of a user through the
  // indexes on these columns, and so in the opposite order.
  for (const [i, id] of ids.toReversed().entries()) await createKeyRow(database.db, member, { id, name: `Key ${i}` });
  await addKeysOf(administrator, 2000);
  const failures: unknown[] = [];
  const uses = startKeyUses(database.db, { onFailure: (error) => failures.push(error) });
  const usedAt = new Date();
  for (const id of ids.toReversed()) {
    const use = uses.of({ organizationId, id }, usedAt);
    use.noteAcceptance(usedAt);
    use.countResponse('getKey', 'successful');
  }

  const both = await withClient(database.url, async (holder) => {
    // A third transaction locks the middle key, so that each of the other transactions has locked its first key before it waits.
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

describe('a rotation of the encryption key', () => {
  const [A, B] = [randomBytes(32), randomBytes(32)];
  const [AB, BA] = [new Keyring([A, B, KEY]), new Keyring([B, A, KEY])];
  const SET_SECRET = 'update users set totp_secret = $1 where id = $2';

  let old: TestDatabase;
  /** The same database, opened with two keyrings whose first keys differ. */
  let [first, second]: Database[] = [];
  beforeEach(async () => {
    old = await openTestDatabase();
    [first, second] = [AB, BA].map((keyring) =>
      openDatabase({ url: old.url, keyring, poolSize: 1, onIdleError: () => {} }),
    );
    await addEncryptionKey(old.db.pool, AB);
    await addEncryptionKey(old.db.pool, BA);
  });
  afterEach(async () => {
    await Promise.all([first?.close(), second?.close()]);
    await old.close();
  });

  const rotate = async (db: Database | undefined) => (db === undefined ? 0 : rotateEncryptionKey(db));

  async function untilBlocked(statement: string): Promise<void> {
    const text = `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like $1`;
    await until(`"${statement}" to wait`, async () => {
      const { rowCount } = await old.db.pool.query(text, [`%${statement}%`]);
      return rowCount === 1;
    });
  }

  async function secretOf({ scope: { organizationId }, userId: id }: Awaited<ReturnType<typeof createTenant>>) {
    const { totpSecret } = await old.db.prisma.user.findFirstOrThrow({ where: { id } });
    return new Keyring([A, B]).decrypt(totpSecret ?? Buffer.alloc(0), placeOfTotpSecret({ organizationId, id }));
  }

  const keysLeft = async () => (await old.db.pool.query(`select encode(id, 'hex') as id from encryption_keys`)).rows;

  // The race: a write of a secret locks its user, and then its encryption key. A rotation that waited for the user while it held
  // the lock of the key would deadlock.
  test('never deadlocks with writes of a process that still uses the old key, and misses none of them', async () => {
    const tenant = await createTenant(old.db);
    await withClient(old.url, (reader) =>
      withClient(old.url, async (writer) => {
        // Until this transaction ends, the old key cannot be deleted.
        await reader.query('begin');
        await reader.query(`select from encryption_keys where id = decode($1, 'hex') for key share`, [
          KEYRING.currentId,
        ]);
        const rotation = rotate(first);
        await untilBlocked('delete from encryption_keys');
        await old.db.pool.query(SET_SECRET, [encryptedSecret(tenant), tenant.userId]);
        await writer.query('begin');
        await writer.query(`update users set name = 'Busy' where id = $1`, [tenant.userId]);
        await reader.query('rollback');
        await untilBlocked('update users t');
        const write = writer.query(SET_SECRET, [encryptedSecret(tenant), tenant.userId]);
        await expect(write).resolves.toMatchObject({ rowCount: 1 });
        await writer.query('commit');
        expect(await rotation).toBeGreaterThan(0);
      }),
    );
    expect(await secretOf(tenant)).toEqual(Buffer.alloc(20));
    expect(await keysLeft()).toEqual([{ id: AB.currentId }]);
    await expect(old.db.pool.query(SET_SECRET, [encryptedSecret(tenant), tenant.userId])).rejects.toThrow(
      'is not among those of this database',
    );
  });

  test('to another key, at the same time, is refused, and one key is left that encrypts everything', async () => {
    const tenants = [await createTenant(old.db), await createTenant(old.db)];
    for (const tenant of tenants) await old.db.pool.query(SET_SECRET, [encryptedSecret(tenant), tenant.userId]);
    const rotations = await Promise.allSettled([rotate(first), rotate(second)]);
    expect(rotations.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = rotations.find(({ status }) => status === 'rejected');
    expect(refused).toMatchObject({ reason: { code: 'conflict' } });
    expect(await keysLeft()).toHaveLength(1);
    for (const tenant of tenants) expect(await secretOf(tenant)).toEqual(Buffer.alloc(20));
  });

  // The race: the rotation and another transaction each lock several users. Without an order, an SQL query that scans the table
  // locks the last user first, and the two transactions can deadlock.
  test('locks users in the order of their ids, like every other transaction', async () => {
    const tenant = await createTenant(old.db);
    const { organizationId } = tenant.scope;
    for (const id of [...ids.slice(0, 2)].reverse()) {
      const secret = encryptedSecret({ scope: tenant.scope, userId: id });
      await old.db.pool.query(
        `insert into users (organization_id, id, email, name, role, totp_secret)
         values ($1, $2::uuid, $2 || '@example.test', 'Test', 'member', $3)`,
        [organizationId, id, secret],
      );
    }
    await old.db.pool.query('analyze users');
    await withClient(old.url, async (other) => {
      await other.query('begin');
      await other.query('select from users where id = $1 for update', [ids[0]]);
      const rotation = rotate(first);
      await untilBlocked('update users t');
      await other.query('select from users where id = $1 for update', [ids[1]]);
      await other.query('commit');
      expect(await rotation).toBeGreaterThan(0);
    });
  });
});
