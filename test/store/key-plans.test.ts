import { listActiveKeysMadeForOthers, listKeyRotations, listKeysOf } from '../../src/store/keys/key-lists.ts';
import { listKeyRequests } from '../../src/store/keys/key-requests.ts';
import { listKeysByHash } from '../../src/store/unscoped/keys.ts';
import { openWithAutoExplain, type Plan } from '../support/postgres/plans.ts';
import { writeRows } from '../support/postgres/postgres.ts';
import { connectTo, createTenant, type Tenant, useDatabase } from '../support/postgres/store.ts';

// An organization of 2,000 users, each with one key of their own and ten keys that an administrator made for them.

const USERS = 2000;
const NOW = new Date('2026-05-04T12:00:00.000Z');

const database = await useDatabase();
const ours = await createTenant(database.db);
const managerId = await fill(ours);
await fill(await createTenant(database.db));
await database.db.pool.query('vacuum analyze users, api_keys, key_requests');
const planned = await openWithAutoExplain(database.url);
afterAll(() => planned.db.close());

/** Fills the organization. Returns the id of a user who has made 40 keys for others. Half of these keys have ended. */
async function fill({ scope: { organizationId }, userId }: Tenant): Promise<string> {
  await writeRows(
    database.db,
    `insert into users (organization_id, id, email, name, role)
     select $1, gen_random_uuid(), 'many-' || gen_random_uuid() || '@example.test', 'Test', 'manager'
     from generate_series(1, ${USERS})`,
    [organizationId],
  );
  const insert = `insert into api_keys (organization_id, id, user_id, created_by_user_id, name, name_key, key_hash, key_prefix,
                                        permissions, created_at, revoked_at)
    select organization_id, gen_random_uuid(), u.id, `;
  const key = `gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), sha256(gen_random_uuid()::text::bytea), 'charter_live_0000', '{}', timestamptz '2026-01-01'
               + i * interval '1 minute'`;
  await writeRows(
    database.db,
    `${insert} case when i = 1 then u.id else $2::uuid end, ${key}, null
     from users u, generate_series(1, 11) i where organization_id = $1`,
    [organizationId, userId],
  );
  const { rows } = await database.db.pool.query<{ id: string }>(
    'select id from users where organization_id = $1 and id <> $2 limit 1',
    [organizationId, userId],
  );
  const id = rows[0]?.id ?? '';
  await database.db.pool.query(
    `${insert} $2, ${key}, case when i % 2 = 0 then now() end
     from (select *, row_number() over () as i from users where organization_id = $1 and id <> $2 limit 40) u`,
    [organizationId, id],
  );
  await writeRows(
    database.db,
    `insert into key_requests (organization_id, key_id, at, request_id, operation, status, duration_ms)
     select organization_id, id, created_at + i * interval '1 minute', gen_random_uuid(), 'getKey', 200 + 222 * (i % 2), 1
     from api_keys, generate_series(1, 3) i where organization_id = $1`,
    [organizationId],
  );
  return id;
}

/**
 * Returns the plan of the last of eight executions, because PostgreSQL may switch a prepared statement to a generic plan after
 * five executions.
 */
async function planOf(ask: () => Promise<unknown[]>, rows: number): Promise<Plan | undefined> {
  const plans = await planned.explainAll(async () => {
    for (let i = 0; i < 8; i += 1) expect(await ask()).toHaveLength(rows);
  });
  expect(plans).toHaveLength(8);
  for (const { text } of plans) expect(text).not.toContain('Seq Scan');
  return plans.at(-1);
}

const PAGE = 51;
/** Returns the maximum number of blocks: each row on the page needs four index look-ups for the people named beside it. */
const mostBlocks = (rows: number) => rows * 4 * 4;
const DEEP = { createdAt: new Date('2026-01-01T00:06:00.000Z'), id: 'ffffffff-ffff-7fff-bfff-ffffffffffff' };

test("keys that a user made for others are found through their creator, without a scan of everybody's keys", async () => {
  const query = { userId: managerId, now: NOW, from: null, limit: PAGE };
  const plan = await planOf(() => listActiveKeysMadeForOthers(planned.db, ours.scope, query), 20);
  expect(plan?.text).toContain('api_keys_creator_idx');
  expect(plan?.blocks).toBeLessThan(mostBlocks(20));
});

test.each([null, { ...DEEP, side: 'after' as const }, { ...DEEP, side: 'before' as const }])(
  'a list page for the creator of nearly every key costs no more than its rows: %j',
  async (from) => {
    const query = { userId: ours.userId, now: NOW, from, limit: PAGE };
    const plan = await planOf(() => listActiveKeysMadeForOthers(planned.db, ours.scope, query), PAGE);
    expect(plan?.text).toContain('api_keys_creator_idx');
    // 2,000 keys share each time of creation, and their ids decide the order.
    expect(plan?.blocks).toBeLessThan(mostBlocks(PAGE) + 2 * USERS);
  },
);

test.each([
  { isActive: true, count: 11, index: 'api_keys_live_name_key' },
  { isActive: false, count: 0, index: 'api_keys_organization_id_user_id_created_at_idx' },
])("a user's keys are found through the user: %j", async ({ isActive, count, index }) => {
  const query = { userId: managerId, isActive, now: NOW, from: null, limit: PAGE };
  const plan = await planOf(() => listKeysOf(planned.db, ours.scope, query), count);
  expect(plan?.text).toContain(index);
  expect(plan?.blocks).toBeLessThan(mostBlocks(11));
});

test('the rotations of a key are found through indexes in both directions', async () => {
  const { rows } = await database.db.pool.query<{ id: string }>(
    'select id from api_keys where organization_id = $1 and user_id = $2 limit 1',
    [ours.scope.organizationId, managerId],
  );
  const key = { userId: managerId, id: rows[0]?.id ?? '', now: NOW };
  const plan = await planOf(async () => [...(await listKeyRotations(planned.db, ours.scope, key)).keys], 1);
  expect(plan?.text).toContain('api_keys_organization_id_successor_id_idx');
  expect(plan?.blocks).toBeLessThan(60);
});

test('each list page of a user with 20,000 ended keys costs no more than its rows', async () => {
  const { rows } = await database.db.pool.query<{ id: string }>(
    'select id from users where organization_id = $1 and id <> all($2) limit 1',
    [ours.scope.organizationId, [ours.userId, managerId]],
  );
  const userId = rows[0]?.id ?? '';
  await writeRows(
    database.db,
    `insert into api_keys (organization_id, id, user_id, name, name_key, key_hash, key_prefix, permissions, created_at, revoked_at)
     select $1, gen_random_uuid(), $2, gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), sha256(gen_random_uuid()::text::bytea), 'charter_live_0000', '{}',
            timestamptz '2025-01-01' + i * interval '1 minute', now() from generate_series(1, 20000) i`,
    [ours.scope.organizationId, userId],
  );
  await database.db.pool.query('vacuum analyze api_keys');
  const middle = { createdAt: new Date('2025-01-07T00:00:00.000Z'), id: DEEP.id };
  for (const from of [null, { ...middle, side: 'after' as const }, { ...middle, side: 'before' as const }]) {
    const query = { userId, isActive: false, now: NOW, from, limit: PAGE };
    const plan = await planOf(() => listKeysOf(planned.db, ours.scope, query), PAGE);
    expect(plan?.blocks).toBeLessThan(mostBlocks(PAGE));
  }
});

test('the key look-up uses one plan for any number of keys', async () => {
  // The bug: each look-up of one key was planned anew, which took ten times as long as the look-up.
  const { rows } = await database.db.pool.query<{ hash: string }>(
    `select encode(key_hash, 'hex') as hash from api_keys limit 3`,
  );
  const hashes = rows.map(({ hash }) => hash);
  await using db = connectTo(database.url, 1);
  // PostgreSQL plans a prepared statement five times before it may choose a generic plan.
  for (let i = 0; i < 12; i += 1) expect((await listKeysByHash(db, hashes.slice(i % 3))).size).toBe(3 - (i % 3));
  const plans = await db.pool.query('select custom_plans::int, generic_plans::int from pg_prepared_statements');
  expect(plans.rows).toEqual([{ custom_plans: 5, generic_plans: 7 }]);
});

test('the requests with a key, and the latest ones of the organization, are found without reading those of all keys', async () => {
  const { rows } = await database.db.pool.query<{ id: string }>(
    'select key_id as id from key_requests where organization_id = $1 limit 1',
    [ours.scope.organizationId],
  );
  const all = { keyIds: null, statuses: [100, 599], operation: null, from: null, to: null, requestId: null } as const;
  const list = (filters: Parameters<typeof listKeyRequests>[2]['filters']) =>
    listKeyRequests(planned.db, ours.scope, { filters, from: null, limit: PAGE });
  const ofKey = await planOf(() => list({ ...all, keyIds: rows.map(({ id }) => id) }), 3);
  expect(ofKey?.blocks).toBeLessThan(60);
  expect((await planOf(() => list(all), PAGE))?.blocks).toBeLessThan(mostBlocks(PAGE));
});
