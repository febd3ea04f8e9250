import type { Actor } from '../../../src/domain/audit/actor.ts';
import type { Role } from '../../../src/domain/people/role.ts';
import {
  changeEmailOf,
  getUserByEmailOrId,
  removeUser,
  resetSecondFactorOf,
} from '../../../src/service/operator/users.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { createOperatorLink, openLink, setPassword } from '../../../src/service/people/access-links.ts';
import { reactivateUser } from '../../../src/service/people/change-user.ts';
import { correctEmail, inviteUser, withdrawInvitation } from '../../../src/service/people/invitations.ts';
import { takeBackInvitations } from '../../../src/service/sign-in/verified-domains.ts';
import { createAccount, giveDomain, newAuditSource, PASSWORD } from '../../support/data/accounts.ts';
import { codeOf, createPeople, giveKey, listAuditEventsOf, outcomeOf, times } from '../../support/data/actors.ts';
import { useDatabase } from '../../support/postgres/store.ts';

const { db } = await useDatabase();

const newDomain = () => `${crypto.randomUUID()}.example`;
const newEmail = () => `ceo@${newDomain()}`;
const invite = (by: Actor, email: string, role: Role = 'viewer') => inviteUser(db, by, { email, name: 'Mei', role });
const invited = async (by: Actor, email: string) => orThrow(await invite(by, email)).link;
const accept = (token: string) => setPassword(db, { token, password: PASSWORD, auditSource: newAuditSource() });
const rowsWith = (email: string) => db.prisma.user.findMany({ where: { email }, orderBy: { createdAt: 'asc' } });

const OF_OTHERS = 'is of a domain that another organization has verified, so only that organization can invite it.';

describe('the e-mails of a domain that an organization has verified', () => {
  // The attack: a manager of another organization invites the people of a company before the company does.
  test.each([
    (domain: string) => `ceo@${domain}`,
    (domain: string) => `CEO@${domain.toUpperCase()}`,
    (domain: string) => `ceo@${domain}.`,
    (domain: string) => `ceo@${domain.replace('.example', '．ｅxample')}`,
  ])('cannot be invited elsewhere (%#)', async (write) => {
    const [owner, other] = [await createPeople(db), await createPeople(db)];
    const domain = newDomain();
    await giveDomain(db, owner.scope, domain);
    const before = await invited(other.manager, newEmail());
    for (const refused of [
      invite(other.manager, write(domain)),
      correctEmail(db, other.manager, { userId: before.userId, email: write(domain) }),
    ])
      expect(await outcomeOf(refused)).toContain(`invalid: email ${OF_OTHERS}`);
    await expect(changeEmailOf(db, other.viewer.userId, { email: write(domain) })).rejects.toThrow(/has verified/);
    expect(await codeOf(invite(owner.manager, write(domain)))).toBe('done');
  });

  test('are taken back from everybody elsewhere who never accepted, and from nobody else', async () => {
    const [owner, other] = [await createPeople(db), await createPeople(db)];
    const domain = newDomain();
    const [never, withKey, accepted] = [
      await invited(other.manager, `never@${domain}`),
      await invited(other.manager, `with-key@${domain}`),
      await invited(other.manager, `accepted@${domain}`),
    ];
    const { key } = await giveKey(db, { ...other.viewer, userId: withKey.userId });
    orThrow(await accept(accepted.token));
    await giveDomain(db, owner.scope, domain);
    for (const _ of ['verified', 'repeated']) await takeBackInvitations(db, owner.scope, domain);
    expect(await rowsWith(never.email)).toEqual([]);
    expect([await openLink(db, never.token), await openLink(db, withKey.token)]).toEqual([null, null]);
    // A user with a key is kept, because the key belongs to the other organization.
    expect(key).toBeDefined();
    expect(await db.prisma.apiKey.count({ where: { userId: withKey.userId, revokedAt: null } })).toBe(1);
    const events = (await listAuditEventsOf(db, other)).filter(({ action }) => action === 'user.invitation_taken_back');
    const why = 'another organization has verified the domain';
    expect(events.map(({ actorUserId, targetUserId, detail }) => [actorUserId, targetUserId, detail])).toEqual([
      [null, never.userId, { name: 'Mei', email: never.email, why }],
      [null, withKey.userId, { name: 'Mei', email: withKey.email, why }],
    ]);
    for (const { email } of [never, withKey])
      expect(await codeOf(accept((await invited(owner.manager, email)).token))).toBe('done');
    expect(await codeOf(accept((await invited(owner.manager, accepted.email)).token))).toBe('conflict');
  });

  test('cannot be accepted elsewhere, whenever they were invited', async () => {
    // The race: an invitation is committed while another organization verifies the domain. A moved organization can also bring such
    // an invitation with it.
    const [owner, other] = [await createPeople(db), await createPeople(db)];
    const domain = newDomain();
    const { token } = await invited(other.manager, `late@${domain}`);
    await giveDomain(db, owner.scope, domain);
    expect(await outcomeOf(accept(token))).toContain(OF_OTHERS);
  });
});

describe('an e-mail that has an account elsewhere', () => {
  test('is invited like any other, and only its owner learns it', async () => {
    // The attack: learning from invitations which customers exist and who works for them.
    const { administrator } = await createPeople(db);
    const known = await createAccount(db);
    const [ofKnown, ofUnknown] = [
      await invite(administrator, known.email.toUpperCase()),
      await invite(administrator, newEmail()),
    ];
    const same = { kind: 'link-made', link: { kind: 'invitation', hasAccepted: false } };
    expect([ofKnown, ofUnknown]).toMatchObject([same, same]);
    expect(Object.keys(ofKnown)).toEqual(Object.keys(ofUnknown));
    expect(await outcomeOf(accept(orThrow(ofKnown).link.token))).toMatch(
      /^conflict: .* has an account in another organization/,
    );
    expect(await codeOf(accept(orThrow(ofUnknown).link.token))).toBe('done');
    // The owner still has the account.
    expect(await getUserByEmailOrId(db, known.email)).toMatchObject({ userId: known.userId });
  });

  test('belongs to the first who accepts, of ten who were invited', async () => {
    const email = newEmail();
    const links = await Promise.all(
      Array.from({ length: 10 }, async () => invited((await createPeople(db)).administrator, email)),
    );
    const outcomes = await Promise.all(links.map(({ token }) => codeOf(accept(token))));
    expect(outcomes.toSorted()).toEqual([...Array(9).fill('conflict'), 'done']);
    expect((await rowsWith(email)).filter(({ hasAccepted }) => hasAccepted)).toHaveLength(1);
  });
});

test('in one organization an e-mail can be invited once, also by ten at a time', async () => {
  const { administrator, member } = await createPeople(db);
  expect(await outcomeOf(invite(administrator, member.email))).toBe(
    `conflict: A user of your organization has the e-mail ${member.email} already. Use another one.`,
  );
  const email = newEmail();
  const outcomes = await times(10, () => codeOf(invite(administrator, email)));
  expect(outcomes.toSorted()).toEqual([...Array(9).fill('conflict'), 'done']);
});

test('an e-mail is corrected, and an invitation withdrawn, by those who may manage the user, until it is accepted', async () => {
  const people = await createPeople(db);
  const { administrator, manager, member, viewer } = people;
  const outcomesOf = async (target: Role) => {
    const outcomes = [];
    for (const by of [viewer, member, manager, administrator]) {
      const { userId } = orThrow(await invite(administrator, newEmail(), target)).link;
      const corrected = await codeOf(correctEmail(db, by, { userId, email: newEmail() }));
      outcomes.push([corrected, await codeOf(withdrawInvitation(db, by, { userId }))].join(' '));
    }
    return outcomes;
  };
  const [no, yes] = ['forbidden forbidden', 'done done'];
  expect(await outcomesOf('viewer')).toEqual([no, no, yes, yes]);
  expect(await outcomesOf('manager')).toEqual([no, no, no, yes]);
  const { userId, token } = await invited(administrator, newEmail());
  orThrow(await accept(token));
  expect(await codeOf(correctEmail(db, administrator, { userId, email: newEmail() }))).toBe('conflict');
  expect(await codeOf(withdrawInvitation(db, administrator, { userId }))).toBe('conflict');
});

test('a corrected e-mail gets a new link, the former link is void, and the audit log says who did it', async () => {
  const { administrator, manager } = await createPeople(db);
  const [wrong, right] = [newEmail(), newEmail()];
  const former = await invited(administrator, wrong);
  const { userId } = former;
  const same = correctEmail(db, manager, { userId, email: wrong.toUpperCase() });
  expect(await outcomeOf(same)).toContain('invalid: email must differ from the present one.');
  const { link } = orThrow(await correctEmail(db, manager, { userId, email: right.toUpperCase() }));
  expect(link).toMatchObject({ email: right, kind: 'invitation', userId });
  expect(await openLink(db, former.token)).toBeNull();
  expect(await openLink(db, link.token)).toMatchObject({ email: right });
  orThrow(await withdrawInvitation(db, administrator, { userId }));
  expect([await openLink(db, link.token), await rowsWith(right)]).toEqual([null, []]);
  const events = (await listAuditEventsOf(db, administrator)).slice(-2);
  expect(events).toMatchObject([
    {
      action: 'user.email_changed',
      actorUserId: manager.userId,
      targetUserId: userId,
      detail: { from: wrong, to: right },
    },
    {
      action: 'user.invitation_withdrawn',
      actorUserId: administrator.userId,
      targetUserId: userId,
      detail: { email: right },
    },
  ]);
});

test('an invited user with a key is deactivated instead of withdrawn, so that the history of the key stays', async () => {
  const { administrator, viewer } = await createPeople(db);
  const { userId } = await invited(administrator, newEmail());
  await giveKey(db, { ...viewer, userId });
  expect(await outcomeOf(withdrawInvitation(db, administrator, { userId }))).toContain('Deactivate the user instead.');
});

describe('an operator', () => {
  test('changes the e-mail of anybody, with whom the password stays', async () => {
    const { member } = await createPeople(db);
    const account = await createAccount(db);
    const email = newEmail();
    await expect(changeEmailOf(db, account.email, { email: member.email })).rejects.toMatchObject({ code: 'conflict' });
    expect(await changeEmailOf(db, account.email, { email: email.toUpperCase() })).toEqual({
      from: account.email,
      to: email,
    });
    expect(await rowsWith(email)).toMatchObject([{ id: account.userId, passwordHash: expect.any(String) }]);
    expect((await listAuditEventsOf(db, account)).at(-1)).toMatchObject({
      action: 'user.email_changed',
      actorUserId: null,
    });
  });

  test.each([
    ['whom nothing names', false],
    ['whose key is in the history', true],
  ])('removes a user %s, and the e-mail is free', async (_, hasKey) => {
    const { administrator, member } = await createPeople(db);
    if (hasKey) await giveKey(db, member);
    const removed = await removeUser(db, member.email);
    expect(removed).toEqual({ email: member.email, keysRevoked: hasKey ? 1 : 0, isDeleted: !hasKey });
    const [row] = await db.prisma.user.findMany({ where: { id: member.userId } });
    if (hasKey) expect(row).toMatchObject({ deactivatedAt: expect.any(Date), passwordHash: null, hasAccepted: false });
    expect(row !== undefined).toBe(hasKey);
    if (hasKey) {
      const why = 'An operator has removed the account';
      expect(await outcomeOf(reactivateUser(db, administrator, member))).toContain(why);
      for (const attempt of [
        changeEmailOf(db, member.userId, { email: newEmail() }),
        createOperatorLink(db, member.scope, member),
        resetSecondFactorOf(db, member.userId),
      ])
        await expect(attempt).rejects.toThrow(why);
    }
    const actions = (await listAuditEventsOf(db, administrator)).map(({ action }) => action);
    expect(actions).toEqual(hasKey ? ['key.created', 'key.revoked', 'user.removed'] : ['user.removed']);
    const { token } = await invited((await createPeople(db)).administrator, member.email);
    expect(await codeOf(accept(token))).toBe('done');
  });

  test('cannot remove the last administrator, and names the choices where several organizations have invited an e-mail', async () => {
    const { scope } = await createAccount(db, { role: 'viewer' });
    const last = await createAccount(db, { role: 'administrator', scope });
    await expect(removeUser(db, last.userId)).rejects.toThrow(/last administrator/);
    const email = newEmail();
    const links = [];
    for (const _ of [1, 2]) links.push(await invited((await createPeople(db)).administrator, email));
    await expect(getUserByEmailOrId(db, email)).rejects.toThrow(
      new RegExp(`ids: ${links[0]?.userId} .*, ${links[1]?.userId} `),
    );
    expect(await removeUser(db, links[0]?.userId ?? '')).toMatchObject({ email, isDeleted: true });
    expect(await getUserByEmailOrId(db, email)).toMatchObject({ userId: links[1]?.userId });
  });
});
