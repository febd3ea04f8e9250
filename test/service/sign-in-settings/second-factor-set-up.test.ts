import type { Actor } from '../../../src/domain/audit/actor.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { createLink, setPassword } from '../../../src/service/people/access-links.ts';
import { giveSecondFactor, signIn } from '../../../src/service/sign-in/sign-in.ts';
import { changePassword } from '../../../src/service/sign-in-settings/change-password.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
  renewRecoveryCodes,
} from '../../../src/service/sign-in-settings/second-factor.ts';
import {
  addSecondFactor,
  codeAt,
  createAccount,
  isSignedIn,
  newAuditSource,
  openSession,
  PASSWORD,
  signInAs,
} from '../../support/data/accounts.ts';
import { codeOf, outcomeOf, times } from '../../support/data/actors.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const { db } = await useSharedDatabase();

const NOW = new Date('2026-05-01T08:00:00.000Z');
const OTHER = 'seven otters juggle 93 lanterns';

const begin = async (actor: Actor) => beginSecondFactor(db, actor, { token: await openSession(db, actor, NOW) });
const confirmed = (actor: Actor, { code, token }: { code: string; token: string }) =>
  confirmSecondFactor(db, actor, { code, token, now: NOW });
const row = ({ userId }: Actor) => db.prisma.user.findFirstOrThrow({ where: { id: userId } });
const actsOf = async ({ userId }: Actor) =>
  (await db.prisma.auditEvent.findMany({ where: { targetUserId: userId }, orderBy: { id: 'asc' } })).map(
    ({ action }) => action,
  );

test('a session that has ended starts no set-up, replaces no recovery codes and turns nothing off', async () => {
  // The attack: sending the thief’s pending form after the owner has ended all sessions.
  const account = await createAccount(db);
  const token = await openSession(db, account, NOW);
  await db.prisma.session.deleteMany({ where: { userId: account.userId } });
  const ended = 'forbidden: Your session has ended. Sign in again.';
  expect(await outcomeOf(beginSecondFactor(db, account, { token }))).toBe(ended);
  expect(await row(account)).toMatchObject({ totpSecret: null, totpSince: null });
  await addSecondFactor(db, account, NOW);
  const before = await row(account);
  expect(await outcomeOf(renewRecoveryCodes(db, account, { token }))).toBe(ended);
  expect(await outcomeOf(removeSecondFactor(db, account, { token }))).toBe(ended);
  expect(await outcomeOf(changePassword(db, account, { password: OTHER, token }))).toBe(ended);
  expect(await row(account)).toEqual(before);
});

test('confirming ends every other session, including those that wait for the second factor, and continues this one under a new token', async () => {
  // The attack: using sessions from a stolen password or a copied cookie.
  const account = await createAccount(db);
  const stolen = await signInAs(db, account, { now: NOW });
  const mine = await signInAs(db, account, { now: NOW });
  const { uri } = orThrow(await begin(account));
  expect(await isSignedIn(db, stolen, NOW)).toBe(true);
  const { token } = orThrow(await confirmed(account, { code: codeAt(uri, NOW), token: mine }));
  expect(token).not.toBe(mine);
  expect(await isSignedIn(db, token, NOW)).toBe(true);
  for (const ended of [stolen, mine]) expect(await isSignedIn(db, ended, NOW)).toBe(false);
  expect(await db.prisma.session.count({ where: { userId: account.userId } })).toBe(1);
  expect((await actsOf(account)).at(-1)).toBe('user.second_factor_on');
});

test('a wrong first code ends no session', async () => {
  const account = await createAccount(db);
  const [mine, other] = [await openSession(db, account, NOW), await openSession(db, account, NOW)];
  orThrow(await begin(account));
  expect(await codeOf(confirmed(account, { code: '1', token: mine }))).toBe('invalid');
  for (const token of [mine, other]) expect(await isSignedIn(db, token, NOW)).toBe(true);
});

test('a session that ended while its form was in transit confirms nothing and is not restored', async () => {
  // The attack: getting a new session with the thief’s pending form after the owner has ended all sessions.
  const account = await createAccount(db);
  const { uri } = orThrow(await begin(account));
  const token = await openSession(db, account, NOW);
  await db.prisma.session.deleteMany({ where: { userId: account.userId } });
  for (const gone of [token, 'nonsense']) {
    expect(await outcomeOf(confirmed(account, { code: codeAt(uri, NOW), token: gone }))).toBe(
      'forbidden: Your session has ended. Sign in again.',
    );
  }
  expect((await row(account)).totpSince).toBeNull();
  expect(await db.prisma.session.count({ where: { userId: account.userId } })).toBe(0);
  expect(await actsOf(account)).toEqual([]);
});

test('of 30 guesses at the first code ten are checked, then the right one is rate-limited too, and the owner can still sign in', async () => {
  // The attack: guessing the code of a pending set-up in a stolen session, to see the recovery codes.
  const account = await createAccount(db);
  const { uri } = orThrow(await begin(account));
  const token = await openSession(db, account, NOW);
  const right = codeAt(uri, NOW);
  const wrong = right === '000000' ? '000001' : '000000';
  const guess = (code: string) => codeOf(confirmed(account, { code, token }));
  const outcomes = await times(30, () => guess(wrong));
  expect(outcomes.filter((each) => each === 'invalid')).toHaveLength(10);
  expect(await guess(right)).toBe('rate-limited');
  expect((await row(account)).totpSince).toBeNull();
  expect(
    await signIn(db, { email: account.email, password: PASSWORD, auditSource: account.auditSource }),
  ).toMatchObject({
    kind: 'signed-in',
  });
});

test('changing the password ends a pending set-up and keeps an active factor', async () => {
  // The attack: somebody with the old password keeps a pending secret for the next stolen session.
  const [half, whole] = [await createAccount(db), await createAccount(db)];
  orThrow(await begin(half));
  await addSecondFactor(db, whole, NOW);
  for (const actor of [half, whole])
    orThrow(await changePassword(db, actor, { password: OTHER, token: await openSession(db, actor) }));
  expect((await row(half)).totpSecret).toBeNull();
  expect((await row(whole)).totpSince).not.toBeNull();
});

test('a reset link ends a pending set-up as well', async () => {
  const administrator = await createAccount(db, { role: 'administrator' });
  const member = await createAccount(db, { scope: administrator.scope });
  orThrow(await begin(member));
  const { link } = orThrow(await createLink(db, administrator, { userId: member.userId, kind: 'password_reset' }));
  orThrow(await setPassword(db, { token: link.token, password: OTHER, auditSource: newAuditSource() }));
  expect((await row(member)).totpSecret).toBeNull();
});

test('new recovery codes require a factor, invalidate the earlier ones, and are audited', async () => {
  const account = await createAccount(db);
  expect(await codeOf(renewRecoveryCodes(db, account, { token: await openSession(db, account) }))).toBe('conflict');
  const { recoveryCodes: old, token } = await addSecondFactor(db, account, NOW);
  const { recoveryCodes: fresh } = orThrow(await renewRecoveryCodes(db, account, { token }));
  expect(new Set([...old, ...fresh]).size).toBe(20);
  const give = async (code = '') => {
    const half = await signIn(db, {
      email: account.email,
      password: PASSWORD,
      auditSource: newAuditSource(),
      now: NOW,
    });
    const token = half.kind === 'second-factor' ? half.token : '';
    return (await giveSecondFactor(db, { token, code, auditSource: newAuditSource(), now: NOW })).kind;
  };
  expect([await give(old[0]), await give(fresh[0])]).toEqual(['wrong', 'signed-in']);
  expect(await actsOf(account)).toEqual([
    ...['user.second_factor_on', 'user.recovery_codes_made', 'user.sign_in_failed', 'user.signed_in'],
  ]);
});
