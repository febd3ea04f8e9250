import { hashKey } from '../../../src/domain/keys/api-key.ts';
import type { Role } from '../../../src/domain/people/role.ts';
import { issueKey, type KeyRequest } from '../../../src/service/keys/issue-key.ts';
import { revokeKeyById } from '../../../src/service/operator/keys.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { listKeysByHash } from '../../../src/store/unscoped/keys.ts';
import { outcomeOf, times } from '../../support/data/actors.ts';
import { createKeyRow, createTenant, type Tenant, useSharedDatabase } from '../../support/postgres/store.ts';

const database = await useSharedDatabase();

function issue({ scope, userId }: Tenant, change: Partial<KeyRequest> = {}) {
  return issueKey(
    database.db,
    { kind: 'operator', scope },
    {
      userId,
      name: 'Test',
      permissions: ['parent_programs:read'],
      lifeDays: 30,
      environment: 'live',
      ...change,
    },
  );
}

function standing({ scope, userId }: Tenant) {
  return database.db.prisma.apiKey.count({
    where: { organizationId: scope.organizationId, userId, revokedAt: null },
  });
}

test('an issued key is found by its hash with the requested properties, and the key itself is not stored', async () => {
  const tenant = await createTenant(database.db);
  const permissions = ['parent_programs:read', 'parent_programs:read'] as const;
  const { key, ...issued } = orThrow(await issue(tenant, { permissions }));
  expect(issued).toMatchObject({ name: 'Test', permissions: ['parent_programs:read'] });
  const hash = hashKey(key);
  expect((await listKeysByHash(database.db, [hash])).get(hash)).toMatchObject({
    id: issued.id,
    expiresAt: issued.expiresAt,
    permissions: ['parent_programs:read'],
    organizationId: tenant.scope.organizationId,
  });
  const rows = await database.db.pool.query('select to_jsonb(k)::text as text from api_keys k');
  expect(JSON.stringify(rows.rows)).not.toContain(key.slice(-40));
});

// The attack: a viewer asks for a key with write permission, to use it after a change of role.
test.each<[Role, string]>([
  ['viewer', 'invalid: permissions must not hold parent_programs:write: a viewer does not have this permission.'],
  ['member', 'done'],
  ['manager', 'done'],
  ['administrator', 'done'],
])('a key that writes, for a %s: %s', async (role, outcome) => {
  const tenant = await createTenant(database.db, role);
  const permissions = ['parent_programs:read', 'parent_programs:write'] as const;
  expect(await outcomeOf(issue(tenant, { permissions }))).toBe(outcome);
  expect(await standing(tenant)).toBe(outcome === 'done' ? 1 : 0);
});

// The attack: two keys that look the same in the list, so that the wrong one is revoked.
test('a name that looks like another key’s name is taken, in any letter case', async () => {
  const tenant = await createTenant(database.db);
  await createKeyRow(database.db, tenant, { name: 'Café  sync' });
  for (const name of [
    'Café sync',
    'Cafe\u0301\u00a0sync',
    ' Ca\u200bfé sync',
    'café sync',
    'CA\u200bFÉ sync',
    'Ｃａｆé sync',
  ])
    expect(await outcomeOf(issue(tenant, { name }))).toMatch(/^name-taken: .* has a key named ".*" already/);
  expect(await standing(tenant)).toBe(1);
});

test('expired keys do not count towards the limit of ten, but keep their names', async () => {
  const tenant = await createTenant(database.db);
  const expiresAt = new Date(Date.now() - 1);
  await times(12, (i) => createKeyRow(database.db, tenant, { name: `Expired ${i}`, expiresAt }));
  await times(9, (i) => createKeyRow(database.db, tenant, { name: `Active ${i}` }));
  expect(await outcomeOf(issue(tenant, { name: 'Expired 1' }))).toMatch(/^name-taken: .* has a key named "Expired 1"/);
  expect(await outcomeOf(issue(tenant, { name: 'Tenth' }))).toBe('done');
  expect(await outcomeOf(issue(tenant, { name: 'Eleventh' }))).toMatch(/^conflict: .* has 10 active keys/);
});

test('revoking a key frees its name and its place among the ten', async () => {
  const tenant = await createTenant(database.db);
  const [{ id } = { id: '' }] = await times(10, (i) => createKeyRow(database.db, tenant, { name: `Key ${i}` }));
  await revokeKeyById(database.db, id);
  expect(await outcomeOf(issue(tenant, { name: 'Key 0' }))).toBe('done');
});

test('keys of other users do not count, not even with the same name', async () => {
  const [ours, theirs] = [await createTenant(database.db), await createTenant(database.db)];
  await times(10, (i) => createKeyRow(database.db, theirs, { name: `Key ${i}` }));
  expect(await outcomeOf(issue(ours, { name: 'Key 0' }))).toBe('done');
});

test.each<[string, Partial<KeyRequest>]>([
  ['name', { name: ' ' }],
  ['name', { name: 'x'.repeat(101) }],
  ['permissions', { permissions: [] }],
])('%s: %j is refused, and the refusal names the field', async (field, change) => {
  const tenant = await createTenant(database.db);
  expect(await issue(tenant, change)).toMatchObject({ kind: 'invalid', fields: { [field]: expect.any(Array) } });
});
