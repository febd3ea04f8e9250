import { hashKey } from '../../../src/domain/keys/api-key.ts';
import { issueKey } from '../../../src/service/keys/issue-key.ts';
import { renameKey } from '../../../src/service/keys/rename-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { issueKeyByEmail, revokeKeyById } from '../../../src/service/operator/keys.ts';
import { changeLimits, resumeOrganization, suspendOrganization } from '../../../src/service/operator/organizations.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { codeOf, createPeople, giveKey, listAuditEventsOf, READ } from '../../support/data/actors.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const database = await useSharedDatabase();

async function wholeDatabase(): Promise<string> {
  const { pool } = database.db;
  const tables = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  const texts = tables.rows.map(async ({ name }) =>
    JSON.stringify((await pool.query(`select to_jsonb(t)::text as row from "${name}" t`)).rows),
  );
  return (await Promise.all(texts)).join('\n');
}

test('each action leaves one event with actor, owner, key and address, and no row anywhere contains a key', async () => {
  const { db } = database;
  const people = await createPeople(db);
  const { manager, member } = people;
  const { userId } = member;
  const request = { userId, name: 'Sync', permissions: READ, lifeDays: 30, environment: 'live' } as const;
  const created = orThrow(await issueKey(db, manager, request));
  const rotated = orThrow(await rotateKey(db, member, { keyId: created.id, userId, environment: 'live' }));
  orThrow(await renameKey(db, manager, { keyId: rotated.id, userId, name: 'Nightly' }));
  orThrow(await revokeKey(db, manager, { keyId: rotated.id, userId }));
  const byManager = { actorUserId: manager.userId, targetUserId: userId, ...manager.auditSource };
  const expires = created.expiresAt?.toISOString();
  const [createdPrefix, rotatedPrefix] = [created.key.slice(0, 17), rotated.key.slice(0, 17)];
  expect(await listAuditEventsOf(database.db, people)).toMatchObject([
    {
      ...byManager,
      action: 'key.created',
      keyId: created.id,
      detail: { name: 'Sync', prefix: createdPrefix, permissions: READ.join(', '), expires },
    },
    {
      actorUserId: userId,
      targetUserId: userId,
      ...member.auditSource,
      action: 'key.rotated',
      keyId: created.id,
      detail: { name: 'Sync', successor: rotated.id, prefix: rotatedPrefix },
    },
    { ...byManager, action: 'key.renamed', keyId: rotated.id, detail: { from: 'Sync', to: 'Nightly' } },
    { ...byManager, action: 'key.revoked', keyId: rotated.id, detail: { name: 'Nightly', prefix: rotatedPrefix } },
  ]);
  const everything = await wholeDatabase();
  expect(everything).toContain(createdPrefix);
  const events = JSON.stringify(await listAuditEventsOf(database.db, people));
  for (const { key } of [created, rotated]) {
    // The random part of the key must not occur without its prefix, either.
    expect(everything).not.toContain(key.slice('charter_live_'.length + 4));
    expect(events).not.toContain(hashKey(key));
    expect(events).not.toContain(Buffer.from(hashKey(key), 'hex').toString('base64'));
  }
});

// The attack: making actions go unrecorded by filling the disk or dropping the table.
test.each(['key.created', 'key.rotated', 'key.revoked', 'key.renamed', 'organization.suspended'])(
  '%s fails when its event cannot be written',
  async (action) => {
    const { db } = database;
    const people = await createPeople(db);
    const { administrator, member } = people;
    const { userId } = member;
    const { organizationId } = people.scope;
    const { id: keyId } = await giveKey(db, member);
    const actions: Record<string, () => Promise<unknown>> = {
      'key.created': () =>
        issueKey(db, member, { userId, name: 'x', permissions: READ, lifeDays: 30, environment: 'live' }),
      'key.rotated': () => rotateKey(db, member, { keyId, userId, environment: 'live' }),
      'key.revoked': () => revokeKey(db, administrator, { keyId, userId }),
      'key.renamed': () => renameKey(db, member, { keyId, userId, name: 'x' }),
      'organization.suspended': () => suspendOrganization(db, organizationId),
    };
    const rows = () =>
      Promise.all([
        db.prisma.apiKey.findMany({ where: { userId } }),
        db.prisma.organization.findUnique({ where: { id: organizationId } }),
      ]);
    const before = await rows();
    const events = (await listAuditEventsOf(database.db, people)).length;
    await db.pool.query(
      `alter table audit_events add constraint no_space check (organization_id <> '${organizationId}') not valid`,
    );
    try {
      await expect(actions[action]?.()).rejects.toThrow();
    } finally {
      await db.pool.query('alter table audit_events drop constraint no_space');
    }
    expect(await rows()).toEqual(before);
    expect(await listAuditEventsOf(database.db, people)).toHaveLength(events);
    expect(await codeOf(actions[action]?.() ?? Promise.resolve())).toBe('done');
    expect(await listAuditEventsOf(database.db, people)).toHaveLength(events + 1);
  },
);

test('an operator’s actions are audited without an actor, and actions that change nothing are not audited', async () => {
  const { db } = database;
  const people = await createPeople(db);
  const { organizationId } = people.scope;
  const { email, userId } = people.member;
  await suspendOrganization(db, organizationId);
  await suspendOrganization(db, organizationId);
  await resumeOrganization(db, organizationId);
  await resumeOrganization(db, organizationId);
  await changeLimits(db, organizationId, { perKey: 30, perOrganization: undefined });
  await changeLimits(db, organizationId, { perKey: 30, perOrganization: null });
  const request = { email, name: 'x', permissions: READ, lifeDays: null, environment: 'live' } as const;
  const { id } = await issueKeyByEmail(db, request);
  await revokeKeyById(db, id);
  const nobody = { actorUserId: null, ip: '', userAgent: '', requestId: '' };
  expect(await listAuditEventsOf(database.db, people)).toMatchObject([
    { ...nobody, action: 'organization.suspended', targetUserId: null, keyId: null },
    { ...nobody, action: 'organization.resumed' },
    {
      ...nobody,
      action: 'organization.limits_changed',
      detail: { 'requests per second and key': 'default -> 30' },
    },
    { ...nobody, action: 'key.created', targetUserId: userId, keyId: id, detail: { expires: 'never' } },
    { ...nobody, action: 'key.revoked', targetUserId: userId, keyId: id },
  ]);
});

test('a refused action leaves no event', async () => {
  const { db } = database;
  const people = await createPeople(db);
  const request = { userId: people.administrator.userId, name: 'x', permissions: READ } as const;
  expect(await codeOf(issueKey(db, people.manager, { ...request, lifeDays: 30, environment: 'live' }))).toBe('refused');
  expect(await listAuditEventsOf(database.db, people)).toEqual([]);
});
