// If the links of a filtered list lost its filters, the second page would show rows that the first page left out.

import type { Page } from '../../support/dashboard/dashboard.ts';
import { browserOf, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';

const dashboard = await useDashboard();
const { pool, prisma } = dashboard.db;
const people = await createPeople(dashboard.db);
const { administrator, member } = people;
const { organizationId } = people.scope;
const browser = await browserOf(dashboard, administrator);

/** The number of rows of each list: more than two pages. */
const ROWS = 120;
const key = await giveKey(dashboard.db, member, { name: 'Nightly & import', lifeDays: 2 });
const ended = await giveKey(dashboard.db, member, { name: 'Nightly & ended' });
await prisma.apiKey.updateMany({ where: { id: ended.id }, data: { revokedAt: dashboard.now() } });
await prisma.apiKey.updateMany({
  where: { id: key.id },
  data: { createdAt: new Date(dashboard.now().getTime() - 100 * 86_400_000) },
});
for (const { id } of [key, ended])
  await pool.query(
    `insert into api_keys select (jsonb_populate_record(k, jsonb_build_object(
       'id', gen_random_uuid(),
       'key_hash', '\\x' || encode(sha256(gen_random_uuid()::text::bytea), 'hex'),
       'name_key', '\\x' || encode(sha256(gen_random_uuid()::text::bytea), 'hex')))).*
     from api_keys k, generate_series(1, $2::int) where k.id = $1`,
    [id, ROWS],
  );
await pool.query(
  `insert into users (organization_id, id, email, name, role)
   select $1, gen_random_uuid(), 'zoe-' || i || '@example.test', 'Zoë & ' || i, 'viewer' from generate_series(1, $2::int) i`,
  [organizationId, ROWS],
);
await pool.query(
  `insert into audit_events (organization_id, id, act, actor_user_id, key_id)
   select $1, uuidv7(), 'key.renamed', $2, $3 from generate_series(1, $4::int)`,
  [organizationId, member.userId, key.id, ROWS],
);
await pool.query(
  `insert into users (organization_id, id, name, role, kind, owner_user_id, deactivated_at)
   select $1, gen_random_uuid(), 'Suspended ' || i, 'viewer', 'integration', $2, now() from generate_series(1, $3::int) i`,
  [organizationId, administrator.userId, ROWS],
);

const day = dashboard.now().toISOString().slice(0, 10);
const keyFilters = { search: 'nightly &', holder: member.email, permission: 'parent_programs:read', use: 'never' };

/** Returns the query of the first link with this relation or this text, or `null` if there is no such link. */
function queryOf({ text }: Page, link: string): Record<string, string> | null {
  const [, href] = new RegExp(`<a [^>]*href="([^"]*)"[^>]*(?: rel="${link}"[^>]*>|>${link}<)`).exec(text) ?? [];
  return href === undefined
    ? null
    : Object.fromEntries(new URL(href.replaceAll('&amp;', '&'), 'http://x').searchParams);
}

test.each<[what: string, path: string, filters: Record<string, string>]>([
  ['people', '/people/users', { state: 'invited', search: 'ZOË &' }],
  [
    'active keys of the organization',
    '/organization/api-keys',
    { ...keyFilters, expiry: 'soon', addresses: 'none', order: 'oldest' },
  ],
  ['ended keys of the organization', '/organization/api-keys', { ...keyFilters, state: 'ended' }],
  [
    'audit events',
    '/organization/audit-log',
    { action: 'key.renamed', person: member.email, key: 'nightly & import', from: day, to: day },
  ],
  ['suspended integrations', '/organization/integrations', { state: 'suspended' }],
  ['ended keys of a user', `/people/users/${member.userId}/api-keys`, { state: 'ended' }],
])('the links between the pages of %s keep every filter', async (_, path, filters) => {
  const first = await browser.get(`${path}?${new URLSearchParams(filters)}`);
  expect(first.status).toBe(200);
  expect(queryOf(first, 'next')).toEqual({ ...filters, after: expect.any(String) });
  const second = await browser.get(`${path}?${new URLSearchParams(queryOf(first, 'next') ?? {})}`);
  expect(queryOf(second, 'next')).toEqual({ ...filters, after: expect.any(String) });
  expect(queryOf(second, 'prev')).toEqual({ ...filters, before: expect.any(String) });
  expect(queryOf(second, 'First page')).toEqual(filters);
});

test('the tabs of a filtered list keep its other filters', async () => {
  const users = await browser.get('/people/users?state=invited&search=zo%C3%AB');
  expect(queryOf(users, 'Users')).toEqual({ search: 'zoë' });
  expect(queryOf(users, 'Deactivated')).toEqual({ state: 'deactivated', search: 'zoë' });
  const keys = await browser.get(`/organization/api-keys?${new URLSearchParams({ ...keyFilters, order: 'oldest' })}`);
  expect(queryOf(keys, 'Ended \\([\\d,]+\\)')).toEqual({ ...keyFilters, order: 'oldest', state: 'ended' });
});
