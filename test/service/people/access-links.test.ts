import type { Actor } from '../../../src/domain/audit/actor.ts';
import { hashToken } from '../../../src/domain/people/session.ts';
import { getUserByEmailOrId } from '../../../src/service/operator/users.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { createLink, createOperatorLink, openLink, setPassword } from '../../../src/service/people/access-links.ts';
import { changeRole, deactivateUser, reactivateUser } from '../../../src/service/people/change-user.ts';
import { inviteUser } from '../../../src/service/people/invitations.ts';
import { signIn } from '../../../src/service/sign-in/sign-in.ts';
import { changePassword } from '../../../src/service/sign-in-settings/change-password.ts';
import { deleteExpiredAccessLinks } from '../../../src/store/people/access-links.ts';
import {
  addSecondFactor,
  createAccount,
  isSignedIn,
  MINUTE,
  newAuditSource,
  PASSWORD,
  signInAs,
} from '../../support/data/accounts.ts';
import { codeOf, NOBODY, outcomeOf, times } from '../../support/data/actors.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const { db } = await useSharedDatabase();

const NEW = 'seven purple kettles dance';
const NOW = new Date('2026-05-01T08:00:00.000Z');
const after = (minutes: number) => new Date(NOW.getTime() + minutes * MINUTE);

async function people() {
  const administrator = await createAccount(db, { role: 'administrator' });
  const { scope } = administrator;
  const [manager, member] = [await createAccount(db, { role: 'manager', scope }), await createAccount(db, { scope })];
  return { administrator, manager, member, other: await createAccount(db, { role: 'administrator', scope }) };
}

const tryReset = (by: Actor, { userId }: Actor) => createLink(db, by, { userId, kind: 'password_reset', now: NOW });
const reset = async (by: Actor, user: Actor) => orThrow(await tryReset(by, user)).link;
const set = (token: string, { password = NEW, now = NOW } = {}) =>
  setPassword(db, { token, password, auditSource: newAuditSource(), now });

test('an invitation link sets the first password once, within 72 hours, and does not sign in', async () => {
  const { manager } = await people();
  const email = `${crypto.randomUUID()}@example.test`;
  const { link } = orThrow(await inviteUser(db, manager, { email, name: 'Mei', role: 'viewer', now: NOW }));
  expect(link).toMatchObject({ kind: 'invitation', email, name: 'Mei', expiresAt: after(72 * 60) });
  expect(await openLink(db, link.token, after(72 * 60 - 1))).toEqual({
    kind: 'invitation',
    email,
    name: 'Mei',
    organizationId: manager.scope.organizationId,
    organizationName: 'Test',
    passwordCharacters: 15,
    singleSignOn: 'no',
  });
  expect(await openLink(db, link.token, after(72 * 60))).toBeNull();
  expect(await signIn(db, { email, password: NEW, auditSource: newAuditSource() })).toEqual({ kind: 'wrong' });
  expect(await set(link.token)).toEqual({ kind: 'done' });
  expect(await signIn(db, { email, password: NEW, auditSource: newAuditSource() })).toMatchObject({
    kind: 'signed-in',
  });
  expect(await codeOf(set(link.token))).toBe('dead-link');
});

test('the database stores no token that opens a link', async () => {
  // The attack: reading tokens in a backup to open the links.
  const { administrator, member } = await people();
  const { token } = await reset(administrator, member);
  const [row] = await db.prisma.accessLink.findMany({ where: { userId: member.userId } });
  expect(Buffer.from(row?.tokenHash ?? [])).toEqual(hashToken(token));
  for (const form of ['hex', 'base64url'] as const)
    expect(await openLink(db, Buffer.from(row?.tokenHash ?? []).toString(form), NOW)).toBeNull();
});

test('20 concurrent uses of one link set one password', async () => {
  // The race: somebody else who reads the mail uses the link at the same moment as its owner.
  const { administrator, member } = await people();
  const { token } = await reset(administrator, member);
  const outcomes = await times(20, (i) => codeOf(set(token, { password: `${NEW} ${i}` })));
  expect(outcomes.filter((each) => each === 'done')).toHaveLength(1);
  expect(outcomes.filter((each) => each === 'dead-link')).toHaveLength(19);
});

test('a reset link keeps the old password valid until it is used, then ends every session and every other link', async () => {
  const { administrator, member } = await people();
  const session = await signInAs(db, member, { now: NOW });
  const { token, expiresAt } = await reset(administrator, member);
  expect(expiresAt).toEqual(after(60));
  expect(await isSignedIn(db, session, NOW)).toBe(true);
  expect(await outcomeOf(set(token, { password: 'short' }))).toMatch(/^invalid: password must be at least 15/);
  expect(await openLink(db, token, NOW)).not.toBeNull();
  await set(token);
  expect(await isSignedIn(db, session, NOW)).toBe(false);
  expect(await signIn(db, { email: member.email, password: PASSWORD, auditSource: newAuditSource() })).toEqual({
    kind: 'wrong',
  });
});

test('a second link invalidates the first', async () => {
  const { administrator, member } = await people();
  const [first, second] = [await reset(administrator, member), await reset(administrator, member)];
  expect(await openLink(db, first.token, NOW)).toBeNull();
  expect(await openLink(db, second.token, NOW)).not.toBeNull();
});

test('a password reset keeps the second factor', async () => {
  // The attack: a person who reads the mail gets around the second factor.
  const { administrator, member } = await people();
  await addSecondFactor(db, member, NOW);
  const { token } = await reset(administrator, member);
  expect((await openLink(db, token, NOW))?.passwordCharacters).toBe(12);
  await set(token, { password: 'mauve otters' });
  const result = await signIn(db, {
    email: member.email,
    password: 'mauve otters',
    auditSource: newAuditSource(),
    now: NOW,
  });
  expect(result.kind).toBe('second-factor');
});

test('a manager makes links only for viewers and members, a member for nobody, and no role for another organization', async () => {
  // The attack: posting the form for a member’s reset with an administrator’s id.
  const { administrator, manager, member } = await people();
  const foreign = await createAccount(db, { role: 'viewer' });
  expect(await codeOf(tryReset(manager, member))).toBe('done');
  expect(await codeOf(tryReset(manager, administrator))).toBe('forbidden');
  expect(await codeOf(tryReset(manager, manager))).toBe('forbidden');
  expect(await codeOf(tryReset(member, member))).toBe('forbidden');
  // The attack: somebody uses an administrator's unattended browser without knowing the password.
  expect(await outcomeOf(tryReset(administrator, administrator))).toContain('Change your own password');
  for (const userId of [foreign.userId, NOBODY, "'; drop table users --"]) {
    const outcome = await outcomeOf(createLink(db, administrator, { userId, kind: 'password_reset' }));
    expect(outcome).toBe('not_found: There is no such user.');
    expect(await codeOf(createLink(db, member, { userId, kind: 'password_reset' }))).toBe('forbidden');
  }
});

test('promoting a user above the maker of a link invalidates the link', async () => {
  // The attack: a manager keeps a member’s reset link until the member is an administrator.
  const { administrator, manager, member } = await people();
  const { token } = await reset(manager, member);
  orThrow(await changeRole(db, administrator, { userId: member.userId, role: 'administrator' }));
  expect(await openLink(db, token, NOW)).toBeNull();
  expect(await codeOf(set(token))).toBe('dead-link');
});

test('demoting or deactivating the maker of a link invalidates the link', async () => {
  // The attack: a manager makes links shortly before being dismissed.
  const { administrator, manager, member } = await people();
  const { token } = await reset(manager, member);
  orThrow(await changeRole(db, administrator, { userId: manager.userId, role: 'member' }));
  expect(await codeOf(set(token))).toBe('dead-link');
  orThrow(await changeRole(db, administrator, { userId: manager.userId, role: 'manager' }));
  expect(await openLink(db, token, NOW)).not.toBeNull();
  orThrow(await deactivateUser(db, administrator, { userId: manager.userId }));
  expect(await codeOf(set(token))).toBe('dead-link');
});

test('deactivation invalidates the links, and reactivation does not restore them', async () => {
  const { administrator, member } = await people();
  const { token } = await reset(administrator, member);
  orThrow(await deactivateUser(db, administrator, { userId: member.userId }));
  expect(await codeOf(tryReset(administrator, member))).toBe('conflict');
  expect(await openLink(db, token, NOW)).toBeNull();
  orThrow(await reactivateUser(db, administrator, { userId: member.userId }));
  expect(await openLink(db, token, NOW)).toBeNull();
});

test('a link of the wrong kind is a conflict that names the right kind', async () => {
  const { administrator, member } = await people();
  const given = { userId: member.userId, kind: 'invitation' } as const;
  expect(await outcomeOf(createLink(db, administrator, given))).toContain('Make a reset link instead.');
  await db.prisma.user.updateMany({ where: { id: member.userId }, data: { passwordHash: null } });
  expect(await outcomeOf(tryReset(administrator, member))).toContain('Make an invitation link instead.');
});

test('the operator gets an invitation for the first administrator, and a reset link for one who forgot the password', async () => {
  const administrator = await createAccount(db, { role: 'administrator' });
  const make = async (email: string) => {
    const { scope, userId } = await getUserByEmailOrId(db, email);
    return createOperatorLink(db, scope, { userId });
  };
  expect(await make(administrator.email.toUpperCase())).toMatchObject({ kind: 'password_reset' });
  await db.prisma.user.updateMany({ where: { id: administrator.userId }, data: { passwordHash: null } });
  const { token } = await make(administrator.userId);
  orThrow(await setPassword(db, { token, password: NEW, auditSource: newAuditSource() }));
  expect(await codeOf(make('nobody@example.test'))).toBe('not_found');
});

test('changing the password ends every session, continues under a new token, and invalidates links', async () => {
  // The attack: using a copied cookie after the owner has changed the password to make the cookie useless.
  const { administrator, member } = await people();
  const sessions = [await signInAs(db, member, { now: NOW }), await signInAs(db, member, { now: NOW })];
  const link = await reset(administrator, member);
  const change = { password: NEW, token: sessions[0] ?? '', now: NOW };
  expect(await outcomeOf(changePassword(db, member, { ...change, password: 'short' }))).toContain('at least 15');
  const { token } = orThrow(await changePassword(db, member, change));
  for (const session of sessions) expect(await isSignedIn(db, session, NOW)).toBe(false);
  expect(await isSignedIn(db, token, NOW)).toBe(true);
  expect(await openLink(db, link.token, NOW)).toBeNull();
  expect(await codeOf(changePassword(db, member, change))).toBe('forbidden');
});

test('housekeeping deletes only expired links', async () => {
  const { administrator, member, manager } = await people();
  const [old, open] = [
    await reset(administrator, member),
    orThrow(await createLink(db, administrator, { userId: manager.userId, kind: 'password_reset', now: after(30) }))
      .link,
  ];
  await deleteExpiredAccessLinks(db, { now: after(61) });
  expect(await db.prisma.accessLink.count({ where: { userId: old.userId } })).toBe(0);
  expect(await openLink(db, open.token, after(61))).not.toBeNull();
});
