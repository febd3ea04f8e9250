import {
  claimIdempotencyKey,
  deleteExpiredIdempotencyKeys,
  recordResult,
} from '../../src/store/resources/idempotency-keys.ts';
import { untilWaiting } from '../support/postgres/postgres.ts';
import { createTenant, type Tenant, useDatabase } from '../support/postgres/store.ts';

const database = await useDatabase();

const HASH = Buffer.alloc(32, 1);

function age({ scope }: Tenant, key: string, minutes: number) {
  return database.db.pool.query(
    `update idempotency_keys set created_at = now() - make_interval(mins => $3) where organization_id = $1 and key = $2`,
    [scope.organizationId, key, minutes],
  );
}

function fill({ scope }: Tenant, count: number, minutes: number) {
  return database.db.pool.query(
    `insert into idempotency_keys (organization_id, key, request_hash, answer, created_at)
     select $1, $3 || '-' || i, $4, '', now() - make_interval(mins => $3::int) from generate_series(1, $2::int) i`,
    [scope.organizationId, count, String(minutes), HASH],
  );
}

function left({ scope }: Tenant) {
  return database.db.prisma.idempotencyKey.count({ where: { organizationId: scope.organizationId } });
}

test('all keys older than 24 hours are deleted in every organization, and younger keys stay', async () => {
  const { db } = database;
  const [first, second] = [await createTenant(db), await createTenant(db)];
  await deleteExpiredIdempotencyKeys(db, {});
  await fill(first, 2101, 24 * 60 + 1);
  await fill(first, 3, 24 * 60 - 1);
  await fill(second, 5, 24 * 60 + 1);
  await fill(second, 1, 0);
  expect(await deleteExpiredIdempotencyKeys(db, {})).toBe(2106);
  expect([await left(first), await left(second)]).toEqual([3, 1]);
  expect(await deleteExpiredIdempotencyKeys(db, {})).toBe(0);
});

test('concurrent deletions delete each key once, and wait for no key in use', async () => {
  const { db } = database;
  const tenant = await createTenant(db);
  await fill(tenant, 1500, 24 * 60 + 1);
  await db.prisma.$transaction(async (tx) => {
    await tx.$executeRaw`select 1 from idempotency_keys where organization_id = ${tenant.scope.organizationId}::uuid and key like '%-1' for update`;
    const counts = await Promise.all([1, 2, 3].map(() => deleteExpiredIdempotencyKeys(db, {})));
    expect(counts.reduce((sum, count) => sum + count)).toBe(1499);
  });
  expect(await left(tenant)).toBe(1);
});

test('a used key returns its result for 24 hours, then it counts as new', async () => {
  const { db } = database;
  const tenant = await createTenant(db);
  const claim = () => claimIdempotencyKey(db.prisma, tenant.scope, { key: 'order-1', requestHash: HASH });
  expect(await claim()).toEqual({ kind: 'claimed' });
  await recordResult(db.prisma, tenant.scope, { key: 'order-1', result: 'made' });
  await age(tenant, 'order-1', 24 * 60 - 1);
  expect(await claim()).toEqual({ kind: 'used', isSameRequest: true, result: 'made' });
  await age(tenant, 'order-1', 24 * 60 + 1);
  expect(await claim()).toEqual({ kind: 'claimed' });
});

// The race: two creates have the same key, and the second create reads before the first create has written.
test('a claim waits for the transaction that holds the key, then gets its result, or the key if that transaction failed', async () => {
  const { db } = database;
  const tenant = await createTenant(db);
  for (const fails of [false, true]) {
    const key = `order-${fails}`;
    const claim = { key, requestHash: HASH };
    let second: Promise<unknown> | undefined;
    const first = db.prisma.$transaction(async (tx) => {
      await claimIdempotencyKey(tx, tenant.scope, claim);
      second = claimIdempotencyKey(db.prisma, tenant.scope, claim);
      await untilWaiting(db.pool, 1);
      await recordResult(tx, tenant.scope, { key, result: 'made' });
      if (fails) throw new Error('undone');
    });
    await (fails ? expect(first).rejects.toThrow('undone') : first);
    expect(await second).toMatchObject(fails ? { kind: 'claimed' } : { kind: 'used', result: 'made' });
  }
});
