import { orThrow } from '../../../src/service/outcome.ts';
import { removeConnection } from '../../../src/service/single-sign-on/settings.ts';
import { addSecondFactor, createAccount } from '../../support/data/accounts.ts';
import { auditEventsOf, createScope } from '../../support/data/actors.ts';
import { beginWith, connect, LOCAL } from '../../support/data/single-sign-on.ts';
import { Browser, type Page, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';
import { useIdentityProvider } from '../../support/http/identity-provider.ts';
import { addPasskeyTo, optionsFrom, sendCredential } from '../../support/http/passkeys.ts';

const ORIGIN = 'https://charter.example.org';
const dashboard = await useDashboard({ webhooks: LOCAL, publicUrl: ORIGIN });
const { db } = dashboard;
const provider = await useIdentityProvider();

let [made, address] = [0, 0];

function newBrowser(): Browser {
  address += 1;
  return new Browser(dashboard.url, { localAddress: `127.0.12.${address}` });
}

const signIn = async (browser: Browser, email: string, sub = email) =>
  browser.get(provider.authorize(await beginWith(browser, email), { sub, email }));

/** Somebody who got their account by single sign-on and has a passkey. The connection was removed and added again. */
async function reconnected() {
  made += 1;
  const domain = `company-${made}.example`;
  const account = await createAccount(db, { scope: await createScope(db), role: 'administrator' });
  const administrator = { ...account, email: `administrator@${domain}` };
  const { userId, email: changed } = administrator;
  await db.prisma.user.updateMany({ where: { id: userId }, data: { email: changed } });
  await connect(db, administrator, { provider, rules: { newPeople: 'member' } });
  const [browser, email] = [newBrowser(), `new@${domain}`];
  await signIn(browser, email);
  const authenticator = await addPasskeyTo(browser, ORIGIN);
  orThrow(await removeConnection(db, administrator));
  await connect(db, administrator, { provider, domain });
  return { administrator, domain, email, authenticator };
}

test('without a link to the provider, the passkey makes the account one that is not merely invited', async () => {
  const { administrator, email } = await reconnected();
  const { id } = await db.prisma.user.findFirstOrThrow({ where: { email } });
  const words = wordsOf(await (await browserOf(dashboard, administrator)).get(`/people/users/${id}`));
  expect(words).toMatch(/Status Active .*Sign-in link Makes a new link/);
  expect(words).not.toContain('Invit');
});

/** The page that asks whether the account is theirs. */
async function toConfirm(browser: Browser, email: string, sub = email): Promise<Page> {
  const { headers } = await signIn(browser, email, sub);
  return browser.get(headers['location'] ?? '');
}

const isIn = async (browser: Browser) => (await browser.get('/profile')).status === 200;
const linksOf = (email: string) => db.prisma.ssoIdentity.count({ where: { user: { email } } });

test('somebody without a password confirms the account with the passkey, which is a fresh proof', async () => {
  const { administrator, email, authenticator } = await reconnected();
  const browser = newBrowser();
  const page = await toConfirm(browser, email);
  expect(wordsOf(page)).toContain('Confirm it once with a passkey of the account.');
  expect(page.text).not.toContain('name="password"');
  const options = await optionsFrom(browser, page);
  // The page tells nobody who merely has the e-mail at the provider which passkeys the account has.
  expect(options.allowCredentials ?? []).toEqual([]);
  const confirmed = await sendCredential(browser, page, { credential: authenticator.get(options) });
  expect([confirmed.status, confirmed.headers['location'], await isIn(browser)]).toEqual([303, '/profile', true]);
  expect((await browser.get('/profile/passkeys/new')).status).toBe(200);
  expect(await linksOf(email)).toBe(1);
  const linked = (await auditEventsOf(db, administrator)).filter(({ action }) => action === 'user.sso_linked');
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
  // The attack: somebody gives themselves the e-mail of a colleague at the provider.
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
    expect([refused.status, wordsOf(refused)]).toEqual([422, expect.stringContaining('The passkey was not accepted.')]);
  }
  expect([await linksOf(email), await isIn(browser)]).toEqual([0, false]);
  const failed = (await auditEventsOf(db, administrator)).filter(({ action }) => action === 'user.sign_in_failed');
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
