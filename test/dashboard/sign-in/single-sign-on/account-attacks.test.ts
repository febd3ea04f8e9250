import type { Actor } from '../../../../src/domain/audit/actor.ts';
import { orThrow } from '../../../../src/service/outcome.ts';
import { createOwnLinks } from '../../../../src/service/people/access-links.ts';
import { inviteUser } from '../../../../src/service/people/invitations.ts';
import { type Browser, type Page, wordsOf } from '../../../support/dashboard/dashboard.ts';
import { addSecondFactor, codeAt, createAccount, newAuditSource, PASSWORD } from '../../../support/data/accounts.ts';
import { untilWaiting, withClient } from '../../../support/postgres/postgres.ts';
import { beginWith, urlIn, useCompanies } from '../../../support/providers/companies.ts';
import { startIdentityProvider, type TestPerson } from '../../../support/providers/identity-provider.ts';

const { dashboard, db, provider, company, newBrowser, isIn, signIn, expectNobody } = await useCompanies();

describe('the e-mail', () => {
  /** Returns a person at the provider to whom no account is linked. */
  const stranger = (email: unknown, more: object = {}) => ({ sub: crypto.randomUUID(), email, ...more });

  test.each([false, 'false', 0, null, 'yes', {}])('is nobody’s if it is not verified (%j)', async (email_verified) => {
    // Some providers send "false" as a string. The attack: using an unverified e-mail address where a string counts as true.
    const { member, administrator } = await company({ rules: { newPeople: 'member' } });
    const browser = newBrowser();
    const page = await signIn(browser, member.email, stranger(administrator.email, { email_verified }));
    await expectNobody(browser, page, 403);
  });

  test.each([
    ['verified there', { email_verified: true }, {}, 303],
    [
      'verified there, although the ID token says that it is not',
      { email_verified: true },
      { email_verified: false },
      303,
    ],
    ['not verified there', { email_verified: false }, {}, 403],
    [
      'not verified there, although the ID token says that it is',
      { email_verified: false },
      { email_verified: true },
      403,
    ],
    ['of another person', { email_verified: true, sub: 'another' }, {}, 502],
  ])('of the UserInfo endpoint counts as that endpoint says: %s', async (_, more, claims, status) => {
    await using at = await startIdentityProvider();
    at.metadata = { userinfo_endpoint: `${at.issuer}/userinfo` };
    const { member, domain } = await company({ rules: { newPeople: 'member' }, at });
    const [browser, sub, email] = [newBrowser(), crypto.randomUUID(), `new@${domain}`];
    at.override = (res, path) => {
      if (path !== '/userinfo') return false;
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ sub, email, ...more }));
      return true;
    };
    const page = await browser.get(at.authorize(await beginWith(browser, member.email), { sub, ...claims }));
    expect([page.status, await db.prisma.user.count({ where: { email } })]).toEqual([status, status === 303 ? 1 : 0]);
  });

  test('and the groups are asked for at the UserInfo endpoint if the ID token has the e-mail alone', async () => {
    // GitLab's ID tokens contain no groups, only the e-mail address. The risk: somebody who has left the group stays a manager.
    await using at = await startIdentityProvider();
    at.metadata = { userinfo_endpoint: `${at.issuer}/userinfo` };
    const rules = { newPeople: 'viewer', groupsClaim: 'groups', groupRoles: 'leads = manager' };
    const { member, domain } = await company({ rules, at });
    const email = `gitlab@${domain}`;
    const come = async (status: number, more: object, sub = 'gitlab') => {
      at.override = (res, path) => {
        if (path !== '/userinfo') return false;
        res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ sub, ...more }));
        return true;
      };
      const browser = newBrowser();
      const page = await browser.get(at.authorize(await beginWith(browser, member.email), { sub, email }));
      const user = await db.prisma.user.findFirst({ where: { email } });
      return [page.status, user?.name, user?.role];
    };
    expect(await come(200, { email, email_verified: false, groups: ['leads'] })).toEqual([403, undefined, undefined]);
    expect(await come(200, { name: 'Gil Lab', groups: ['leads'] })).toEqual([303, 'Gil Lab', 'manager']);
    expect(await come(200, {})).toEqual([303, 'Gil Lab', 'manager']);
    const { id: targetUserId } = await db.prisma.user.findFirstOrThrow({ where: { email } });
    const events = await db.prisma.auditEvent.findMany({
      where: { action: 'user.signed_in', targetUserId },
      orderBy: { id: 'asc' },
    });
    const by = 'single sign-on';
    expect(events.map(({ detail }) => detail)).toEqual([{ by }, { by, groups: 'not sent' }]);
    expect(await come(500, {})).toEqual([502, 'Gil Lab', 'manager']);
    expect(await come(200, { groups: [] })).toEqual([303, 'Gil Lab', 'viewer']);
  });

  test.each([
    ['another domain', 'ada@elsewhere.example'],
    ['a subdomain', 'ada@sub.DOMAIN'],
    ['a domain that ends alike', 'ada@evil-DOMAIN'],
    ['two addresses', 'ada@elsewhere.example, ada@DOMAIN'],
    ['a quoted address', '"ada@DOMAIN"@elsewhere.example'],
    ['a domain within a domain', 'ada@DOMAIN.elsewhere.example'],
    ['no address', 'ada'],
    ['a list', ['ada@DOMAIN']],
    ['nothing', undefined],
  ])('gives nobody an account if it is of %s', async (_, email) => {
    const { member, domain } = await company({ rules: { newPeople: 'member' } });
    const browser = newBrowser();
    const text = JSON.stringify(email)?.replaceAll('DOMAIN', domain);
    const page = await signIn(browser, member.email, stranger(text === undefined ? undefined : JSON.parse(text)));
    await expectNobody(browser, page, 403);
    const emails = await db.prisma.user.count({ where: { email: { contains: 'elsewhere.example' } } });
    expect(emails).toBe(0);
  });

  test('of a user of another organization opens nothing, and does not reveal the user', async () => {
    const mine = await company({ rules: { newPeople: 'member' } });
    const theirs = await createAccount(db);
    const email = `taken@${mine.domain}`;
    await db.prisma.user.updateMany({ where: { id: theirs.userId }, data: { email } });
    const other = await company();
    const words = [];
    for (const [at, from] of [
      [email, mine],
      [`nobody@${other.domain}`, other],
    ] as const) {
      const browser = newBrowser();
      const page = await signIn(browser, from.member.email, stranger(at));
      await expectNobody(browser, page, 403);
      words.push(wordsOf(page));
    }
    expect(words[0]).toBe(words[1]);
    expect((await db.prisma.user.findFirst({ where: { email } }))?.organizationId).toBe(theirs.scope.organizationId);
  });

  test('of an administrator, which somebody has chosen at the provider, opens nothing without the password', async () => {
    const { member, administrator } = await company({ rules: { newPeople: 'member' } });
    const browser = newBrowser();
    const page = await signIn(browser, member.email, stranger(administrator.email));
    const path = page.headers['location'] ?? '';
    expect([page.status, path]).toEqual([303, expect.stringMatching(/\/confirm\//)]);
    expect(await isIn(browser)).toBe(false);
    await expectNobody(browser, await browser.submit(path, { password: 'wrong' }), 422);
    await expectNobody(browser, await browser.submit(path, { password: '' }), 422);
  });

  test('that has changed at the provider changes nothing here', async () => {
    const { member, person, administrator } = await company();
    const browser = newBrowser();
    expect((await signIn(browser, member.email, { ...person, email: administrator.email })).status).toBe(303);
    expect(wordsOf(await browser.get('/profile'))).toContain(member.email);
  });

  test('of a linked user does not link another person, who got it later', async () => {
    const { member } = await company();
    const browser = newBrowser();
    await expectNobody(browser, await signIn(browser, member.email, stranger(member.email)), 403);
  });

  test('of a deactivated user opens nothing, linked or not', async () => {
    const { member, person, administrator } = await company({ rules: { newPeople: 'member' } });
    const other = await createAccount(db, { scope: administrator.scope });
    const email = `former@${member.email.split('@')[1]}`;
    await db.prisma.user.updateMany({ where: { id: other.userId }, data: { email } });
    const ids = [member.userId, other.userId];
    await db.prisma.user.updateMany({ where: { id: { in: ids } }, data: { deactivatedAt: new Date() } });
    const browser = newBrowser();
    await expectNobody(browser, await signIn(browser, member.email, person), 403);
    await expectNobody(browser, await signIn(browser, member.email, stranger(email)), 403);
  });
});

describe('the confirmation', () => {
  async function toConfirm() {
    const found = await company();
    const browser = newBrowser();
    const { email } = found.administrator;
    const page = await signIn(browser, found.member.email, { sub: crypto.randomUUID(), email });
    return { ...found, browser, path: page.headers['location'] ?? '' };
  }

  test('links and signs in with the right password, once', async () => {
    const { browser, path, administrator } = await toConfirm();
    const form = await browser.form(path);
    const fields = { ...Object.fromEntries(form.fields), password: PASSWORD };
    expect((await browser.post(path, fields)).headers['location']).toBe('/profile');
    expect(wordsOf(await browser.get('/profile'))).toContain(administrator.email);
    browser.cookies.delete('charter');
    await expectNobody(browser, await browser.post(path, fields), 400);
  });

  test('works only in the browser that signed in at the provider', async () => {
    const { path } = await toConfirm();
    const other = newBrowser();
    const form = await other.form('/sign-in');
    expect((await other.get(path)).status).toBe(400);
    const page = await other.post(path, { form_token: new Map(form.fields).get('form_token'), password: PASSWORD });
    await expectNobody(other, page, 400);
  });

  test('needs the second factor, too', async () => {
    const { browser, path, administrator } = await toConfirm();
    const now = dashboard.now();
    const { uri } = await addSecondFactor(db, administrator, now);
    await expectNobody(browser, await browser.submit(path, { password: PASSWORD, code: '000000' }), 422);
    await expectNobody(browser, await browser.submit(path, { password: PASSWORD }), 422);
    const page = await browser.submit(path, { password: PASSWORD, code: codeAt(uri, now) });
    expect(page.headers['location']).toBe('/profile');
  });

  test('is limited like a sign-in', async () => {
    const { browser, path } = await toConfirm();
    for (let i = 0; i < 10; i += 1) expect((await browser.submit(path, { password: 'wrong' })).status).toBe(422);
    await expectNobody(browser, await browser.submit(path, { password: PASSWORD }), 429);
  });

  test('ends after ten minutes, and with the connection', async () => {
    const { browser, path } = await toConfirm();
    const form = await browser.form(path);
    dashboard.passMinutes(10);
    await expectNobody(
      browser,
      await browser.post(path, { ...Object.fromEntries(form.fields), password: PASSWORD }),
      400,
    );
  });

  test('by an invitation takes the invited person only', async () => {
    // The attack: somebody who finds a colleague's link signs in at the provider with their own account.
    const { administrator, domain } = await company();
    const email = `invited@${domain}`;
    const { link } = orThrow(await inviteUser(db, administrator, { email, name: 'Invited', role: 'manager' }));
    const browser = newBrowser();
    expect(wordsOf(await browser.get(`/welcome/${link.token}`))).toContain('Continue with single sign-on');
    const begin = async () => {
      const page = await browser.submit(`/welcome/${link.token}`, {}, `/welcome/${link.token}/single-sign-on`);
      return /^0; url=(.*)$/.exec(page.headers['refresh'] ?? '')?.[1] ?? '';
    };
    const thief = { sub: crypto.randomUUID(), email: administrator.email };
    const page = await browser.get(provider.authorize(await begin(), thief));
    expect(page.headers['location']).toMatch(/\/confirm\//);
    expect(await isIn(browser)).toBe(false);
    const invited = { sub: crypto.randomUUID(), email };
    expect((await browser.get(provider.authorize(await begin(), invited))).headers['location']).toBe('/profile');
    expect(wordsOf(await browser.get('/profile'))).toContain(email);
    const made = await db.prisma.user.findFirst({ where: { email } });
    expect(made).toMatchObject({ role: 'manager', passwordHash: null });
    // The link has been used, so it no longer works.
    expect((await newBrowser().get(`/welcome/${link.token}`)).status).toBe(404);
  });
});

describe('an access link', () => {
  /** Starts a sign-in from the link, and returns the page after the provider's response. */
  async function comeBack(browser: Browser, token: string, person: TestPerson): Promise<Page> {
    const page = await browser.submit(`/welcome/${token}`, {}, `/welcome/${token}/single-sign-on`);
    return browser.get(provider.authorize(urlIn(page) ?? '', person));
  }

  async function reset({ email }: Actor): Promise<string> {
    const [link] = await createOwnLinks(db, { email, auditSource: newAuditSource(), now: dashboard.now() });
    if (link === undefined) throw new Error(`${email} gets no link.`);
    return link.token;
  }

  /**
   * Sends a reset link to an account with a second factor. Opens the link as somebody who has the account's e-mail address at the
   * provider, and who must then confirm the account.
   */
  async function resetWithStranger() {
    const { administrator } = await company();
    const { uri } = await addSecondFactor(db, administrator, dashboard.now());
    const token = await reset(administrator);
    const browser = newBrowser();
    const stranger = { sub: crypto.randomUUID(), email: administrator.email };
    const path = (await comeBack(browser, token, stranger)).headers['location'] ?? '';
    return { administrator, uri, token, browser, path };
  }

  test('does not replace the second factor of the account', async () => {
    // The attack: somebody who reads the mailbox gets a reset link, and an account at the provider with the mailbox's address.
    const { administrator, uri, token, browser, path } = await resetWithStranger();
    expect(path).toMatch(/\/confirm\//);
    const asked = await browser.get(path);
    expect([asked.text.includes('name="password"'), asked.text.includes('name="code"')]).toEqual([false, true]);
    for (const code of ['', '000000']) await expectNobody(browser, await browser.submit(path, { code }), 422);
    expect(await db.prisma.ssoIdentity.count({ where: { userId: administrator.userId } })).toBe(0);
    // The owner has the code, so the link signs the owner in. The link can be used only once.
    const page = await browser.submit(path, { code: codeAt(uri, dashboard.now()) });
    expect([page.headers['location'], await isIn(browser)]).toEqual(['/profile', true]);
    expect((await newBrowser().get(`/welcome/${token}`)).status).toBe(404);
  });

  test('confirms nothing once its user has a role that its maker cannot manage', async () => {
    // The race: a manager has made a link for a user who becomes an administrator while the link is being used.
    const { administrator, domain } = await company();
    const manager = await createAccount(db, { scope: administrator.scope, role: 'manager' });
    const email = `invited@${domain}`;
    const { link } = orThrow(await inviteUser(db, manager, { email, name: 'Ida', role: 'member' }));
    const { id } = await db.prisma.user.findFirstOrThrow({ where: { email } });
    const browser = newBrowser();
    const response = await withClient(dashboard.databaseUrl, async (client) => {
      await client.query('begin');
      await client.query(`update users set role = 'administrator' where id = $1`, [id]);
      const coming = comeBack(browser, link.token, { sub: crypto.randomUUID(), email });
      await untilWaiting(client, 1);
      await client.query('commit');
      return coming;
    });
    expect(response.headers['location']).toMatch(/\/confirm\//);
    expect(await isIn(browser)).toBe(false);
    expect(await db.prisma.ssoIdentity.count({ where: { userId: id } })).toBe(0);
  });

  test('that was used meanwhile confirms nothing', async () => {
    const { administrator, uri, token, browser, path } = await resetWithStranger();
    const form = await browser.form(path);
    await newBrowser().submit(`/welcome/${token}`, { password: 'seven otters juggle 93 lanterns' });
    const fields = { ...Object.fromEntries(form.fields), code: codeAt(uri, dashboard.now()) };
    await expectNobody(browser, await browser.post(path, fields), 422);
    expect(await db.prisma.ssoIdentity.count({ where: { userId: administrator.userId } })).toBe(0);
  });

  test('is void once the account is linked, whatever confirmed it', async () => {
    // The attack: setting a password with an old link, because the provider cannot end a sign-in by password.
    const { administrator, domain } = await company();
    const email = `invited@${domain}`;
    const { link } = orThrow(await inviteUser(db, administrator, { email, name: 'Ida', role: 'member' }));
    const kept = await reset({ ...administrator, email });
    await comeBack(newBrowser(), link.token, { sub: crypto.randomUUID(), email });
    const other = await reset(administrator);
    const browser = newBrowser();
    const toConfirm = await signIn(browser, administrator.email, { sub: 'ada', email: administrator.email });
    await browser.submit(toConfirm.headers['location'] ?? '', { password: PASSWORD });
    expect(await isIn(browser)).toBe(true);
    for (const token of [kept, other]) expect((await newBrowser().get(`/welcome/${token}`)).status).toBe(404);
  });
});
