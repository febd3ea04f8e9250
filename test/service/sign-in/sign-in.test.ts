import argon2 from '@node-rs/argon2';
import { hashPassword } from '../../../src/service/sign-in/password.ts';
import { signIn, signOut } from '../../../src/service/sign-in/sign-in.ts';
import { stopRequiringSingleSignOn } from '../../../src/service/sign-in-settings/requirement.ts';
import {
  createAccount,
  isSignedIn,
  linkDirectly,
  newAuditSource,
  PASSWORD,
  requireSso,
} from '../../support/data/accounts.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

// Counts the verifications of passwords, which the real library still performs.
const verify = jest.spyOn(argon2, 'verify');
afterAll(() => verify.mockRestore());

const { db } = await useSharedDatabase();

const auditOf = (userId: string) =>
  db.prisma.auditEvent.findMany({ where: { targetUserId: userId }, orderBy: { id: 'asc' } });

test('the password signs in, with the e-mail in any letter case, under a new token each time', async () => {
  const account = await createAccount(db);
  const auditSource = newAuditSource();
  const first = await signIn(db, { email: ` ${account.email.toUpperCase()} `, password: PASSWORD, auditSource });
  const second = await signIn(db, { email: account.email, password: PASSWORD, auditSource });
  expect(first).toEqual({ kind: 'signed-in', token: expect.stringMatching(/^[\w-]{43}$/), userId: account.userId });
  expect(second).not.toEqual(first);
  expect((await auditOf(account.userId)).map(({ action, ip }) => [action, ip])).toEqual([
    ['user.signed_in', auditSource.ip],
    ['user.signed_in', auditSource.ip],
  ]);
});

test('the database stores no token that signs in', async () => {
  // The attack: reading a backup and sending a stored value as a cookie.
  const account = await createAccount(db);
  const result = await signIn(db, { email: account.email, password: PASSWORD, auditSource: newAuditSource() });
  const [row] = await db.prisma.session.findMany({ where: { userId: account.userId } });
  const hash = Buffer.from(row?.tokenHash ?? []);
  expect(result.kind === 'signed-in' && hash.includes(result.token)).toBe(false);
  for (const form of ['hex', 'base64url'] as const) expect(await isSignedIn(db, hash.toString(form))).toBe(false);
});

test('an unknown, a known, an invited and a deactivated e-mail get the same response after the same work', async () => {
  // The attack: trying a list of e-mail addresses to learn from the response or its time which have an account.
  const [known, invited, deactivated] = [await createAccount(db), await createAccount(db), await createAccount(db)];
  const ids = [known.userId, deactivated.userId];
  await db.prisma.user.updateMany({ where: { id: { in: ids } }, data: { passwordHash: await hashPassword(PASSWORD) } });
  await db.prisma.user.updateMany({ where: { id: invited.userId }, data: { passwordHash: null } });
  await db.prisma.user.updateMany({ where: { id: deactivated.userId }, data: { deactivatedAt: new Date() } });
  const tries = [
    ['nobody@example.test', 'wrong'],
    ['not an e-mail\0', 'wrong'],
    [known.email, 'wrong'],
    [invited.email, PASSWORD],
    [deactivated.email, PASSWORD],
    [known.email, 'x'.repeat(1_000_000)],
  ] as const;
  for (const [email, password] of tries) {
    verify.mockClear();
    expect(await signIn(db, { email, password, auditSource: newAuditSource() })).toEqual({ kind: 'wrong' });
    // The password is verified once, with the same cost parameters.
    expect(verify).toHaveBeenCalledTimes(1);
    expect(verify.mock.calls[0]?.[0]).toContain('$argon2id$v=19$m=19456,t=2,p=1$');
  }
});

test('a failure writes one row, whether or not the e-mail is known', async () => {
  // The attack: trying a list of e-mail addresses and measuring the time of the database writes.
  const known = await createAccount(db);
  await signIn(db, { email: known.email, password: 'wrong', auditSource: newAuditSource() });
  expect((await auditOf(known.userId)).map(({ action, actorUserId }) => [action, actorUserId])).toEqual([
    ['user.sign_in_failed', null],
  ]);
  const before = await db.prisma.signInFailure.count({ where: { key: { startsWith: 'unknown:' } } });
  await signIn(db, { email: `${crypto.randomUUID()}@example.test`, password: 'wrong', auditSource: newAuditSource() });
  expect(await db.prisma.signInFailure.count({ where: { key: { startsWith: 'unknown:' } } })).toBe(before + 1);
});

test('a password matches in every Unicode form that a keyboard produces', async () => {
  const account = await createAccount(db);
  const passwordHash = await hashPassword('caf\u00e9 marmot drums 41');
  await db.prisma.user.updateMany({ where: { id: account.userId }, data: { passwordHash } });
  const decomposed = 'cafe\u0301 marmot drums 41';
  expect(await signIn(db, { email: account.email, password: decomposed, auditSource: newAuditSource() })).toMatchObject(
    {
      kind: 'signed-in',
    },
  );
});

test('a password that is changed during its verification opens no session', async () => {
  // The race: the old password is sent at the moment when the owner replaces it.
  const account = await createAccount(db);
  verify.mockImplementationOnce(async (...given) => {
    await db.prisma.user.updateMany({ where: { id: account.userId }, data: { passwordHash: 'another' } });
    return argon2.verify(...given);
  });
  expect(await signIn(db, { email: account.email, password: PASSWORD, auditSource: newAuditSource() })).toEqual({
    kind: 'wrong',
  });
  expect(await db.prisma.session.count({ where: { userId: account.userId } })).toBe(0);
});

test('signing out ends this session on the server, and no other', async () => {
  // The attack: sending, after the sign-out, a cookie that was copied before the sign-out.
  const account = await createAccount(db);
  const tokens = await Promise.all(
    ['one', 'other'].map(async () => {
      const result = await signIn(db, { email: account.email, password: PASSWORD, auditSource: newAuditSource() });
      return result.kind === 'signed-in' ? result.token : '';
    }),
  );
  const [one = '', other = ''] = tokens;
  await signOut(db, one, newAuditSource());
  await signOut(db, one, newAuditSource());
  await signOut(db, 'nonsense', newAuditSource());
  expect(await isSignedIn(db, one)).toBe(false);
  expect(await isSignedIn(db, other)).toBe(true);
  expect((await auditOf(account.userId)).filter(({ action }) => action === 'user.signed_out')).toHaveLength(1);
});

test('an organization that requires single sign-on accepts the password of its break-glass administrator alone', async () => {
  // In this test, no sign-in at a provider is registered. The requirement must hold even if single sign-on is removed from the
  // server.
  const administrator = await createAccount(db, { role: 'administrator' });
  const member = await createAccount(db, { scope: administrator.scope });
  await linkDirectly(db, administrator);
  await requireSso(db, administrator);
  const kindFor = async ({ email }: { email: string }) =>
    (await signIn(db, { email, password: PASSWORD, auditSource: newAuditSource() })).kind;
  expect([await kindFor(member), await kindFor(administrator)]).toEqual(['single-sign-on-required', 'passkey-needed']);
  await stopRequiringSingleSignOn(db, { kind: 'operator', scope: administrator.scope });
  expect(await kindFor(member)).toBe('signed-in');
});
