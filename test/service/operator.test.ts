import { issueKeyByEmail, revokeKeyById } from '../../src/service/operator/keys.ts';
import {
  createOrganization,
  type NewOrganization,
  resumeOrganization,
  suspendOrganization,
} from '../../src/service/operator/organizations.ts';
import { findOrganization, listOrganizations, listUsersByEmail } from '../../src/store/unscoped/operator.ts';
import { NOBODY } from '../support/data/actors.ts';
import { createKeyRow, createTenant, useDatabase } from '../support/postgres/store.ts';

const database = await useDatabase();

function user(change: Partial<NewOrganization['users'][number]> = {}): NewOrganization['users'][number] {
  const email = `${crypto.randomUUID()}@example.test`;
  return { email, name: 'Ada', role: 'administrator', passwordHash: null, hasAccepted: true, ...change };
}

test('an organization is made with its users, and their e-mails are stored in lower case', async () => {
  const email = ` Ada-${crypto.randomUUID()}@Example.Test`;
  const { organizationId } = await createOrganization(database.db, { name: 'Acme', users: [user({ email })] });
  expect(await findOrganization(database.db, organizationId)).toMatchObject({ name: 'Acme', suspendedAt: null });
  const [found] = await listUsersByEmail(database.db, email.toUpperCase());
  expect(found).toMatchObject({ email: email.trim().toLowerCase(), organizationId, role: 'administrator' });
});

test('an e-mail that is taken in any letter case is a conflict, and the organization is not created', async () => {
  const taken = user();
  await createOrganization(database.db, { name: 'First', users: [taken] });
  const name = crypto.randomUUID();
  for (const email of [taken.email, taken.email.toUpperCase()]) {
    const users = [user(), user({ email })];
    await expect(createOrganization(database.db, { name, users })).rejects.toMatchObject({ code: 'conflict' });
    expect(await listUsersByEmail(database.db, users[0]?.email ?? '')).toEqual([]);
  }
  expect(await database.db.prisma.organization.count({ where: { name } })).toBe(0);
});

test('twenty concurrent creations with one e-mail make one organization', async () => {
  const name = crypto.randomUUID();
  const users = [user()];
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () => createOrganization(database.db, { name, users })),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'conflict' });
  }
  expect(await database.db.prisma.organization.count({ where: { name } })).toBe(1);
});

test.each<[string, Partial<NewOrganization>]>([
  ['name', { name: ' ' }],
  ['name', { name: 'x'.repeat(201) }],
  ['email', { users: [user({ email: 'ada' })] }],
  ['email', { users: [user({ email: `${'x'.repeat(250)}@example.test` })] }],
  ['user name', { users: [user({ name: '' })] }],
  // The attack: text that a mail header would treat as another header.
  ['name', { name: 'Acme\r\nBcc: x@example.test' }],
  ['user name', { users: [user({ name: 'Ada\nBcc: x@example.test' })] }],
  ['email', { users: [user({ email: 'ada@example.test,x@example.test' })] }],
  // The attack: an organization whose name is invisible, or reverses the text around it.
  ['name', { name: '\u3164' }],
  ['user name', { users: [user({ name: 'Ada\u202e' })] }],
])('an invalid %s is refused and named: %j', async (field, change) => {
  const refused = createOrganization(database.db, { name: 'Acme', users: [user()], ...change });
  await expect(refused).rejects.toMatchObject({ code: 'invalid', fields: { [field]: expect.any(Array) } });
});

test('suspending and resuming can be repeated, and the time of the first suspension stays', async () => {
  const { scope } = await createTenant(database.db);
  const suspendedAt = async () => (await findOrganization(database.db, scope.organizationId))?.suspendedAt;
  await suspendOrganization(database.db, scope.organizationId);
  const first = await suspendedAt();
  expect(first).toBeInstanceOf(Date);
  await suspendOrganization(database.db, scope.organizationId);
  expect(await suspendedAt()).toEqual(first);
  for (const _ of [1, 2]) {
    await resumeOrganization(database.db, scope.organizationId);
    expect(await suspendedAt()).toBeNull();
  }
});

test('a key is revoked once; revoking it again is a conflict and keeps the first time', async () => {
  const { id } = await createKeyRow(database.db, await createTenant(database.db));
  const revokedAt = async () => (await database.db.prisma.apiKey.findFirst({ where: { id } }))?.revokedAt;
  await revokeKeyById(database.db, id);
  const first = await revokedAt();
  await expect(revokeKeyById(database.db, id)).rejects.toMatchObject({ code: 'conflict' });
  expect(await revokedAt()).toEqual(first);
});

test('the refusal names what does not exist', async () => {
  const { db } = database;
  const request = { name: 'Test', permissions: [], lifeDays: null, environment: 'live' } as const;
  const attempts = await Promise.allSettled([
    suspendOrganization(db, NOBODY),
    resumeOrganization(db, NOBODY),
    revokeKeyById(db, NOBODY),
    issueKeyByEmail(db, { ...request, email: 'nobody@example.test' }),
  ]);
  for (const attempt of attempts) expect(attempt).toMatchObject({ reason: { code: 'not_found' } });
});

test('organizations are listed oldest first, without their cursor secrets', async () => {
  const made = [await createTenant(database.db), await createTenant(database.db)];
  const listed = await listOrganizations(database.db);
  const order = listed.map(({ id }) => id).filter((id) => made.some(({ scope }) => scope.organizationId === id));
  expect(order).toEqual(made.map(({ scope }) => scope.organizationId));
  expect(Object.keys(listed[0] ?? {}).sort()).toEqual(['createdAt', 'id', 'move', 'name', 'suspendedAt']);
});
