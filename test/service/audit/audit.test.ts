import { recordAudit } from '../../../src/store/audit/audit.ts';
import { createPeople, giveKey, listAuditEventsOf } from '../../support/data/actors.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const database = await useSharedDatabase();

// The attack: a header that is too long, or contains NUL or a key, so that recording the event fails or stores the key.
test('request details are shortened and cleaned, and the action succeeds', async () => {
  const { db } = database;
  const people = await createPeople(db);
  const { key } = await giveKey(db, people.member);
  const userAgent = `a\0b ${key} ${key.slice(0, 30)} ${'🦊'.repeat(400)}\ud83d`;
  await recordAudit(db.prisma, people.scope, {
    action: 'key.renamed',
    actorUserId: null,
    detail: { to: key },
    auditSource: { ip: '9'.repeat(100), userAgent, requestId: 'x'.repeat(500) },
  });
  const [, event] = await listAuditEventsOf(database.db, people);
  expect(event).toMatchObject({ ip: '9'.repeat(45), requestId: 'x'.repeat(64), detail: { to: 'charter_live_…' } });
  expect(event?.userAgent.startsWith('ab charter_live_… charter_live_… 🦊')).toBe(true);
  expect(JSON.stringify(event)).not.toContain(key.slice(17, 25));
});

test('an event cannot be changed or deleted', async () => {
  const { db } = database;
  const people = await createPeople(db);
  await giveKey(db, people.member);
  const where = { organizationId: people.scope.organizationId };
  await expect(db.prisma.auditEvent.updateMany({ where, data: { action: 'x' } })).rejects.toThrow('append-only');
  await expect(db.prisma.auditEvent.deleteMany({ where })).rejects.toThrow('append-only');
  expect(await listAuditEventsOf(database.db, people)).toHaveLength(1);
});

test.each(['charter_live_Ab3d', 'charter_test_europe1_Ab3d'])(
  'the prefix %s of a key is stored as it is',
  async (prefix) => {
    const { db } = database;
    const people = await createPeople(db);
    await recordAudit(db.prisma, people.scope, {
      action: 'key.created',
      actorUserId: null,
      detail: { prefix },
      auditSource: null,
    });
    expect(await listAuditEventsOf(db, people)).toMatchObject([{ detail: { prefix } }]);
  },
);
