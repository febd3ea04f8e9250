import { hashToken } from '../../../src/domain/people/session.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { changeRole, deactivateUser } from '../../../src/service/people/change-user.ts';
import { endOtherSessions, endOwnSession } from '../../../src/service/sign-in/sessions.ts';
import { getSessionState, signIn } from '../../../src/service/sign-in/sign-in.ts';
import { deleteExpiredSessions } from '../../../src/store/people/sessions.ts';
import {
  addSecondFactor,
  createAccount,
  isSignedIn,
  MINUTE,
  newAuditSource,
  openSession,
  PASSWORD,
  signInAs,
} from '../../support/data/accounts.ts';
import { outcomeOf, times } from '../../support/data/actors.ts';
import { explain } from '../../support/postgres/plans.ts';
import { useDatabase } from '../../support/postgres/store.ts';

const { db } = await useDatabase();

const START = new Date('2026-05-01T08:00:00.000Z');
const after = (minutes: number) => new Date(START.getTime() + minutes * MINUTE);
const hashed = (token: string) => ({ tokenHash: Uint8Array.from(hashToken(token) ?? []) });
const sessionOf = (token: string) => db.prisma.session.findUnique({ where: hashed(token) });

test('an idle session ends after 30 minutes', async () => {
  // The attack: using a browser that was left open over lunch.
  const token = await signInAs(db, await createAccount(db), { now: START });
  expect(await isSignedIn(db, token, new Date(after(30).getTime() - 1))).toBe(true);
  const idle = await signInAs(db, await createAccount(db), { now: START });
  expect(await isSignedIn(db, idle, after(30))).toBe(false);
});

test('a session in use lasts 12 hours and no longer', async () => {
  // The attack: keeping a stolen cookie alive with a request each minute.
  const token = await signInAs(db, await createAccount(db), { now: START });
  for (let minutes = 29; minutes < 12 * 60; minutes += 29)
    expect(await isSignedIn(db, token, after(minutes))).toBe(true);
  expect(await isSignedIn(db, token, after(12 * 60 - 1))).toBe(true);
  expect(await isSignedIn(db, token, after(12 * 60))).toBe(false);
});

test('a request runs one statement, and a second one at most once a minute', async () => {
  const token = await signInAs(db, await createAccount(db), { now: START });
  const query = jest.spyOn(db.pool, 'query');
  const asked = async (at: Date) => {
    query.mockClear();
    await getSessionState(db, token, newAuditSource(), at);
    return query.mock.calls.length;
  };
  try {
    expect(await asked(after(0.5))).toBe(1);
    expect((await sessionOf(token))?.lastSeenAt).toEqual(START);
    expect(await asked(after(1))).toBe(2);
    expect((await sessionOf(token))?.lastSeenAt).toEqual(after(1));
    expect(await asked(after(1.9))).toBe(1);
    query.mockClear();
    await getSessionState(db, 'x'.repeat(43000), newAuditSource(), START);
    expect(query).not.toHaveBeenCalled();
  } finally {
    query.mockRestore();
  }
});

test('the time of last use never moves backwards, even when two processes’ clocks differ', async () => {
  const token = await signInAs(db, await createAccount(db), { now: after(10) });
  await Promise.all([after(12), after(11), after(5)].map((at) => isSignedIn(db, token, at)));
  expect((await sessionOf(token))?.lastSeenAt.getTime()).toBeGreaterThanOrEqual(after(11).getTime());
  await isSignedIn(db, token, after(3));
  expect((await sessionOf(token))?.lastSeenAt.getTime()).toBeGreaterThanOrEqual(after(11).getTime());
});

test('the session, its user and its organization are found by indexes', async () => {
  const query = jest.spyOn(db.pool, 'query');
  await getSessionState(db, 'x'.repeat(43), newAuditSource(), START);
  const [statement] = query.mock.calls.map(([given]) => Object(given));
  query.mockRestore();
  const plan = await explain(db, statement, { prefersIndexes: true });
  expect(plan).toContain('using sessions_token_hash_key');
  expect(plan).not.toContain('Seq Scan');
});

test('a session whose second factor is outstanding is not signed in', async () => {
  // The attack: with a known password, requesting a page that the code protects.
  const account = await createAccount(db);
  await addSecondFactor(db, account, START);
  const half = await signIn(db, {
    email: account.email,
    password: PASSWORD,
    auditSource: newAuditSource(),
    now: START,
  });
  expect(half).toEqual({ kind: 'second-factor', token: expect.any(String) });
  expect(await isSignedIn(db, half.kind === 'second-factor' ? half.token : '', START)).toBe(false);
});

test('deactivation ends every session at once', async () => {
  const administrator = await createAccount(db, { role: 'administrator' });
  const { scope } = administrator;
  const member = await createAccount(db, { scope });
  const tokens = [await signInAs(db, member), await signInAs(db, member)];
  orThrow(await deactivateUser(db, administrator, { userId: member.userId }));
  for (const token of tokens) expect(await isSignedIn(db, token)).toBe(false);
  expect(await db.prisma.session.count({ where: { userId: member.userId } })).toBe(0);
});

test('a promotion ends every session, including those that wait for the second factor; a demotion or an unchanged role ends none', async () => {
  // The attack: an intruder in a member’s account becomes an administrator when the member is promoted.
  const administrator = await createAccount(db, { role: 'administrator' });
  const { scope } = administrator;
  const member = await createAccount(db, { scope });
  const role = async (next: string) => changeRole(db, administrator, { userId: member.userId, role: next });
  for (const next of ['manager', 'administrator']) {
    const tokens = [await signInAs(db, member), await signInAs(db, member)];
    await role(next);
    for (const token of tokens) expect([next, await isSignedIn(db, token)]).toEqual([next, false]);
    expect(await db.prisma.session.count({ where: { userId: member.userId } })).toBe(0);
  }
  const token = await signInAs(db, member);
  for (const next of ['administrator', 'member', 'viewer', 'viewer']) {
    await role(next);
    expect([next, await isSignedIn(db, token)]).toEqual([next, true]);
  }
  await addSecondFactor(db, member, new Date());
  const half = await signIn(db, { email: member.email, password: PASSWORD, auditSource: newAuditSource() });
  expect(half.kind).toBe('second-factor');
  await role('member');
  expect(await db.prisma.session.count({ where: { userId: member.userId } })).toBe(0);
});

test('a session that ended while its request was in transit ends no other session', async () => {
  // The attack: the owner has just ended a thief's session, and a pending request of the thief ends the owner's session.
  const owner = await createAccount(db);
  const [mine, stolen] = [await openSession(db, owner), await openSession(db, owner)];
  const { id } = await db.prisma.session.findUniqueOrThrow({ where: hashed(mine) });
  orThrow(await endOtherSessions(db, owner, { token: mine }));
  for (const token of [stolen, 'nonsense']) {
    const ended = 'forbidden: Your session has ended. Sign in again.';
    expect(await outcomeOf(endOwnSession(db, owner, { sessionId: id, token }))).toBe(ended);
    expect(await outcomeOf(endOtherSessions(db, owner, { token }))).toBe(ended);
  }
  expect(await isSignedIn(db, mine)).toBe(true);
  const events = await db.prisma.auditEvent.findMany({ where: { actorUserId: owner.userId } });
  expect(events.map(({ action }) => action)).toEqual(['user.signed_out_everywhere']);
});

test('of several sessions that end all others at the same time, exactly one is left', async () => {
  const owner = await createAccount(db);
  const tokens = await times(6, () => openSession(db, owner));
  const outcomes = await Promise.all(tokens.map((token) => outcomeOf(endOtherSessions(db, owner, { token }))));
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
  const left = await Promise.all(tokens.map((token) => isSignedIn(db, token)));
  expect(left.filter(Boolean)).toHaveLength(1);
});

test('a request uses the current role, not the one at sign-in', async () => {
  // The attack: a demoted person keeps using an earlier session.
  const administrator = await createAccount(db, { role: 'administrator' });
  const manager = await createAccount(db, { role: 'manager', scope: administrator.scope });
  const token = await signInAs(db, manager);
  orThrow(await changeRole(db, administrator, { userId: manager.userId, role: 'viewer' }));
  const { scope } = administrator;
  expect(await getSessionState(db, token, newAuditSource())).toMatchObject({
    kind: 'signed-in',
    actor: { role: 'viewer', scope },
  });
});

test('housekeeping deletes only ended sessions', async () => {
  const idle = await signInAs(db, await createAccount(db), { now: START });
  const alive = await signInAs(db, await createAccount(db), { now: after(20) });
  expect(await deleteExpiredSessions(db, { now: after(31) })).toBeGreaterThanOrEqual(1);
  expect(await sessionOf(idle)).toBeNull();
  expect(await sessionOf(alive)).not.toBeNull();
});
