import type { Actor } from '../../../src/domain/audit/actor.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { hashPassword } from '../../../src/service/sign-in/password.ts';
import { giveSecondFactor, signIn } from '../../../src/service/sign-in/sign-in.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  countRecoveryCodesLeft,
  removeSecondFactor,
} from '../../../src/service/sign-in-settings/second-factor.ts';
import {
  addSecondFactor,
  codeAt,
  createAccount,
  isSignedIn,
  MINUTE,
  newAuditSource,
  openSession,
  PASSWORD,
} from '../../support/data/accounts.ts';
import { codeOf, times } from '../../support/data/actors.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const { db } = await useSharedDatabase();

// The start of a 30-second step of the codes.
const NOW = new Date('2026-05-01T08:00:00.000Z');
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

async function half(account: Actor, now = NOW): Promise<string> {
  const result = await signIn(db, { email: account.email, password: PASSWORD, auditSource: newAuditSource(), now });
  if (result.kind !== 'second-factor') throw new Error(`The sign-in is ${result.kind}.`);
  return result.token;
}

const give = (token: string, code: string, now = NOW) =>
  giveSecondFactor(db, { token, code, auditSource: newAuditSource(), now });

test('sign-in does not ask for a factor that was never confirmed', async () => {
  // The risk: a person who closes the page half-way could no longer sign in.
  const account = await createAccount(db);
  const token = await openSession(db, account);
  const { secret, uri } = orThrow(await beginSecondFactor(db, account, { token }));
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(uri).toMatch(/^otpauth:\/\/totp\/Charter:.*algorithm=SHA1&digits=6&period=30$/);
  expect(await signIn(db, { email: account.email, password: PASSWORD, auditSource: newAuditSource() })).toMatchObject({
    kind: 'signed-in',
  });
  expect(await codeOf(confirmSecondFactor(db, account, { code: '12345', token, now: NOW }))).toBe('invalid');
});

test('the right code completes the sign-in under a new token', async () => {
  // The attack: using, after the sign-in, a token that was planted or seen before the code was given.
  const account = await createAccount(db);
  const { uri } = await addSecondFactor(db, account, NOW);
  const token = await half(account);
  const done = await give(token, codeAt(uri, NOW));
  expect(done).toEqual({ kind: 'signed-in', token: expect.any(String), userId: account.userId });
  expect(done.kind === 'signed-in' && (await isSignedIn(db, done.token, NOW))).toBe(true);
  expect(await isSignedIn(db, token, NOW)).toBe(false);
  expect(await give(token, codeAt(uri, later(30)), later(30))).toEqual({ kind: 'ended' });
});

test.each([
  [-60, false],
  [-30, true],
  [0, true],
  [30, true],
  [60, false],
])('a code from %i seconds away is accepted: %p', async (seconds, isTaken) => {
  const account = await createAccount(db);
  const { uri } = await addSecondFactor(db, account, later(-120));
  const result = await give(await half(account), codeAt(uri, later(seconds)));
  expect(result.kind).toBe(isTaken ? 'signed-in' : 'wrong');
});

test('of nine concurrent uses of one code, one succeeds, and no later use does', async () => {
  // The attack: looking over somebody's shoulder and typing the same code within its 30 seconds.
  const account = await createAccount(db);
  const { uri } = await addSecondFactor(db, account, NOW);
  const halves = await times(9, () => half(account));
  const results = await Promise.all(halves.map((token) => give(token, codeAt(uri, NOW))));
  expect(results.filter(({ kind }) => kind === 'signed-in')).toHaveLength(1);
  expect(await give(await half(account), codeAt(uri, NOW), later(20))).toEqual({ kind: 'wrong' });
  expect(await give(await half(account), codeAt(uri, later(-30)))).toEqual({ kind: 'wrong' });
});

test('the code that confirmed the set-up cannot be used to sign in', async () => {
  const account = await createAccount(db);
  const token = await openSession(db, account, NOW);
  const { uri } = orThrow(await beginSecondFactor(db, account, { token }));
  orThrow(await confirmSecondFactor(db, account, { code: codeAt(uri, NOW), token, now: NOW }));
  expect(await give(await half(account), codeAt(uri, NOW))).toEqual({ kind: 'wrong' });
});

test('ten recovery codes work once each, in any spelling, and are stored as hashes', async () => {
  const account = await createAccount(db);
  const { recoveryCodes } = await addSecondFactor(db, account, NOW);
  expect(new Set(recoveryCodes).size).toBe(10);
  const [first = '', second = '', third = ''] = recoveryCodes;
  const row = await db.prisma.user.findFirstOrThrow({ where: { id: account.userId } });
  expect(Buffer.concat(row.recoveryCodes).includes(first.replaceAll('-', ''))).toBe(false);
  // The attack: sending one code five times concurrently.
  const halves = await times(5, () => half(account));
  const results = await Promise.all(halves.map((token) => give(token, first)));
  expect(results.filter(({ kind }) => kind === 'signed-in')).toHaveLength(1);
  expect(await give(await half(account), ` ${second.toUpperCase().replaceAll('-', ' ')}`)).toMatchObject({
    kind: 'signed-in',
  });
  expect(await give(await half(account), second)).toEqual({ kind: 'wrong' });
  expect(await countRecoveryCodesLeft(db, account)).toBe(8);
  expect(third).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
});

test('a half-open session lasts ten minutes, gives no access, and ends with the account', async () => {
  const account = await createAccount(db);
  const { uri } = await addSecondFactor(db, account, NOW);
  const at = new Date(NOW.getTime() + 10 * MINUTE);
  expect(await give(await half(account), codeAt(uri, at), at)).toEqual({ kind: 'ended' });
  const token = await half(account);
  await db.prisma.user.updateMany({ where: { id: account.userId }, data: { deactivatedAt: NOW } });
  expect(await give(token, codeAt(uri, NOW))).toEqual({ kind: 'ended' });
  expect(await give('nonsense', '123456')).toEqual({ kind: 'ended' });
});

test('after it is turned off, the password alone signs in', async () => {
  const account = await createAccount(db);
  const { token } = await addSecondFactor(db, account, NOW);
  const actor = { ...account, hasSecondFactor: true };
  orThrow(await removeSecondFactor(db, actor, { token }));
  expect(await signIn(db, { email: account.email, password: PASSWORD, auditSource: newAuditSource() })).toMatchObject({
    kind: 'signed-in',
  });
  expect(await codeOf(removeSecondFactor(db, actor, { token }))).toBe('conflict');
  const acts = await db.prisma.auditEvent.findMany({ where: { targetUserId: account.userId }, orderBy: { id: 'asc' } });
  expect(acts.map(({ action }) => action)).toEqual([
    ...['user.second_factor_on', 'user.second_factor_off', 'user.signed_in'],
  ]);
});

test('a password of 12 characters is allowed only while the second factor is on', async () => {
  // The attack: setting a short password while a second factor is on, and then turning the factor off.
  const account = await createAccount(db);
  const { token } = await addSecondFactor(db, account, NOW);
  const password = 'mauve otters';
  await db.prisma.user.updateMany({
    where: { id: account.userId },
    data: { passwordHash: await hashPassword(password) },
  });
  orThrow(await removeSecondFactor(db, account, { token }));
  const { email } = account;
  const { kind } = await signIn(db, { email, password, auditSource: newAuditSource(), now: NOW });
  expect(kind).toBe('new-password');
});

test('starting a set-up while a factor is on is refused', async () => {
  // The attack: in a stolen session, replacing the authenticator with one's own.
  const account = await createAccount(db);
  const { token } = await addSecondFactor(db, account, NOW);
  expect(await codeOf(beginSecondFactor(db, account, { token }))).toBe('conflict');
  expect(await codeOf(confirmSecondFactor(db, account, { code: '000000', token, now: NOW }))).toBe('conflict');
});
