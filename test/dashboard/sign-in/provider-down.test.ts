import { makeOperatorLink } from '../../../src/service/accounts/access-links.ts';
import { allowPasswords } from '../../../src/service/operator/organizations.ts';
import { addSecondFactor, codeAt, createAccount } from '../../support/data/accounts.ts';
import { createScope } from '../../support/data/actors.ts';
import { PASSWORD } from '../../support/data/password.ts';
import { beginWith, connect, LOCAL } from '../../support/data/single-sign-on.ts';
import { Browser, type Page, wordsOf } from '../../support/http/dashboard.ts';
import { useDashboard } from '../../support/http/dashboard-server.ts';
import { useIdentityProvider } from '../../support/http/identity-provider.ts';
import { addPasskeyTo, signInWithPasskey } from '../../support/http/passkeys.ts';

const ORIGIN = 'https://charter.example.org';
const dashboard = await useDashboard({ webhooks: LOCAL, publicUrl: ORIGIN });
const { db } = dashboard;
const provider = await useIdentityProvider();

let made = 0;

/** The ways in that need no provider, of an organization whose people have accounts here. */
async function company() {
  made += 1;
  const scope = await createScope(db);
  const administrator = await createAccount(db, { scope, role: 'administrator' });
  const email = `ada@company-${made}.example`;
  await db.prisma.user.updateMany({ where: { id: administrator.userId }, data: { email } });
  await connect(db, { ...administrator, email }, { provider });
  return { scope, administrator: { ...administrator, email } };
}

function newBrowser(): Browser {
  made += 1;
  return new Browser(dashboard.url, { localAddress: `127.0.13.${made}` });
}

const isIn = async (browser: Browser) => (await browser.get('/profile')).status === 200;

/** Follows the link of the page to the password, as a person does, and signs in with it. */
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

describe('the page that says why there is no sign-in at the provider leads to the password', () => {
  test('if the provider does not answer', async () => {
    const { administrator, scope } = await company();
    const { organizationId } = scope;
    await db.prisma.ssoConnection.update({ where: { organizationId }, data: { issuer: 'http://127.0.0.1:1' } });
    const browser = newBrowser();
    const failed = await browser.submit('/sign-in', { email: administrator.email });
    expect([failed.status, wordsOf(failed)]).toEqual([503, expect.stringContaining('does not answer')]);
    expect((await usePassword(browser, failed, administrator.email)).status).toBe(303);
  });

  test('if the person cancelled there', async () => {
    const { administrator } = await company();
    const browser = newBrowser();
    const url = new URL(await beginWith(browser, administrator.email));
    const callback = new URL(url.searchParams.get('redirect_uri') ?? '');
    callback.search = new URLSearchParams({
      error: 'access_denied',
      state: url.searchParams.get('state') ?? '',
      iss: provider.issuer,
    }).toString();
    const failed = await browser.get(callback.pathname + callback.search);
    expect([failed.status, wordsOf(failed)]).toEqual([403, expect.stringContaining('did not sign you in')]);
    expect((await usePassword(browser, failed, administrator.email)).status).toBe(303);
  });

  test('if Charter cannot let in who signed in there', async () => {
    const { administrator } = await company();
    const browser = newBrowser();
    const url = await beginWith(browser, administrator.email);
    const failed = await browser.get(provider.authorize(url, { sub: 'x', email: 'x@elsewhere.example' }));
    expect([failed.status, wordsOf(failed)]).toEqual([403, expect.stringContaining('cannot let you in')]);
    expect((await usePassword(browser, failed, administrator.email)).status).toBe(303);
  });
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
  const link = await makeOperatorLink(db, administrator.scope, { ...administrator, now: dashboard.now() });
  const browser = newBrowser();
  const set = await browser.submit(`/welcome/${link.token}`, { password: PASSWORD });
  const page = await browser.get(set.headers['location'] ?? '');
  expect(wordsOf(page)).toContain('Your password is set. Sign in with it.');
  expect(page.text).toContain('type="password"');
});

test('the break-glass administrator signs in by passkey, and by password and code', async () => {
  const { administrator, scope } = await company();
  const { organizationId } = scope;
  const own = newBrowser();
  await usePassword(own, await own.get('/sign-in'), administrator.email);
  const authenticator = await addPasskeyTo(own, ORIGIN);
  const { uri } = await addSecondFactor(db, administrator, dashboard.now());
  await db.prisma.ssoConnection.update({
    where: { organizationId },
    data: { enforcedAt: new Date(), breakGlassUserId: administrator.userId },
  });
  takeProviderDown();
  const byPasskey = newBrowser();
  expect((await signInWithPasskey(byPasskey, authenticator)).status).toBe(303);
  const byCode = newBrowser();
  await usePassword(byCode, await byCode.get('/sign-in'), administrator.email);
  await byCode.submit('/sign-in/second-factor', { code: codeAt(uri, dashboard.now()) });
  expect([await isIn(byPasskey), await isIn(byCode)]).toEqual([true, true]);
});
