import type { Actor } from '../../../src/domain/audit/actor.ts';
import { ROLES } from '../../../src/domain/people/role.ts';
import { resetSecondFactorOf } from '../../../src/service/operator/users.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { openLink, setPassword } from '../../../src/service/people/access-links.ts';
import { deactivateUser } from '../../../src/service/people/change-user.ts';
import { hashPassword } from '../../../src/service/sign-in/password.ts';
import { giveSecondFactor, signIn } from '../../../src/service/sign-in/sign-in.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  resetSecondFactor,
} from '../../../src/service/sign-in-settings/second-factor.ts';
import {
  addSecondFactor,
  codeAt,
  createAccount,
  isSignedIn,
  newAuditSource,
  openSession,
  PASSWORD,
} from '../../support/data/accounts.ts';
import { codeOf, outcomeOf } from '../../support/data/actors.ts';
import { encryptedSecret } from '../../support/postgres/postgres.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const { db } = await useSharedDatabase();
const administrator = await createAccount(db, { role: 'administrator' });

const NOW = new Date('2026-05-01T08:00:00.000Z');

const colleague = (role: Actor['role'] = 'member') => createAccount(db, { role, scope: administrator.scope });
const reset = (by: Actor, { userId }: Pick<Actor, 'userId'>) => resetSecondFactor(db, by, { userId });
/**
 * Writes to the table directly, because the service would require a password, and this file tests only who may remove a second
 * factor.
 */
const putSecondFactor = (actor: Actor) =>
  db.prisma.user.updateMany({
    where: { id: actor.userId },
    data: { totpSecret: encryptedSecret(actor), totpSince: NOW },
  });
const row = ({ userId }: Actor) => db.prisma.user.findFirstOrThrow({ where: { id: userId } });
const eventsOf = ({ userId }: Actor) =>
  db.prisma.auditEvent.findMany({
    where: { targetUserId: userId, action: 'user.second_factor_removed' },
    orderBy: { id: 'asc' },
  });
const enter = ({ email }: Actor, password = PASSWORD) =>
  signIn(db, { email, password, auditSource: newAuditSource(), now: NOW });

const NOTHING = { totpSecret: null, totpSince: null, totpLastStep: 0n, recoveryCodes: [] };
const WAYS: Record<string, (target: Actor) => Promise<unknown>> = {
  'an administrator': (target) => reset(administrator, target),
  'an operator': ({ email }) => resetSecondFactorOf(db, ` ${email.toUpperCase()}`),
};

test.each(Object.entries(WAYS))(
  'by %s: the password alone signs in, every session ends, and one event records actor and target',
  async (by, remove) => {
    // The attack: somebody with the password and a session waits for the removal, and then sets up their own second factor.
    const member = await colleague();
    const { uri, recoveryCodes, token } = await addSecondFactor(db, member, NOW);
    const half = await enter(member);
    const halfToken = half.kind === 'second-factor' ? half.token : '';
    await remove(member);
    expect(await row(member)).toMatchObject(NOTHING);
    expect(await isSignedIn(db, token, NOW)).toBe(false);
    for (const code of [codeAt(uri, NOW), recoveryCodes[0] ?? '']) {
      const given = await giveSecondFactor(db, { token: halfToken, code, auditSource: newAuditSource(), now: NOW });
      expect(given).toEqual({ kind: 'ended' });
    }
    expect(await db.prisma.session.count({ where: { userId: member.userId } })).toBe(0);
    expect(await enter(member)).toMatchObject({ kind: 'signed-in' });
    const isOperator = by === 'an operator';
    expect(await eventsOf(member)).toMatchObject([
      {
        actorUserId: isOperator ? null : administrator.userId,
        targetUserId: member.userId,
        detail: { before: 'on' },
        ip: isOperator ? '' : administrator.auditSource.ip,
      },
    ]);
  },
);

test.each(Object.entries(WAYS))('by %s: a pending set-up ends as well', async (_, remove) => {
  // The attack: an intruder’s pending secret is confirmed after the owner has the account back.
  const member = await colleague();
  const before = await openSession(db, member, NOW);
  const { uri } = orThrow(await beginSecondFactor(db, member, { token: before }));
  await remove(member);
  expect(await isSignedIn(db, before, NOW)).toBe(false);
  const token = await openSession(db, member, NOW);
  expect(await codeOf(confirmSecondFactor(db, member, { code: codeAt(uri, NOW), token, now: NOW }))).toBe('conflict');
  expect(await row(member)).toMatchObject(NOTHING);
  expect(await eventsOf(member)).toMatchObject([{ detail: { before: 'begun, not confirmed' } }]);
});

test('a manager can remove it only for members and viewers, and these for nobody', async () => {
  // The attack: a manager knows an administrator’s password and lacks only the code.
  for (const by of [await colleague('manager'), await colleague('member'), await colleague('viewer')]) {
    for (const role of ROLES) {
      const target = await colleague(role);
      await putSecondFactor(target);
      const isAllowed = by.role === 'manager' && (role === 'member' || role === 'viewer');
      expect([by.role, role, await codeOf(reset(by, target))]).toEqual([
        ...[by.role, role, isAllowed ? 'done' : 'forbidden'],
      ]);
      expect((await row(target)).totpSince === null).toBe(isAllowed);
      expect(await eventsOf(target)).toHaveLength(isAllowed ? 1 : 0);
    }
  }
});

test('nobody can remove their own this way, which would not keep the last way to sign in', async () => {
  // The attack: opening the administrator’s own user page at the administrator’s unlocked screen.
  const owner = await colleague('administrator');
  await addSecondFactor(db, owner, NOW);
  expect(await outcomeOf(reset(owner, owner))).toBe('conflict: Turn off your own second factor under My profile.');
  expect((await row(owner)).totpSince).not.toBeNull();
});

test('the current role decides', async () => {
  // The attack: using a confirmation page from before its reader was demoted or the user was promoted.
  const [manager, member] = [await colleague('manager'), await colleague('member')];
  await addSecondFactor(db, member, NOW);
  await db.prisma.user.updateMany({ where: { id: member.userId }, data: { role: 'manager' } });
  expect(await codeOf(reset(manager, member))).toBe('forbidden');
  await db.prisma.user.updateMany({ where: { id: member.userId }, data: { role: 'member' } });
  await db.prisma.user.updateMany({ where: { id: manager.userId }, data: { role: 'viewer' } });
  expect(await codeOf(reset(manager, member))).toBe('forbidden');
});

test('removal is refused and not audited for a user without a second factor or a deactivated user', async () => {
  const [none, gone] = [await colleague(), await colleague()];
  await addSecondFactor(db, gone, NOW);
  orThrow(await deactivateUser(db, administrator, { userId: gone.userId }));
  for (const [target, words] of [
    [none, `${none.email} has neither a second factor nor a passkey.`],
    [gone, `${gone.email} is deactivated. Reactivate the user first.`],
  ] as const) {
    for (const remove of Object.values(WAYS)) expect(await outcomeOf(remove(target))).toBe(`conflict: ${words}`);
    expect(await eventsOf(target)).toEqual([]);
  }
  expect(await outcomeOf(resetSecondFactorOf(db, 'nobody@example.test'))).toBe(
    'not_found: There is no user with the e-mail or id nobody@example.test.',
  );
});

test('of ten concurrent removals, one succeeds and is audited', async () => {
  const member = await colleague();
  await addSecondFactor(db, member, NOW);
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => codeOf(reset(administrator, member))));
  expect(outcomes.filter((each) => each === 'done')).toHaveLength(1);
  expect(await eventsOf(member)).toHaveLength(1);
});

test('after the removal, a password of 12 characters opens only the form for a longer one', async () => {
  // The attack: setting a short password while a second factor is on, and then asking an administrator to remove the factor.
  const member = await colleague();
  await addSecondFactor(db, member, NOW);
  const short = 'mauve otters';
  const passwordHash = await hashPassword(short);
  await db.prisma.user.updateMany({ where: { id: member.userId }, data: { passwordHash } });
  await reset(administrator, member);
  expect(await enter(member, 'wrong otters')).toEqual({ kind: 'wrong' });
  const entered = await enter(member, short);
  expect(entered).toEqual({ kind: 'new-password', token: expect.any(String) });
  const token = entered.kind === 'new-password' ? entered.token : '';
  expect(await isSignedIn(db, token, NOW)).toBe(false);
  expect(await openLink(db, token, NOW)).toMatchObject({ email: member.email, passwordCharacters: 15 });
  const choose = (password: string) => setPassword(db, { token, password, auditSource: newAuditSource(), now: NOW });
  expect(await codeOf(choose(short))).toBe('invalid');
  await choose(PASSWORD);
  expect(await enter(member)).toMatchObject({ kind: 'signed-in' });
  const made = { targetUserId: member.userId, action: 'user.reset_link_made' };
  expect(await db.prisma.auditEvent.findMany({ where: made })).toMatchObject([{ actorUserId: member.userId }]);
});
