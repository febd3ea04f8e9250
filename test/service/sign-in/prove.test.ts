import type { Actor } from '../../../src/domain/audit/actor.ts';
import { isProofFresh } from '../../../src/domain/people/session.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { prove } from '../../../src/service/sign-in/prove.ts';
import { getSessionState, signIn } from '../../../src/service/sign-in/sign-in.ts';
import { changePassword } from '../../../src/service/sign-in-settings/change-password.ts';
import { beginSecondFactor, confirmSecondFactor } from '../../../src/service/sign-in-settings/second-factor.ts';
import {
  addSecondFactor,
  ageProofs,
  codeAt,
  createAccount,
  newAuditSource,
  openSession,
  PASSWORD,
  signInAs,
} from '../../support/data/accounts.ts';
import { codeOf, outcomeOf, times } from '../../support/data/actors.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const { db } = await useSharedDatabase();

const SECRET = 'purple walruses march 17 miles';

type Giving = { token: string; password?: string; code?: string; now?: Date };

const give = (actor: Actor, { token, password = PASSWORD, code = '', now = new Date() }: Giving) =>
  prove(db, actor, { given: { kind: 'password', password, code }, token, now });

async function isProven(token: string, now = new Date()): Promise<boolean> {
  const session = await getSessionState(db, token, newAuditSource(), now);
  if (session.kind !== 'signed-in') throw new Error(`The session is ${session.kind}.`);
  return isProofFresh(session.provedAt, now);
}

const failuresOf = ({ userId }: Actor) =>
  db.prisma.auditEvent.findMany({ where: { action: 'user.proof_failed', targetUserId: userId } });

test('a sign-in is a proof for ten minutes, and so is the password afterwards, for this session only', async () => {
  const account = await createAccount(db);
  const [token, other] = [await signInAs(db, account), await signInAs(db, account)];
  expect([await isProven(token), await isProven(other)]).toEqual([true, true]);
  await ageProofs(db, account, 10);
  expect([await isProven(token), await isProven(other)]).toEqual([false, false]);
  expect(await give(account, { token })).toEqual({ kind: 'proven' });
  expect([await isProven(token), await isProven(other)]).toEqual([true, false]);
});

test('with a second factor, the password without a code proves nothing, and each code serves once', async () => {
  const now = new Date();
  const account = await createAccount(db);
  const { uri, recoveryCodes, token } = await addSecondFactor(db, account, now);
  await ageProofs(db, account);
  const code = codeAt(uri, now);
  for (const wrong of ['', '000000' === code ? '000001' : '000000'])
    expect(await outcomeOf(give(account, { token, code: wrong, now }))).toMatch(/^invalid: proof_code is not right/);
  expect(await outcomeOf(give(account, { token, code, password: SECRET, now }))).toMatch(/^invalid: proof_password/);
  expect(await isProven(token, now)).toBe(false);
  // The wrong password did not use up the code.
  expect(await give(account, { token, code, now })).toEqual({ kind: 'proven' });
  expect(await codeOf(give(account, { token, code, now }))).toBe('invalid');
  expect(await give(account, { token, code: recoveryCodes[0] ?? '', now })).toEqual({ kind: 'proven' });
  expect(await codeOf(give(account, { token, code: recoveryCodes[0] ?? '', now }))).toBe('invalid');
});

test('a wrong proof leaves one event with user, means and address, and the database does not store what was tried', async () => {
  // The attack: a thief tries passwords in a stolen session, and its owner never learns of it.
  const account = await createAccount(db);
  const token = await openSession(db, account);
  expect(await codeOf(give(account, { token, password: SECRET }))).toBe('invalid');
  const { userId, auditSource } = account;
  const detail = { with: 'the password' };
  expect(await failuresOf(account)).toMatchObject([
    { actorUserId: userId, targetUserId: userId, detail, ...auditSource },
  ]);
  const { rows: tables } = await db.pool.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
  );
  expect(tables.length).toBeGreaterThan(5);
  for (const { name } of tables) {
    const { rows } = await db.pool.query(`select count(*)::int from ${name} t where t::text like '%walruses%'`);
    expect([name, rows]).toEqual([name, [{ count: 0 }]]);
  }
});

test('a flood of wrong proofs and the sign-in leave ten events, and the right password is refused too', async () => {
  // The attacks: guessing the password in a stolen session, and flooding the log until nobody finds anything in it.
  const account = await createAccount(db);
  const token = await openSession(db, account);
  const outcomes = await times(60, (i) => codeOf(give(account, { token, password: `wrong ${i}` })));
  expect(outcomes.filter((each) => each === 'invalid')).toHaveLength(10);
  expect(outcomes.filter((each) => each === 'rate-limited')).toHaveLength(50);
  await ageProofs(db, account);
  expect(await codeOf(give(account, { token }))).toBe('rate-limited');
  expect(await isProven(token)).toBe(false);
  await times(20, () => signIn(db, { email: account.email, password: 'wrong', auditSource: account.auditSource }));
  expect(await db.prisma.auditEvent.count({ where: { targetUserId: account.userId } })).toBe(10);
});

test('the right password resets the count', async () => {
  const account = await createAccount(db);
  const token = await openSession(db, account);
  for (let round = 0; round < 2; round += 1) {
    const guesses = await times(9, () => codeOf(give(account, { token, password: 'wrong' })));
    expect(guesses.filter((each) => each === 'invalid')).toHaveLength(9);
    expect(await codeOf(give(account, { token }))).toBe('done');
  }
});

test('neither a new password nor a new second factor extends the proof of a session', async () => {
  // The attack: renewing a stolen session every nine minutes without its owner's credentials.
  const account = await createAccount(db);
  const provedAt = new Date(Date.now() - 9 * 60_000);
  const token = await openSession(db, account, provedAt);
  const now = new Date();
  const late = new Date(now.getTime() + 2 * 60_000);
  const changed = orThrow(await changePassword(db, account, { password: SECRET, token }));
  expect([await isProven(changed.token, now), await isProven(changed.token, late)]).toEqual([true, false]);
  const { uri } = orThrow(await beginSecondFactor(db, account, { token: changed.token }));
  const confirmation = { code: codeAt(uri, now), token: changed.token, now };
  const confirmed = orThrow(await confirmSecondFactor(db, account, confirmation));
  expect([await isProven(confirmed.token, now), await isProven(confirmed.token, late)]).toEqual([true, false]);
});

test('a session that has ended cannot be proven, nor one of another person', async () => {
  const [account, other] = [await createAccount(db), await createAccount(db)];
  const theirs = await openSession(db, other);
  await ageProofs(db, other);
  for (const token of [theirs, 'nonsense'])
    expect(await outcomeOf(give(account, { token }))).toBe('forbidden: Your session has ended. Sign in again.');
  expect(await isProven(theirs)).toBe(false);
});

test('a session from before proofs were recorded has none', async () => {
  const account = await createAccount(db);
  const token = await openSession(db, account);
  await db.prisma.session.updateMany({ where: { userId: account.userId }, data: { provedAt: null } });
  expect(await isProven(token)).toBe(false);
});

test('any number of right proofs in a row is accepted', async () => {
  const account = await createAccount(db);
  const token = await signInAs(db, account);
  for (let proof = 1; proof <= 25; proof += 1) {
    await ageProofs(db, account);
    expect([proof, await give(account, { token }), await isProven(token)]).toEqual([proof, { kind: 'proven' }, true]);
  }
});

test('after the clock was set back, an earlier proof counts by its distance, and a new one from the new time on', async () => {
  // The attack: after the clock was set back, using an earlier proof until the clock has caught up.
  const account = await createAccount(db);
  const now = new Date();
  const token = await signInAs(db, account, { now });
  const after = (minutes: number) => new Date(now.getTime() + minutes * 60_000);
  for (const [minutes, isFresh] of [
    [9, true],
    [11, false],
    [60, false],
  ] as const) {
    expect(await give(account, { token, now: after(minutes) })).toEqual({ kind: 'proven' });
    expect([minutes, await isProven(token, now)]).toEqual([minutes, isFresh]);
  }
  expect(await give(account, { token, now })).toEqual({ kind: 'proven' });
  expect([await isProven(token, after(9)), await isProven(token, after(10))]).toEqual([true, false]);
});
