import { changeEmailOf } from '../../../../src/service/operator/users.ts';
import { orThrow } from '../../../../src/service/outcome.ts';
import { removeDomain } from '../../../../src/service/sign-in/single-sign-on/domains.ts';
import {
  removeConnection,
  saveConnection,
  saveRules,
} from '../../../../src/service/sign-in/single-sign-on/settings.ts';
import { createAccount, PASSWORD } from '../../../support/data/accounts.ts';
import { LOCAL } from '../../../support/data/webhooks.ts';
import { beginWith, type Company, urlIn, useCompanies } from '../../../support/providers/companies.ts';
import { startIdentityProvider } from '../../../support/providers/identity-provider.ts';

const { db, provider, company, newBrowser, isIn, signIn, expectNobody } = await useCompanies();

// The settings change while somebody signs in at the provider.

/** Signs in as a person who is linked and as a new person. Makes the change before the provider responds. */
async function signInDuring(change: (theirs: Company) => Promise<unknown>): Promise<{ status: number; in: boolean }[]> {
  const results = [];
  for (const isNew of [false, true]) {
    const theirs = await company({ rules: { newPeople: 'viewer' } });
    const email = isNew ? `new@${theirs.domain}` : theirs.member.email;
    const browser = newBrowser();
    const person = isNew ? { sub: crypto.randomUUID(), email } : theirs.person;
    const response = provider.authorize(await beginWith(browser, email), person);
    provider.override = async (_, path) => {
      if (path === '/token') await change(theirs);
      return false;
    };
    const page = await browser.get(response);
    provider.override = null;
    results.push({ status: page.status, in: await isIn(browser) });
    if (isNew) expect(await db.prisma.user.count({ where: { email } })).toBe(0);
  }
  return results;
}

const REFUSED = { status: 400, in: false };
const connection = ({ issuer, clientId, clientSecret } = provider) => ({ issuer, clientId, clientSecret });

test.each([
  ['to another client', () => ({ ...connection(), clientId: 'another' })],
  ['to another issuer', () => ({ ...connection(), issuer: 'https://login.example' })],
])('a change of the connection %s while the provider is asked signs nobody in', async (_, content) => {
  const save = ({ administrator }: Company) =>
    saveConnection(db, administrator, { ...content(), targets: LOCAL }).then(orThrow);
  expect(await signInDuring(save)).toEqual([REFUSED, REFUSED]);
});

test('a removal of the connection while the provider is asked signs nobody in', async () => {
  const remove = ({ administrator }: Company) => removeConnection(db, administrator).then(orThrow);
  expect(await signInDuring(remove)).toEqual([REFUSED, REFUSED]);
});

test('a removal of the connection, or a change of its client, while its metadata are read begins no sign-in', async () => {
  const change = ({ administrator }: Company) =>
    saveConnection(db, administrator, { ...connection(), clientId: 'another', targets: LOCAL }).then(orThrow);
  const remove = ({ administrator }: Company) => removeConnection(db, administrator).then(orThrow);
  for (const act of [change, remove]) {
    // A provider whose metadata Charter has not read yet.
    await using slow = await startIdentityProvider();
    const theirs = await company({ at: slow });
    slow.override = async () => {
      await act(theirs);
      return false;
    };
    const page = await newBrowser().submit('/sign-in', { email: theirs.member.email });
    expect([page.status, urlIn(page)]).toEqual([400, null]);
    const { organizationId } = theirs.administrator.scope;
    expect(await db.prisma.ssoSignIn.count({ where: { organizationId } })).toBe(0);
  }
});

test('a change of the rules while the provider is asked counts for somebody new', async () => {
  const rules = { newPeople: '', groupsClaim: '', groupRoles: '' };
  const close = ({ administrator }: Company) => saveRules(db, administrator, rules).then(orThrow);
  expect(await signInDuring(close)).toEqual([
    { status: 303, in: true },
    { status: 403, in: false },
  ]);
});

test.each([
  [
    'a change of the client',
    400,
    ({ administrator }: Company) =>
      saveConnection(db, administrator, { ...connection(), clientId: 'another', targets: LOCAL }).then(orThrow),
  ],
  [
    'a removal of the domain',
    403,
    ({ administrator, domain }: Company) => removeDomain(db, administrator, { domain }).then(orThrow),
  ],
])('%s refuses a confirmation that waits', async (_, status, change) => {
  const theirs = await company();
  const browser = newBrowser();
  const { email } = theirs.administrator;
  const page = await signIn(browser, theirs.member.email, { sub: crypto.randomUUID(), email });
  const form = await browser.form(page.headers['location'] ?? '');
  await change(theirs);
  const fields = { ...Object.fromEntries(form.fields), password: PASSWORD };
  await expectNobody(browser, await browser.post(form.action, fields), status);
  expect(await db.prisma.ssoIdentity.count({ where: { userId: theirs.administrator.userId } })).toBe(0);
});

/**
 * Signs in as a person in the group "leads", whose members become managers, up to the page that asks for the account's password.
 */
async function waiting(groups: unknown = ['leads']) {
  const theirs = await company({ rules: { groupsClaim: 'groups', groupRoles: 'leads = manager' } });
  const { userId, email } = theirs.administrator;
  await db.prisma.user.updateMany({ where: { id: userId }, data: { role: 'member' } });
  const browser = newBrowser();
  const person = { sub: crypto.randomUUID(), email, groups };
  const page = await signIn(browser, theirs.member.email, person);
  const form = await browser.form(page.headers['location'] ?? '');
  const confirm = () => browser.post(form.action, { ...Object.fromEntries(form.fields), password: PASSWORD });
  const roleNow = async () => (await db.prisma.user.findFirstOrThrow({ where: { id: userId } })).role;
  return { theirs, browser, confirm, roleNow };
}
const saveGroups = async ({ scope }: Company['administrator'], groupRoles: string, groupsClaim = 'groups') => {
  const administrator = await createAccount(db, { scope, role: 'administrator' });
  orThrow(await saveRules(db, administrator, { newPeople: '', groupsClaim, groupRoles }));
};

test.each([
  ['that was removed gives no role', 'others = member', 'viewer'],
  ['that was changed gives its new role', 'leads = member', 'member'],
  ['that stays gives its role', 'leads = manager', 'manager'],
])('a rule for a group %s to somebody who confirms afterwards', async (_, rules, role) => {
  const { theirs, browser, confirm, roleNow } = await waiting();
  await saveGroups(theirs.administrator, rules);
  expect([(await confirm()).status, await isIn(browser), await roleNow()]).toEqual([303, true, role]);
});

// PostgreSQL's JSON can store neither NUL nor half of a surrogate pair.
test.each([
  [['leads', '\ud800', 'a\0b'], 'manager'],
  ['a\0b', 'viewer'],
  ['\ud800', 'viewer'],
])('somebody in the groups %j, some of which PostgreSQL cannot store, confirms as well', async (groups, role) => {
  const { browser, confirm, roleNow } = await waiting(groups);
  expect([(await confirm()).status, await isIn(browser), await roleNow()]).toEqual([303, true, role]);
});

test('a change of the claim with the groups, or of the e-mail, refuses a confirmation that waits', async () => {
  const changes = [
    ({ administrator }: Company) => saveGroups(administrator, 'leads = manager', 'roles'),
    ({ administrator, domain }: Company) =>
      changeEmailOf(db, administrator.userId, { email: `other@${domain}` }).then(() => undefined),
  ];
  for (const change of changes) {
    const { theirs, browser, confirm, roleNow } = await waiting();
    await change(theirs);
    await expectNobody(browser, await confirm(), 400);
    expect(await roleNow()).toBe('member');
  }
});
