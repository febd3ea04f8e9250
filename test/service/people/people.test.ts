import type { Actor } from '../../../src/domain/audit/actor.ts';
import type { Role } from '../../../src/domain/people/role.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { changeRole, deactivateUser, reactivateUser } from '../../../src/service/people/change-user.ts';
import { inviteUser } from '../../../src/service/people/invitations.ts';
import { createAccount, givePasskey, linkDirectly } from '../../support/data/accounts.ts';
import { changeRoleInTheTable, codeOf, giveKey, NOBODY, outcomeOf, times } from '../../support/data/actors.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const { db } = await useSharedDatabase();

const ROLES = ['administrator', 'manager', 'member', 'viewer'] as const;
type Staff = Record<Role | 'other', Actor>;

async function staff(): Promise<Staff> {
  const administrator = await createAccount(db, { role: 'administrator' });
  const { scope } = administrator;
  return {
    administrator,
    other: await createAccount(db, { role: 'administrator', scope }),
    manager: await createAccount(db, { role: 'manager', scope }),
    member: await createAccount(db, { role: 'member', scope }),
    viewer: await createAccount(db, { role: 'viewer', scope }),
  };
}

const row = ({ userId }: { userId: string }) => db.prisma.user.findFirstOrThrow({ where: { id: userId } });
const invite = (by: Actor, role: string, email = `${crypto.randomUUID()}@example.test`) =>
  inviteUser(db, by, { email, name: 'Mei Tanaka', role });
const actsOn = async ({ userId }: Actor) =>
  db.prisma.auditEvent.findMany({ where: { targetUserId: userId }, orderBy: { id: 'asc' } });

test('a manager can invite and promote up to member, and members and viewers cannot manage anybody', async () => {
  // The attack: changing the form’s role field to "administrator".
  const { administrator, manager, member, viewer } = await staff();
  const allowed = { administrator: ROLES, manager: ['member', 'viewer'], member: [], viewer: [] };
  for (const actor of [administrator, manager, member, viewer]) {
    for (const role of ROLES) {
      const expected = allowed[actor.role].some((each) => each === role) ? 'done' : 'forbidden';
      expect([actor.role, role, await codeOf(invite(actor, role))]).toEqual([actor.role, role, expected]);
      await changeRoleInTheTable(db, viewer, 'viewer');
      if (actor !== viewer) expect(await codeOf(changeRole(db, actor, { userId: viewer.userId, role }))).toBe(expected);
    }
  }
  expect(await codeOf(invite(administrator, 'owner'))).toBe('invalid');
});

test('only an administrator can change managers and administrators, and nobody can promote themselves', async () => {
  // The attack: a manager demotes the administrator who is about to demote the manager.
  const { administrator, manager, member } = await staff();
  const colleague = await createAccount(db, { role: 'manager', scope: manager.scope });
  for (const actor of [manager, member]) {
    for (const { userId } of [administrator, colleague, actor]) {
      for (const role of ROLES) expect(await codeOf(changeRole(db, actor, { userId, role }))).toBe('forbidden');
      expect(await codeOf(deactivateUser(db, actor, { userId }))).toBe('forbidden');
      expect(await codeOf(reactivateUser(db, actor, { userId }))).toBe('forbidden');
    }
  }
});

test('the current role decides, not the one in the session', async () => {
  // The attack: sending a form that was opened before its sender was demoted or deactivated.
  const { administrator, other, viewer } = await staff();
  orThrow(await changeRole(db, administrator, { userId: other.userId, role: 'viewer' }));
  expect(await codeOf(invite(other, 'viewer'))).toBe('forbidden');
  expect(await codeOf(changeRole(db, other, { userId: other.userId, role: 'administrator' }))).toBe('forbidden');
  orThrow(await deactivateUser(db, administrator, { userId: other.userId }));
  expect(await outcomeOf(deactivateUser(db, other, { userId: viewer.userId }))).toContain(
    'Your account was deactivated',
  );
});

test('the last administrator who can sign in cannot be demoted or deactivated', async () => {
  const { administrator, other, manager } = await staff();
  orThrow(await deactivateUser(db, administrator, { userId: other.userId }));
  const self = { userId: administrator.userId };
  const words = `conflict: ${administrator.email} is the last administrator who can sign in. Make somebody else an administrator first.`;
  expect(await outcomeOf(changeRole(db, administrator, { ...self, role: 'manager' }))).toBe(words);
  expect(await outcomeOf(deactivateUser(db, administrator, self))).toBe(words);
  // A person who was invited and has never signed in does not count as an administrator.
  const invited = orThrow(await invite(administrator, 'administrator')).link;
  expect(await outcomeOf(deactivateUser(db, administrator, self))).toBe(words);
  expect(await codeOf(deactivateUser(db, administrator, { userId: invited.userId }))).toBe('done');
  orThrow(await changeRole(db, administrator, { userId: manager.userId, role: 'administrator' }));
  expect(await codeOf(changeRole(db, administrator, { ...self, role: 'viewer' }))).toBe('done');
});

const takePassword = ({ userId }: Actor) =>
  db.prisma.user.updateMany({ where: { id: userId }, data: { passwordHash: null } });

test.each([
  ['single sign-on', (actor: Actor) => linkDirectly(db, actor)],
  ['a passkey', (actor: Actor) => givePasskey(db, actor)],
])('an administrator who signs in by %s alone counts as one', async (_, give) => {
  const { administrator, other } = await staff();
  await takePassword(other);
  const self = { userId: other.userId };
  expect(await codeOf(deactivateUser(db, other, { userId: administrator.userId }))).toBe('conflict');
  await give(other);
  orThrow(await deactivateUser(db, other, { userId: administrator.userId }));
  // A person who was only invited cannot replace the administrator.
  orThrow(await invite(other, 'administrator'));
  for (const act of [changeRole(db, other, { ...self, role: 'member' }), deactivateUser(db, other, self)])
    expect(await outcomeOf(act)).toContain('is the last administrator who can sign in');
});

test('when two administrators demote or deactivate each other concurrently, one remains', async () => {
  // The race: two administrators each see two administrators, and remove each other.
  for (let round = 0; round < 6; round += 1) {
    const { administrator: a, other: b } = await staff();
    const [left, right] = [{ userId: b.userId }, { userId: a.userId }];
    const both =
      round % 2 === 0
        ? [changeRole(db, a, { ...left, role: 'viewer' }), changeRole(db, b, { ...right, role: 'viewer' })]
        : [deactivateUser(db, a, left), deactivateUser(db, b, right)];
    expect((await Promise.all(both.map(codeOf))).toSorted()).toEqual(['done', 'forbidden']);
    const selves = await times(2, async (i) => [a, b][i] ?? a);
    const active = await Promise.all(selves.map(row));
    expect(active.filter(({ role, deactivatedAt }) => role === 'administrator' && deactivatedAt === null)).toHaveLength(
      1,
    );
  }
});

test('when two administrators leave concurrently, one has to stay', async () => {
  // The race: two administrators each change only their own row, so that neither waits for the other.
  for (let round = 0; round < 6; round += 1) {
    const { administrator: a, other: b } = await staff();
    const outcomes = await Promise.all([a, b].map((each) => codeOf(deactivateUser(db, each, { userId: each.userId }))));
    expect(outcomes.toSorted()).toEqual(['conflict', 'done']);
  }
});

test('deactivation revokes the keys and audits each, and reactivation restores none', async () => {
  const { administrator, member } = await staff();
  await giveKey(db, member);
  await giveKey(db, member);
  orThrow(await deactivateUser(db, administrator, { userId: member.userId }));
  expect((await actsOn(member)).map(({ action }) => action)).toEqual([
    ...['key.created', 'key.created', 'user.deactivated', 'key.revoked', 'key.revoked'],
  ]);
  expect(await codeOf(deactivateUser(db, administrator, { userId: member.userId }))).toBe('conflict');
  orThrow(await reactivateUser(db, administrator, { userId: member.userId }));
  expect(await codeOf(reactivateUser(db, administrator, { userId: member.userId }))).toBe('conflict');
  const keys = await db.prisma.apiKey.findMany({ where: { userId: member.userId } });
  expect(keys.map(({ revokedAt, revokedByUserId }) => [revokedAt !== null, revokedByUserId])).toEqual([
    [true, administrator.userId],
    [true, administrator.userId],
  ]);
});

test('fields that the form does not have are ignored', async () => {
  // The attack: sending a field "organizationId", "passwordHash" or "role" in addition to those of the form.
  const { administrator, viewer } = await staff();
  const foreign = await createAccount(db);
  const more = { organizationId: foreign.scope.organizationId, passwordHash: 'x', deactivatedAt: null, id: NOBODY };
  const given = { ...more, email: `${crypto.randomUUID()}@example.test`, name: 'Mei', role: 'viewer' };
  const { userId } = orThrow(await inviteUser(db, administrator, given)).link;
  expect(userId).not.toBe(NOBODY);
  expect(await row({ userId })).toMatchObject({
    organizationId: administrator.scope.organizationId,
    passwordHash: null,
  });
  const change = { ...more, email: 'x@example.test', userId: viewer.userId, role: 'member' };
  orThrow(await changeRole(db, administrator, change));
  expect(await row(viewer)).toMatchObject({
    role: 'member',
    email: viewer.email,
    organizationId: viewer.scope.organizationId,
  });
});

test('a role change is audited with the old and new role, and an unchanged role is not audited', async () => {
  const { administrator, member } = await staff();
  orThrow(await changeRole(db, administrator, { userId: member.userId, role: 'member' }));
  orThrow(await changeRole(db, administrator, { userId: member.userId, role: 'viewer' }));
  expect(await actsOn(member)).toMatchObject([
    {
      action: 'user.role_changed',
      actorUserId: administrator.userId,
      ip: administrator.auditSource.ip,
      detail: { before: 'member', after: 'viewer' },
    },
  ]);
});

test.each([
  '',
  'mei',
  'mei@',
  'a@b@c.org',
  'Mei <mei@example.org>',
  'mei@example.org\r\nBcc: all@example.org',
  'a\0@b.org',
])('%j is refused as an e-mail', async (email) => {
  const { administrator } = await staff();
  expect(await outcomeOf(invite(administrator, 'viewer', email))).toMatch(/^invalid: email must be/);
});

test.each([
  '',
  '\u200b\u2060',
  'Mei\u202e',
  'Mei\u2066',
  'Mei\nTanaka',
  'x'.repeat(201),
  `charter_live_${'x'.repeat(46)}`,
])('%j is refused as the name of a person', async (name) => {
  // The attack: an empty name, or a name that changes the text beside it in lists, mails and the audit log.
  const { administrator } = await staff();
  const email = `${crypto.randomUUID()}@example.test`;
  const refused = inviteUser(db, administrator, { email, name, role: 'viewer' });
  expect(await refused).toMatchObject({ kind: 'invalid', fields: { name: [expect.any(String)] } });
  expect(await db.prisma.user.count({ where: { email } })).toBe(0);
});
