import { deleteExpired } from '../../../../src/observability/housekeeping.ts';
import { type Browser, type Page, wordsOf } from '../../../support/dashboard/dashboard.ts';
import { confirmationOf, giveProof } from '../../../support/dashboard/proof.ts';
import { createAccount, PASSWORD } from '../../../support/data/accounts.ts';
import { createActor, listAuditEventsOf } from '../../../support/data/actors.ts';
import { giveIntegration } from '../../../support/data/integrations.ts';
import { recordStatements } from '../../../support/postgres/statements.ts';
import { beginAtTile, beginWith, urlIn, useCompanies } from '../../../support/providers/companies.ts';
import type { Making } from '../../../support/providers/identity-provider.ts';
import { SILENT } from '../../../support/servers/server.ts';

const { dashboard, db, provider, company, newBrowser } = await useCompanies();

/** Signs in at the provider, without the browser's earlier session. */
async function signIn(
  browser: Browser,
  email: string,
  claims: Making['claims'] = {},
  sub: string = email,
): Promise<Page> {
  browser.cookies.delete('charter');
  return browser.get(provider.authorize(await beginWith(browser, email), { sub, email, ...claims }));
}

const userOf = (email: string) => db.prisma.user.findFirstOrThrow({ where: { email } });

describe('the sign-in', () => {
  test('asks for the e-mail first, and responds alike for every e-mail of a domain', async () => {
    // The attack: trying a list of e-mail addresses to learn which have an account.
    const { domain, administrator, scope } = await company();
    const gone = await createAccount(db, { scope });
    const former = `former@${domain}`;
    await db.prisma.user.updateMany({ where: { id: gone.userId }, data: { email: former, deactivatedAt: new Date() } });
    const told = [];
    for (const email of [administrator.email, former, `nobody@${domain}`]) {
      const browser = newBrowser();
      const form = await browser.form('/sign-in');
      let page: Page | undefined;
      const statements = await recordStatements(db, async () => {
        page = await browser.post('/sign-in', { ...Object.fromEntries(form.fields), email });
      });
      const url = new URL(urlIn(page ?? (await browser.get('/sign-in'))) ?? '');
      url.searchParams.sort();
      told.push({ status: page?.status, words: page && wordsOf(page), statements, to: [...url.searchParams.keys()] });
    }
    expect(told[0]).toMatchObject({ status: 200, words: expect.stringContaining('Sign in at your organization') });
    for (const other of told.slice(1)) expect(other).toEqual(told[0]);
  });

  test('asks for the password if the domain has no single sign-on', async () => {
    await company();
    const account = await createAccount(db);
    const pages = [];
    for (const email of [account.email, `${crypto.randomUUID()}@example.test`]) {
      const browser = newBrowser();
      expect(wordsOf(await browser.get('/sign-in'))).not.toContain('Password');
      const page = await browser.submit('/sign-in', { email });
      pages.push([page.status, wordsOf(page), urlIn(page)]);
    }
    expect(pages[1]).toEqual(pages[0]);
    const browser = newBrowser();
    expect((await browser.submit('/sign-in', { email: 'no e-mail' })).status).toBe(422);
    const page = await browser.submit('/sign-in', { email: account.email });
    const fields = /name="form_token" value="([^"]*)"/.exec(page.text);
    const sent = { form_token: fields?.[1], next: '/profile', email: account.email, password: PASSWORD };
    expect((await browser.post('/sign-in', sent)).headers['location']).toBe('/profile');
  });

  test('accepts a password where single sign-on is not required', async () => {
    const { administrator } = await company();
    const browser = newBrowser();
    expect(wordsOf(await browser.get('/sign-in?with=password'))).toContain('Password');
    const form = await browser.form('/sign-in?with=password', '/sign-in');
    const fields = { ...Object.fromEntries(form.fields), email: administrator.email, password: PASSWORD };
    expect((await browser.post('/sign-in', fields)).status).toBe(303);
  });
});

test('a tile of the provider leads to a page of the dashboard', async () => {
  const { administrator, scope } = await company({ rules: { newPeople: 'viewer' } });
  const browser = newBrowser();
  const hint = `new@${administrator.email.split('@')[1]}`;
  const start = `/single-sign-on/${scope.organizationId}/start?iss=${provider.issuer}&login_hint=${hint}&target_link_uri=/profile/api-keys`;
  const url = await beginAtTile(browser, start);
  expect(new URL(url).searchParams.get('login_hint')).toBe(hint);
  const back = await browser.get(provider.authorize(url, { sub: hint, email: hint }));
  expect([back.status, back.headers['location']]).toEqual([303, '/profile/api-keys']);
});

test('a person is linked once, and is found by the subject from then on', async () => {
  const { administrator } = await company();
  const browser = newBrowser();
  const toConfirm = await signIn(browser, administrator.email, {}, 'subject-1');
  expect((await browser.submit(toConfirm.headers['location'] ?? '', { password: PASSWORD })).status).toBe(303);
  const again = newBrowser();
  // The provider first sends no e-mail address, and then a different one.
  for (const email of [undefined, 'changed@elsewhere.example'])
    expect((await signIn(again, administrator.email, { email }, 'subject-1')).headers['location']).toBe('/profile');
  const events = await listAuditEventsOf(db, administrator);
  expect(events.filter(({ action }) => action === 'user.sso_linked')).toHaveLength(1);
  expect(events.filter(({ action }) => action === 'user.signed_in').map(({ detail }) => detail)).toEqual(
    Array.from({ length: 3 }, () => ({ by: 'single sign-on' })),
  );
});

describe('new people', () => {
  test('get no account by default', async () => {
    const { domain } = await company();
    expect((await signIn(newBrowser(), `new@${domain}`)).status).toBe(403);
    expect(await db.prisma.user.count({ where: { email: `new@${domain}` } })).toBe(0);
  });

  test.each(['viewer', 'member'] as const)('become a %s where the organization says so', async (newPeople) => {
    const { domain, administrator } = await company({ rules: { newPeople } });
    const email = `new@${domain}`;
    const browser = newBrowser();
    expect((await signIn(browser, email, { name: 'Nele Neu' })).headers['location']).toBe('/profile');
    expect(await userOf(email)).toMatchObject({ role: newPeople, name: 'Nele Neu', passwordHash: null });
    const actions = (await listAuditEventsOf(db, administrator)).map(({ action }) => action);
    expect(actions).toContain('user.created_by_sso');
    expect(wordsOf(await browser.get('/profile'))).toContain('Nele Neu');
  });

  test.each([
    ['a name that would break a line', 'Ada\nAdministrator', 'EMAIL'],
    ['no name', undefined, 'EMAIL'],
    ['a name that is no text', { first: 'Ada' }, 'EMAIL'],
    ['a name of 201 characters', 'a'.repeat(201), 'EMAIL'],
  ])('with %s are named after their e-mail', async (_, name, stored) => {
    const { domain } = await company({ rules: { newPeople: 'viewer' } });
    const email = `new@${domain}`;
    expect((await signIn(newBrowser(), email, { name })).status).toBe(303);
    expect((await userOf(email)).name).toBe(stored.replace('EMAIL', email));
  });

  test('who sign in twice at the same time get one account', async () => {
    const { domain } = await company({ rules: { newPeople: 'viewer' } });
    const email = `new@${domain}`;
    const pages = await Promise.all([newBrowser(), newBrowser()].map((browser) => signIn(browser, email)));
    expect(pages.map(({ status }) => status).filter((status) => status !== 303 && status !== 403)).toEqual([]);
    expect(await db.prisma.user.count({ where: { email } })).toBe(1);
  });
});

describe('groups', () => {
  const RULES = { newPeople: 'viewer', groupsClaim: 'groups', groupRoles: 'Team = member\nLeads = manager' };

  test('give the highest of their roles at each sign-in, and take it again', async () => {
    const { domain, administrator } = await company({ rules: RULES });
    const email = `new@${domain}`;
    const browser = newBrowser();
    const roles = [];
    for (const groups of [['Other'], ['Team', 'Leads'], ['Team'], 'Leads', [], undefined]) {
      expect((await signIn(browser, email, { groups })).status).toBe(303);
      roles.push((await userOf(email)).role);
    }
    expect(roles).toEqual(['viewer', 'manager', 'member', 'manager', 'viewer', 'viewer']);
    const changes = (await listAuditEventsOf(db, administrator)).filter(({ action }) => action === 'user.role_changed');
    expect(changes[0]?.detail).toEqual({ before: 'viewer', after: 'manager', by: 'single sign-on' });
  });

  test('end the other sessions of somebody whom they promote', async () => {
    const { domain } = await company({ rules: RULES });
    const email = `new@${domain}`;
    const [first, second] = [newBrowser(), newBrowser()];
    await signIn(first, email, { groups: [] });
    await signIn(second, email, { groups: ['Leads'] });
    expect([(await first.get('/profile')).status, (await second.get('/profile')).status]).toEqual([303, 200]);
  });

  test('never touch an administrator, nor make one', async () => {
    // The attack: creating a group or a claim with the name of the role.
    const { administrator, domain } = await company({ rules: { ...RULES, groupRoles: 'administrator = manager' } });
    const browser = newBrowser();
    const toConfirm = await signIn(browser, administrator.email, { groups: [], role: 'viewer' });
    await browser.submit(toConfirm.headers['location'] ?? '', { password: PASSWORD });
    expect((await userOf(administrator.email)).role).toBe('administrator');
    const email = `new@${domain}`;
    await signIn(newBrowser(), email, { groups: ['administrator'], role: 'administrator', roles: ['administrator'] });
    expect((await userOf(email)).role).toBe('manager');
  });

  test('do not let integrations lose their owner', async () => {
    const { domain, scope, administrator } = await company({ rules: RULES });
    const email = `new@${domain}`;
    await signIn(newBrowser(), email, { groups: ['Leads'] });
    const { id: userId } = await userOf(email);
    const integration = await giveIntegration(db, { ...administrator, userId, email, role: 'manager', scope });
    await signIn(newBrowser(), email, { groups: [] });
    const { ownerUserId, role } = await db.prisma.user.findFirstOrThrow({ where: { id: integration.id } });
    expect([ownerUserId, role, (await userOf(email)).role]).toEqual([userId, 'member', 'viewer']);
  });
});

test('somebody who signs in by single sign-on is active, and can be unlinked', async () => {
  const { domain, administrator } = await company({ rules: { newPeople: 'viewer' } });
  const email = `new@${domain}`;
  const browser = newBrowser();
  await signIn(browser, email);
  const { id } = await userOf(email);
  const admin = newBrowser();
  await admin.submit('/sign-in?with=password', { email: administrator.email, password: PASSWORD }, '/sign-in');
  const page = await admin.get(`/people/users/${id}`);
  expect(wordsOf(page)).toMatch(/Status Active.*Single sign-on Linked/);
  expect(wordsOf(await admin.get('/people/users?state=invited'))).not.toContain(email);
  const unlinked = await admin.submit(`/people/users/${id}`, {}, `/people/users/${id}/unlink`);
  expect(wordsOf(await admin.get(unlinked.headers['location'] ?? ''))).toContain('is no longer linked');
  expect((await browser.get('/profile')).status).toBe(303);
  // A new account at the provider must be confirmed again.
  expect((await signIn(newBrowser(), email, {}, 'new subject')).headers['location']).toMatch(/\/confirm\//);
});

test('the audit log says which e-mail the provider gave for somebody who is not let in', async () => {
  const { administrator } = await company();
  const foreign = `mei@${crypto.randomUUID()}.example`;
  const refused = await signIn(newBrowser(), administrator.email, { email: foreign }, 'mei-7');
  expect([refused.status, refused.text.includes(foreign)]).toEqual([403, false]);
  const failed = (await listAuditEventsOf(db, administrator)).filter(({ action }) => action === 'user.sign_in_failed');
  expect(failed).toMatchObject([{ detail: { why: 'foreign-domain', email: foreign } }]);
});

test('somebody without a password can set one, and no second factor before', async () => {
  const { domain } = await company({ rules: { newPeople: 'viewer' } });
  const browser = newBrowser();
  await signIn(browser, `new@${domain}`);
  const profile = await browser.get('/profile');
  expect(wordsOf(profile)).toContain('You have none. Setting one ends your other sessions . Set password');
  expect(profile.text).not.toContain('href="/profile/second-factor"');
  expect(wordsOf(await browser.get('/profile/password'))).not.toContain('Change password');
});

test('somebody without a password is told how to confirm', async () => {
  const { domain, scope } = await company();
  const actor = await createActor(db, scope, 'member');
  const email = `invited@${domain}`;
  await db.prisma.user.updateMany({ where: { id: actor.userId }, data: { email } });
  const browser = newBrowser();
  const page = await signIn(browser, email);
  expect(wordsOf(await browser.get(page.headers['location'] ?? ''))).toContain('It has no password. Ask for a link');
});

test('too many sign-ins that are not completed are refused for a while', async () => {
  const { domain } = await company();
  const browser = newBrowser();
  for (let i = 0; i < 20; i += 1) await beginWith(browser, `ada@${domain}`);
  const page = await browser.submit('/sign-in', { email: `ada@${domain}` });
  expect([page.status, Number(page.headers['retry-after']) > 0]).toEqual([429, true]);
  // Completed sign-ins do not count towards the limit.
  const { domain: other } = await company({ rules: { newPeople: 'viewer' } });
  const busy = newBrowser();
  for (let i = 0; i < 25; i += 1) expect((await signIn(busy, `new@${other}`)).status).toBe(303);
});

test('a session by single sign-on lasts at most twelve hours, whatever its person changes meanwhile', async () => {
  const { domain } = await company({ rules: { newPeople: 'viewer' } });
  const browser = newBrowser();
  await signIn(browser, `new@${domain}`);
  const password = 'seven otters juggle 93 lanterns';
  await browser.submit('/profile/password', { password });
  // The session is used every 29 minutes.
  for (let i = 0; i < 25; i += 1) {
    expect((await browser.get('/profile')).status).toBe(200);
    if (i === 12) {
      const asked = await browser.submit('/profile/password', { password: `${password} again` });
      expect((await giveProof(browser, asked, { password })).headers['location']).toBe('/profile?done=password');
      const { path, fields } = await confirmationOf(browser, dashboard.now());
      expect((await browser.post(path, fields)).status).toBe(200);
    }
    dashboard.passMinutes(29);
  }
  expect((await browser.get('/profile')).headers['location']).toContain('too-old');
});

test('sign-ins that were not completed are deleted', async () => {
  const { domain, scope } = await company();
  await beginWith(newBrowser(), `ada@${domain}`);
  const count = () => db.prisma.ssoSignIn.count({ where: { organizationId: scope.organizationId } });
  const now = dashboard.now();
  await deleteExpired(db, SILENT, { now, retention: { eventDays: 30 } });
  expect(await count()).toBe(1);
  await deleteExpired(db, SILENT, { now: new Date(now.getTime() + 600_000), retention: { eventDays: 30 } });
  expect(await count()).toBe(0);
});
