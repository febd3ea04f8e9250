import type { Actor } from '../../../src/domain/actor.ts';
import { makeLink, setPassword } from '../../../src/service/accounts/access-links.ts';
import { changePassword } from '../../../src/service/accounts/change-password.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  renewRecoveryCodes,
} from '../../../src/service/accounts/second-factor.ts';
import { giveSecondFactor, signIn } from '../../../src/service/accounts/sign-in.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import {
  addSecondFactor,
  codeAt,
  createAccount,
  isSignedIn,
  newAuditSource,
  openSession,
  signInAs,
} from '../../support/data/accounts.ts';
import { codeOf, outcomeOf, times } from '../../support/data/actors.ts';
import { PASSWORD } from '../../support/data/password.ts';
import { useDatabase } from '../../support/postgres/store.ts';

const { db } = await useDatabase();

const NOW = new Date('2026-05-01T08:00:00.000Z');
const OTHER = 'seven otters juggle 93 lanterns';

const begin = (actor: Actor, password = PASSWORD) => beginSecondFactor(db, actor, { password });
const row = ({ userId }: Actor) => db.prisma.user.findFirstOrThrow({ where: { id: userId } });
const actsOf = async ({ userId }: Actor) =>
  (await db.prisma.auditEvent.findMany({ where: { targetUserId: userId }, orderBy: { id: 'asc' } })).map(
    ({ action }) => action,
  );

test('starting the set-up requires the password, and a wrong one creates no secret', async () => {
  // The attack: an open or stolen session binds the account to another person’s authenticator.
  const account = await createAccount(db);
  expect(await outcomeOf(begin(account, 'not the password of anybody'))).toMatch(/^invalid: password is not right/);
  expect(await outcomeOf(begin(account, ''))).toMatch(/^invalid: password is not right/);
  expect(await row(account)).toMatchObject({ totpSecret: null, totpSince: null });
  orThrow(await begin(account));
  expect((await row(account)).totpSecret).toHaveLength(57);
});

test('of 30 password guesses ten are checked, and then the right password is rate-limited too', async () => {
  // The attack: guess the password through the second-factor form, because it is not the sign-in page.
  const account = await createAccount(db);
  const outcomes = await times(30, (i) => codeOf(begin(account, `guess ${i}`)));
  expect(outcomes.filter((each) => each === 'invalid')).toHaveLength(10);
  expect(outcomes.filter((each) => each === 'rate-limited')).toHaveLength(20);
  expect(await outcomeOf(begin(account))).toBe('rate-limited');
  expect((await row(account)).totpSecret).toBeNull();
});

test('confirming ends every other session, including those that wait for the second factor, and continues this one under a new token', async () => {
  // The attack: sessions from a stolen password or a copied cookie stay signed in.
  const account = await createAccount(db);
  const stolen = await signInAs(db, account, { now: NOW });
  const mine = await signInAs(db, account, { now: NOW });
  const { uri } = orThrow(await begin(account));
  expect(await isSignedIn(db, stolen, NOW)).toBe(true);
  const { token } = orThrow(await confirmSecondFactor(db, account, { code: codeAt(uri, NOW), token: mine, now: NOW }));
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
  expect(await codeOf(confirmSecondFactor(db, account, { code: '1', token: mine, now: NOW }))).toBe('invalid');
  for (const token of [mine, other]) expect(await isSignedIn(db, token, NOW)).toBe(true);
});

test('a session that ended while its form was in transit confirms nothing and is not restored', async () => {
  // The attack: the owner ends all sessions, and the thief’s pending form gets a new one.
  const account = await createAccount(db);
  const { uri } = orThrow(await begin(account));
  const token = await openSession(db, account, NOW);
  await db.prisma.session.deleteMany({ where: { userId: account.userId } });
  for (const gone of [token, 'nonsense']) {
    const confirmation = { code: codeAt(uri, NOW), token: gone, now: NOW };
    expect(await outcomeOf(confirmSecondFactor(db, account, confirmation))).toBe(
      'forbidden: Your session has ended. Sign in again.',
    );
  }
  expect((await row(account)).totpSince).toBeNull();
  expect(await db.prisma.session.count({ where: { userId: account.userId } })).toBe(0);
  expect(await actsOf(account)).toEqual([]);
});

test('of 30 guesses at the first code ten are checked, then the right one is rate-limited too, and the owner can still sign in', async () => {
  // The attack: a stolen session guesses the code of a pending set-up, to see the recovery codes.
  const account = await createAccount(db);
  const { uri } = orThrow(await begin(account));
  const token = await openSession(db, account, NOW);
  const right = codeAt(uri, NOW);
  const wrong = right === '000000' ? '000001' : '000000';
  const guess = (code: string) => codeOf(confirmSecondFactor(db, account, { code, token, now: NOW }));
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
  // The attack: a person with the old password keeps a pending secret for the next stolen session.
  const [half, whole] = [await createAccount(db), await createAccount(db)];
  orThrow(await begin(half));
  await addSecondFactor(db, whole, NOW);
  for (const actor of [half, whole])
    orThrow(await changePassword(db, actor, { currentPassword: PASSWORD, password: OTHER }));
  expect((await row(half)).totpSecret).toBeNull();
  expect((await row(whole)).totpSince).not.toBeNull();
});

test('a reset link ends a pending set-up as well', async () => {
  const administrator = await createAccount(db, { role: 'administrator' });
  const member = await createAccount(db, { scope: administrator.scope });
  orThrow(await begin(member));
  const { link } = orThrow(await makeLink(db, administrator, { userId: member.userId, kind: 'password_reset' }));
  orThrow(await setPassword(db, { token: link.token, password: OTHER, auditSource: newAuditSource() }));
  expect((await row(member)).totpSecret).toBeNull();
});

test('new recovery codes require the password and a factor, invalidate the earlier ones, and are audited', async () => {
  // The attack: a person at an unlocked screen copies ten recovery codes.
  const account = await createAccount(db);
  expect(await codeOf(renewRecoveryCodes(db, account, { password: PASSWORD }))).toBe('conflict');
  const { recoveryCodes: old } = await addSecondFactor(db, account, NOW);
  expect(await codeOf(renewRecoveryCodes(db, account, { password: 'not the password' }))).toBe('invalid');
  const { recoveryCodes: fresh } = orThrow(await renewRecoveryCodes(db, account, { password: PASSWORD }));
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
    ...['user.second_factor_on', 'user.password_check_failed', 'user.recovery_codes_made'],
    ...['user.sign_in_failed', 'user.signed_in'],
  ]);
});
