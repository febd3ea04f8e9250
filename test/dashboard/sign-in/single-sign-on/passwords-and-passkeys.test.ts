import { allowPasswords } from '../../../../src/service/operator/organizations.ts';
import { orThrow } from '../../../../src/service/outcome.ts';
import { createOperatorLink } from '../../../../src/service/people/access-links.ts';
import { removeConnection } from '../../../../src/service/sign-in/single-sign-on/settings.ts';
import { type Browser, expectToSay, type Page, wordsOf } from '../../../support/dashboard/dashboard.ts';
import { browserOf } from '../../../support/dashboard/dashboard-server.ts';
import { addPasskeyTo, optionsFrom, sendCredential } from '../../../support/dashboard/passkeys.ts';
import { addSecondFactor, PASSWORD } from '../../../support/data/accounts.ts';
import { listAuditEventsOf } from '../../../support/data/actors.ts';
import { beginWith, type Company, connect, useCompanies } from '../../../support/providers/companies.ts';

const ORIGIN = 'https://charter.example.org';
const companies = await useCompanies({ publicUrl: ORIGIN });
const { dashboard, db, provider, company, newBrowser, isIn } = companies;

async function usePassword(browser: Browser, page: Page, email: string): Promise<Page> {
  const [, href = ''] = /<a href="([^"]*)">Sign in with a password instead<\/a>/.exec(page.text) ?? [];
  expect(href).not.toBe('');
  return browser.submit(href.replaceAll('&amp;', '&'), { email, password: PASSWORD }, '/sign-in');
}

function takeProviderDown(): void {
  provider.override = (res) => {
    res.destroy();
    return true;
  };
}

afterEach(() => {
  provider.override = null;
});

test('the page that asks for the e-mail leads to the password, and on to the page that was asked for', async () => {
  const { administrator } = await company();
  takeProviderDown();
  const browser = newBrowser();
  const page = await usePassword(browser, await browser.get('/sign-in?next=/people'), administrator.email);
  expect([page.status, page.headers['location']]).toEqual([303, '/people']);
  expect(await isIn(browser)).toBe(true);
});

test.each<[string, number, string, (browser: Browser, theirs: Company) => Promise<Page>]>([
  [
    'the provider does not answer',
    503,
    'does not answer',
    async (browser, { administrator, scope: { organizationId } }) => {
      await db.prisma.ssoConnection.update({ where: { organizationId }, data: { issuer: 'http://127.0.0.1:1' } });
      return browser.submit('/sign-in', { email: administrator.email });
    },
  ],
  [
    'the person cancels there',
    403,
    'did not sign you in',
    async (browser, { administrator }) => {
      const back = provider.authorize(await beginWith(browser, administrator.email), { sub: 'x' });
      return browser.get(back.replace(/\bcode=[^&]*/, 'error=access_denied'));
    },
  ],
  [
    'Charter cannot let the person in',
    403,
    'cannot let you in',
    (browser, { administrator }) =>
      companies.signIn(browser, administrator.email, { sub: 'x', email: 'x@else.example' }),
  ],
])('if %s, the page says so and leads to the password', async (_, status, words, attempt) => {
  const theirs = await company();
  const browser = newBrowser();
  const failed = await attempt(browser, theirs);
  expectToSay(failed, status, words);
  expect((await usePassword(browser, failed, theirs.administrator.email)).status).toBe(303);
});

test('a link of an operator sets a password, which the next page asks for', async () => {
  const { administrator, scope } = await company();
  const { organizationId } = scope;
  await db.prisma.ssoConnection.update({
    where: { organizationId },
    data: { enforcedAt: new Date(), breakGlassUserId: administrator.userId },
  });
  await allowPasswords(db, organizationId);
  takeProviderDown();
  const link = await createOperatorLink(db, administrator.scope, { ...administrator, now: dashboard.now() });
  const browser = newBrowser();
  const set = await browser.submit(`/welcome/${link.token}`, { password: PASSWORD });
  const page = await browser.get(set.headers['location'] ?? '');
  expect(wordsOf(page)).toContain('Your password is set. Sign in with it.');
  expect(page.text).toContain('type="password"');
});

const signIn = async (browser: Browser, email: string, sub = email) =>
  browser.get(provider.authorize(await beginWith(browser, email), { sub, email }));

/** Creates an account by single sign-on, adds a passkey, and then removes the connection and adds the connection again. */
async function reconnected() {
  const { administrator, domain } = await company({ rules: { newPeople: 'member' } });
  const [browser, email] = [newBrowser(), `new@${domain}`];
  await signIn(browser, email);
  const authenticator = await addPasskeyTo(browser, ORIGIN);
  orThrow(await removeConnection(db, administrator));
  await connect(db, administrator, { provider, domain });
  return { administrator, domain, email, authenticator };
}

test('an account with a passkey and without a link to the provider is active, and not only invited', async () => {
  const { administrator, email } = await reconnected();
  const { id } = await db.prisma.user.findFirstOrThrow({ where: { email } });
  const words = wordsOf(await (await browserOf(dashboard, administrator)).get(`/people/users/${id}`));
  expect(words).toMatch(/Status Active .*Sign-in link Makes a new link/);
  expect(words).not.toContain('Invit');
});

/** Signs in up to the page that asks whether the account is the person's. */
async function toConfirm(browser: Browser, email: string, sub = email): Promise<Page> {
  const { headers } = await signIn(browser, email, sub);
  return browser.get(headers['location'] ?? '');
}

const linksOf = (email: string) => db.prisma.ssoIdentity.count({ where: { user: { email } } });

test('somebody without a password confirms the account with the passkey, which is a fresh proof', async () => {
  const { administrator, email, authenticator } = await reconnected();
  const browser = newBrowser();
  const page = await toConfirm(browser, email);
  expect(wordsOf(page)).toContain('Confirm it once with a passkey of the account.');
  expect(page.text).not.toContain('name="password"');
  const options = await optionsFrom(browser, page);
  // A person who merely has the e-mail address at the provider must not learn which passkeys the account has.
  expect(options.allowCredentials ?? []).toEqual([]);
  const confirmed = await sendCredential(browser, page, { credential: authenticator.get(options) });
  expect([confirmed.status, confirmed.headers['location'], await isIn(browser)]).toEqual([303, '/profile', true]);
  expect((await browser.get('/profile/passkeys/new')).status).toBe(200);
  expect(await linksOf(email)).toBe(1);
  const linked = (await listAuditEventsOf(db, administrator)).filter(({ action }) => action === 'user.sso_linked');
  expect(linked).toHaveLength(2);
  expect((await signIn(newBrowser(), email)).headers['location']).toBe('/profile');
});

test('where there is a password, the passkey replaces it and the second factor', async () => {
  const { administrator } = await reconnected();
  const own = await browserOf(dashboard, administrator);
  const authenticator = await addPasskeyTo(own, ORIGIN);
  await addSecondFactor(db, administrator, dashboard.now());
  const browser = newBrowser();
  const page = await toConfirm(browser, administrator.email);
  expect(wordsOf(page)).toMatch(/with the password of the account.* Code .* or .*Confirm with a passkey/);
  const credential = authenticator.get(await optionsFrom(browser, page));
  expect((await sendCredential(browser, page, { credential })).headers['location']).toBe('/profile');
  expect(await linksOf(administrator.email)).toBe(1);
});

test('no other passkey confirms it, no forged or repeated signature, and none from another browser', async () => {
  // The attack: somebody changes their own e-mail address at the provider to that of a colleague.
  const { administrator, email, authenticator } = await reconnected();
  const { authenticator: foreign } = await reconnected();
  const [browser, other] = [newBrowser(), newBrowser()];
  const page = await toConfirm(browser, email, 'attacker');
  const used = authenticator.get(await optionsFrom(browser, page), { isForged: true });
  for (const credential of [
    used,
    used,
    foreign.get(await optionsFrom(browser, page)),
    authenticator.get(await optionsFrom(other, await other.get('/sign-in'))),
    authenticator.get(await optionsFrom(browser, page), { isVerified: false }),
    authenticator.get(await optionsFrom(browser, page), { origin: 'https://charter.example.org.evil.example' }),
    authenticator.get(await optionsFrom(browser, page), { counter: 1 }),
    '{}',
    '',
  ]) {
    const refused = await sendCredential(browser, page, { credential });
    expectToSay(refused, 422, 'The passkey was not accepted.');
  }
  expect([await linksOf(email), await isIn(browser)]).toEqual([0, false]);
  const failed = (await listAuditEventsOf(db, administrator)).filter(({ action }) => action === 'user.sign_in_failed');
  expect(failed.map(({ detail }) => detail)).toContainEqual({
    step: 'confirmation for single sign-on',
    why: 'the passkey did not sign what Charter asked for',
  });
  expect(failed.map(({ detail }) => detail)).toContainEqual({
    step: 'confirmation for single sign-on',
    passkey: 'Laptop',
    why: 'the counter of the passkey did not increase: it may have been copied',
  });
});
