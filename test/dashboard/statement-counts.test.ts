import { browserOf, fill, useDashboard } from '../support/dashboard/dashboard-server.ts';
import { createPeople, giveKey, type People } from '../support/data/actors.ts';
import { giveIntegration } from '../support/data/integrations.ts';
import { addEndpoint, writeEvent } from '../support/data/webhooks.ts';
import { countStatements } from '../support/postgres/statements.ts';

const dashboard = await useDashboard();
const [few, many] = [
  await createOrganizationOfSize({ users: 10, keys: 1, events: 10, sessions: 1, endpoints: 1, integrations: 1 }),
  await createOrganizationOfSize({
    users: 1000,
    keys: 120,
    events: 3000,
    sessions: 20,
    endpoints: 10,
    integrations: 20,
  }),
];

type Size = Readonly<Record<'users' | 'keys' | 'events' | 'sessions' | 'endpoints' | 'integrations', number>>;

async function createOrganizationOfSize({ users, keys, events, sessions, endpoints, integrations }: Size) {
  const { db } = dashboard;
  const people: People = await createPeople(db);
  const { administrator, member, scope } = people;
  const values = [scope.organizationId];
  await db.pool.query(
    `insert into users (organization_id, id, email, name, role)
     select $1::uuid, gen_random_uuid(), i || '@' || $1::uuid::text || '.example', 'Person ' || i, 'administrator' from generate_series(1, ${users}) i`,
    values,
  );
  const { id: keyId } = await giveKey(db, member);
  for (const { userId } of [administrator, member]) {
    await db.pool.query(
      `insert into api_keys (organization_id, id, user_id, created_by_user_id, name, name_key, key_hash, key_prefix, permissions, revoked_at, revoked_by_user_id)
       select $1::uuid, gen_random_uuid(), $2::uuid, $3::uuid, 'Key ' || i, sha256(('Key ' || i)::bytea), sha256(($2::uuid::text || i)::bytea), 'charter_live_Abcd',
              '{parent_programs:read}', now(), $3::uuid from generate_series(1, ${keys}) i`,
      [scope.organizationId, userId, administrator.userId],
    );
  }
  await db.pool.query(
    `insert into audit_events (organization_id, id, act, actor_user_id, target_user_id, key_id)
     select $1::uuid, gen_random_uuid(), 'key.renamed', $2::uuid, $3::uuid, $4::uuid from generate_series(1, ${events}) i`,
    [scope.organizationId, administrator.userId, member.userId, keyId],
  );
  await db.pool.query(
    `insert into sessions (organization_id, token_hash, user_id, is_complete)
     select $1::uuid, sha256(($2::uuid::text || i)::bytea), $2::uuid, true from generate_series(1, ${sessions}) i`,
    [scope.organizationId, administrator.userId],
  );
  const { id: integrationId } = await giveIntegration(db, member);
  await db.pool.query(
    `insert into users (organization_id, id, kind, name, role, owner_user_id)
     select $1::uuid, gen_random_uuid(), 'integration', 'Integration ' || i, 'viewer', $2::uuid from generate_series(1, ${integrations}) i`,
    [scope.organizationId, member.userId],
  );
  const { id: endpointId } = await addEndpoint(db, administrator);
  const messageId = await writeEvent(db, scope);
  for (let i = 1; i < endpoints; i += 1) await addEndpoint(db, administrator);
  await db.pool.query(
    `insert into webhook_deliveries (organization_id, endpoint_id, message_id, attempts)
     select $1::uuid, $2::uuid, gen_random_uuid(), 1 from generate_series(1, ${events}) i`,
    [scope.organizationId, endpointId],
  );
  await db.pool.query(
    `insert into webhook_attempts (organization_id, endpoint_id, message_id, number, at, duration_ms, status)
     select organization_id, endpoint_id, message_id, 1, now(), 1, 500 from webhook_deliveries where organization_id = $1`,
    values,
  );
  const ids = { userId: member.userId, keyId, endpointId, messageId, integrationId };
  return { browser: await browserOf(dashboard, administrator), ids };
}

test('the number of statements per page does not grow with the number of rows', async () => {
  // The attack: an organization creates so many keys that one page of a list occupies the database.
  const counted: Record<string, number> = {};
  for (const pattern of dashboard.paths.filter((path) => !/^\/(assets|welcome)|\.csv$/.test(path))) {
    const numbers = [];
    for (const { browser, ids } of [few, many]) {
      const path = fill(pattern, ids);
      numbers.push(await countStatements(dashboard.db, () => browser.get(path)));
    }
    expect([pattern, numbers[1]]).toEqual([pattern, numbers[0]]);
    counted[pattern] = numbers[0] ?? 0;
  }
  // One statement is for the session, and the other statements are for what the page shows. A Prisma transaction counts as
  // several statements.
  for (const [path, count] of Object.entries(counted)) expect([path, count <= 5]).toEqual([path, true]);
});

test('the filters of the audit log take one statement each, however many people and keys they match', async () => {
  // The attack: filtering by a part of a name that matches many people and keys, so that each match causes a query.
  const counted = (query: string) =>
    countStatements(dashboard.db, () => many.browser.get(`/organization/audit-log?${query}`));
  // The three SQL queries are for the session, the events and the number of events.
  expect(await counted('')).toBe(3);
  expect(await counted('person=Person%2099&key=Key%2012')).toBe(3 + 2);
});

test('the export runs one statement for each thousand rows', async () => {
  // The attack: a download that causes one query for each row of the log.
  const count = await countStatements(dashboard.db, () => many.browser.get('/organization/audit-log.csv'));
  expect(count).toBeLessThanOrEqual(8);
});

test('HEAD of the export reads no row of the log', async () => {
  // The attack: a request without a response body that nevertheless reads the whole log.
  const count = await countStatements(dashboard.db, () => many.browser.send('HEAD', '/organization/audit-log.csv'));
  expect(count).toBe(1);
});
