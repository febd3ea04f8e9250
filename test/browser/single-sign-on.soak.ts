import type { BrowserContext, Page } from 'playwright-core';
import { ROLES } from '../../src/domain/people/role.ts';
import { orThrow } from '../../src/service/outcome.ts';
import { createOwnLinks } from '../../src/service/people/access-links.ts';
import { inviteUser } from '../../src/service/people/invitations.ts';
import { connectionUrls } from '../../src/service/sign-in/single-sign-on/connection.ts';
import { vouchForDomain } from '../../src/service/sign-in/single-sign-on/domains.ts';
import { connectBrowser, makePatient } from '../support/browser/browser.ts';
import { createKey, readKey } from '../support/browser/key-steps.ts';
import { AXE_SCRIPT, look } from '../support/browser/look.ts';
import {
  addSecondFactor,
  ageProofs,
  codeAt,
  createAccount,
  givePasskey,
  newAuditSource,
  openSession,
  PASSWORD,
} from '../support/data/accounts.ts';
import { createTeam, NAMES } from '../support/data/team.ts';
import { LOCAL } from '../support/data/webhooks.ts';
import { connect } from '../support/providers/companies.ts';
import { startIdentityProvider } from '../support/providers/identity-provider.ts';
import { startOidcProvider } from '../support/providers/oidc-provider.ts';
import { freePort } from '../support/servers/port.ts';
import { startServer } from '../support/servers/server.ts';

// Single sign-on in Chromium, from the set-up to the sign-out, with a certified OpenID Connect provider.

const port = await freePort('127.0.0.1');
const url = `http://127.0.0.1:${port}`;
const server = await startServer({ port, publicUrl: url, webhooks: LOCAL });
const { db } = server;
const browser = await connectBrowser();
const providers: { close(): Promise<void> }[] = [];
afterAll(async () => {
  await browser.close();
  await server.close();
  for (const provider of providers) await provider.close();
});

const SETTINGS = '/organization/sign-in';

/** Creates a team and its provider, where each member has an account named after their role. */
async function company() {
  const team = await createTeam(db);
  const { redirectUri, backChannelLogoutUri } = connectionUrls(url, team.organizationId);
  const provider = await startOidcProvider({ redirectUri, backChannelLogoutUri });
  providers.push(provider);
  for (const role of ROLES) {
    const account = { sub: role, email: team[role].email, email_verified: true, name: NAMES[role] };
    provider.accounts.set(role, account);
  }
  return { team, provider, domain: team.member.email.split('@')[1] ?? '' };
}

/** Creates a team with a connection to its provider. If `areLinked`, the users are linked to their accounts at the provider. */
async function connected({ areLinked = false } = {}) {
  const found = await company();
  const { team, provider } = found;
  const rules = { newPeople: 'viewer', groupsClaim: 'groups', groupRoles: 'Leads = manager' };
  await connect(db, team.administrator, { provider, rules });
  const { organizationId } = team;
  const data = ROLES.map((role) => ({
    organizationId,
    userId: team[role].userId,
    issuer: provider.issuer,
    subject: role,
  }));
  if (areLinked) await db.prisma.ssoIdentity.createMany({ data });
  return found;
}

const visited: BrowserContext[] = [];
afterEach(async () => {
  for (const context of visited.splice(0)) await context.close();
});

async function visit(options: { javaScriptEnabled?: boolean } = {}): Promise<Page> {
  const context = await browser.newContext({ baseURL: url, reducedMotion: 'reduce', locale: 'en-GB', ...options });
  visited.push(context);
  makePatient(context);
  await context.addInitScript({ path: AXE_SCRIPT });
  return context.newPage();
}

async function signIn(page: Page, email: string, sub: string): Promise<void> {
  await page.goto('/sign-in');
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Account').fill(sub);
  await page.getByRole('button', { name: 'Log in' }).click();
}

const nameOf = (page: Page) => page.locator('.side-rest .account-name').innerText();

test('an administrator sets single sign-on up, step by step, on pages without a finding', async () => {
  const { team, provider, domain } = await company();
  const page = await visit();
  const wrong: string[] = [];
  const token = await openSession(db, team.administrator);
  await page.context().addCookies([{ name: 'charter', value: token, url }]);
  await page.goto('/organization');
  await page.getByRole('link', { name: 'Sign-in' }).click();
  wrong.push(...(await look(page, 'sso-settings-new')));
  await page.getByRole('button', { name: 'Try and save' }).click();
  await page.getByRole('alert').waitFor();
  wrong.push(...(await look(page, 'sso-settings-refused')));
  await page.getByLabel('Issuer').fill(provider.issuer);
  await page.getByLabel('Client ID').fill(provider.clientId);
  await page.getByLabel('Client secret').fill('wrong');
  await page.getByRole('button', { name: 'Try only' }).click();
  await page.getByRole('alert').getByText('refused the client ID or the client secret').waitFor();
  await page.getByLabel('Client secret').fill(provider.clientSecret);
  await page.getByRole('button', { name: 'Try only' }).click();
  await page.getByText('The connection works').waitFor();
  await page.getByLabel('Client secret').fill(provider.clientSecret);
  await page.getByRole('button', { name: 'Try and save' }).click();
  await page.getByText('The connection is saved.').waitFor();
  await page.getByLabel('Domain', { exact: true }).fill(domain);
  await page.getByRole('button', { name: 'Add the domain' }).click();
  await page.getByText('Not verified').waitFor();
  wrong.push(...(await look(page, 'sso-settings-domain')));
  await givePasskey(db, team.administrator);
  await vouchForDomain(db, team.administrator.scope, { domain });
  await page.getByLabel('Claim with groups').fill('groups');
  await page.getByLabel('Roles by group').fill('Integration team = member\nIntegration leads = manager');
  await page.getByLabel('New people', { exact: true }).selectOption('viewer');
  await page.getByRole('button', { name: 'Save roles' }).click();
  await page.getByText('The roles are saved.').waitFor();
  wrong.push(...(await look(page, 'sso-settings')));
  await page.getByRole('button', { name: 'Require single sign-on' }).click();
  await page.getByRole('alert').getByText('in again by single sign-on').waitFor();
  await page.getByRole('link', { name: 'Remove the connection' }).click();
  wrong.push(...(await look(page, 'sso-removal')));
  expect(wrong).toEqual([]);
});

test('a person confirms the account once, and then signs in at the provider alone', async () => {
  const { team, provider } = await connected();
  const wrong: string[] = [];
  const page = await visit();
  const { email, name } = team.administrator;
  await page.goto('/sign-in');
  wrong.push(...(await look(page, 'sso-sign-in-email')));
  // No organization has single sign-on for the domain of this e-mail address.
  await page.getByLabel('E-mail').fill('somebody@elsewhere.example');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Password').waitFor();
  wrong.push(...(await look(page, 'sso-sign-in-password')));
  // Chromium stays on a page if the next one responds with 204, so the page that leads to the provider can be checked.
  await page.route(`${provider.issuer}/**`, (route) => route.fulfill({ status: 204 }));
  await page.goto('/sign-in');
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('link', { name: 'Continue' }).waitFor();
  wrong.push(...(await look(page, 'sso-continue')));
  await page.unroute(`${provider.issuer}/**`);
  await signIn(page, email, 'administrator');
  await page.getByRole('heading', { name: 'Is this account yours?' }).waitFor();
  wrong.push(...(await look(page, 'sso-confirm')));
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Confirm and sign in' }).click();
  await page.getByRole('alert').waitFor();
  wrong.push(...(await look(page, 'sso-confirm-refused')));
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Confirm and sign in' }).click();
  await page.waitForURL('**/profile');
  const again = await visit();
  await signIn(again, email, 'administrator');
  await again.waitForURL('**/profile');
  expect(await nameOf(again)).toContain(name);
  expect(wrong).toEqual([]);
});

test('somebody new signs in by a tile of the provider, and gets the role of their group', async () => {
  const { team, provider, domain } = await connected();
  const email = `nele@${domain}`;
  provider.accounts.set('nele-7', { sub: 'nele-7', email, name: 'Nele Neu', groups: ['Leads'] });
  const page = await visit();
  await page.goto(`/single-sign-on/${team.organizationId}/start?target_link_uri=${url}/profile/api-keys`);
  expect(await look(page, 'single-sign-on-asked')).toEqual([]);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Account').fill('nele-7');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL('**/profile/api-keys');
  expect(await nameOf(page)).toContain('Nele Neu');
  expect((await db.prisma.user.findFirstOrThrow({ where: { email } })).role).toBe('manager');
  // The provider says that the person has just signed in, so creating a key requires no further proof.
  await createKey(page, 'Nightly import');
});

test('a form waits while somebody proves who they are at the provider', async () => {
  const { team } = await connected({ areLinked: true });
  const { member } = team;
  const wrong: string[] = [];
  const page = await visit();
  await signIn(page, member.email, 'member');
  await page.waitForURL('**/profile');
  await ageProofs(db, member);
  await page.goto('/profile/api-keys/new');
  await page.getByLabel('Name', { exact: true }).fill('Nightly import');
  await page.getByRole('button', { name: 'Create API Key' }).click();
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  wrong.push(...(await look(page, 'sso-proof')));
  await page.getByRole('button', { name: 'Continue with single sign-on' }).click();
  // The provider asks for the account again, although it has a session.
  await page.getByLabel('Account').fill('member');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('You are about to create an API key.').waitFor();
  wrong.push(...(await look(page, 'sso-go-on')));
  await page.getByRole('button', { name: 'Continue' }).click();
  expect(await readKey(page)).toMatch(/^charter_/);
  expect(await db.prisma.apiKey.count({ where: { userId: member.userId, name: 'Nightly import' } })).toBe(1);
  expect(wrong).toEqual([]);
});

test('the pages about a provider that does not say when somebody signed in have no finding', async () => {
  const { member, administrator } = await createTeam(db);
  const provider = await startIdentityProvider();
  providers.push(provider);
  await connect(db, administrator, { provider, rules: { newPeople: 'member' } });
  const comeBack = async (page: Page, name: string, email: string) => {
    await page.getByRole('button', { name }).click();
    await page.waitForURL(`${provider.issuer}/**`);
    await page.goto(provider.authorize(page.url(), { sub: email, email, auth_time: undefined }));
  };
  const email = `nele@${member.email.split('@')[1]}`;
  const page = await visit();
  await page.goto('/sign-in');
  await page.getByLabel('E-mail').fill(email);
  await comeBack(page, 'Continue', email);
  await page.goto('/profile/api-keys/new');
  await page.getByLabel('Name', { exact: true }).fill('Nightly import');
  await page.getByRole('button', { name: 'Create API Key' }).click();
  await comeBack(page, 'Continue with single sign-on', email);
  await page.getByText('does not say when you signed in').waitFor();
  const wrong = await look(page, 'sso-not-proven');
  await page.context().clearCookies();
  const { uri } = await addSecondFactor(db, member, new Date());
  const [link] = await createOwnLinks(db, { email: member.email, auditSource: newAuditSource(), now: new Date() });
  await page.goto(`/welcome/${link?.token}`);
  await comeBack(page, 'Continue with single sign-on', member.email);
  wrong.push(...(await look(page, 'sso-confirm-code')));
  await page.keyboard.type('000000');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  wrong.push(...(await look(page, 'sso-confirm-code-refused')));
  await page.getByLabel('Code').fill(codeAt(uri, new Date()));
  await page.getByRole('button', { name: 'Confirm and sign in' }).click();
  await page.waitForURL('**/profile');
  expect(await nameOf(page)).toContain(member.name);
  expect(wrong).toEqual([]);
});

test('pages for somebody who is not let in have no finding', async () => {
  const { team, provider } = await connected();
  const wrong: string[] = [];
  provider.accounts.set('eve-7', { sub: 'eve-7', email: 'eve@elsewhere.example' });
  const page = await visit();
  await signIn(page, team.member.email, 'eve-7');
  await page.getByRole('heading', { name: 'Charter cannot let you in' }).waitFor();
  wrong.push(...(await look(page, 'sso-not-admitted')));
  await page.context().clearCookies();
  await signIn(page, team.member.email, 'nobody');
  await page.getByRole('heading', { name: 'Your identity provider did not sign you in' }).waitFor();
  wrong.push(...(await look(page, 'sso-denied')));
  await page.goto(`/single-sign-on/${team.organizationId}/callback?state=x`);
  wrong.push(...(await look(page, 'sso-lost')));
  expect(wrong).toEqual([]);
});

test('the keyboard alone suffices, also without scripts', async () => {
  const { team } = await connected({ areLinked: true });
  for (const javaScriptEnabled of [true, false]) {
    const page = await visit({ javaScriptEnabled });
    await page.goto('/sign-in');
    await page.keyboard.type(team.viewer.email);
    await page.keyboard.press('Enter');
    await page.getByLabel('Account').waitFor();
    await page.keyboard.type('viewer');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/profile');
    expect(await nameOf(page)).toContain(team.viewer.name);
  }
});

test('signing out at the provider ends the session here at once', async () => {
  const { team, provider } = await connected({ areLinked: true });
  const page = await visit();
  await signIn(page, team.member.email, 'member');
  await page.waitForURL('**/profile');
  await page.goto(`${provider.issuer}/session/end`);
  await page.locator('button[name="logout"]').click();
  await page.waitForURL('**/session/end/success');
  await page.goto('/profile');
  expect(new URL(page.url()).pathname).toBe('/sign-in');
});

test('an administrator requires it, and an invitation then leads to the provider', async () => {
  const { team, provider, domain } = await connected({ areLinked: true });
  const wrong: string[] = [];
  const { scope } = team.administrator;
  const breakGlass = await createAccount(db, { scope, role: 'administrator' });
  await givePasskey(db, breakGlass);
  const page = await visit();
  await signIn(page, team.administrator.email, 'administrator');
  await page.waitForURL('**/profile');
  await page.goto(SETTINGS);
  await page.getByLabel('Break-glass administrator').selectOption(breakGlass.userId);
  await page.getByRole('button', { name: 'Require single sign-on' }).click();
  await page.getByText('Single sign-on is required.').waitFor();
  wrong.push(...(await look(page, 'sso-required')));
  await page.goto(`/people/users/${team.member.userId}`);
  wrong.push(...(await look(page, 'sso-user-linked')));
  const email = `ida@${domain}`;
  const invitation = { email, name: 'Ida Invited', role: 'member' };
  const { link } = orThrow(await inviteUser(db, team.administrator, invitation));
  provider.accounts.set('ida-7', { sub: 'ida-7', email });
  const invited = await visit();
  await invited.goto(`/welcome/${link.token}`);
  wrong.push(...(await look(invited, 'sso-welcome')));
  await invited.getByRole('button', { name: 'Continue with single sign-on' }).click();
  await invited.getByLabel('Account').fill('ida-7');
  await invited.getByRole('button', { name: 'Log in' }).click();
  await invited.waitForURL('**/profile');
  expect(await nameOf(invited)).toContain('Ida Invited');
  expect(wrong).toEqual([]);
});
