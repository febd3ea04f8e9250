import { allowPasswords } from '../../../src/service/operator/organizations.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { requestReset } from '../../../src/service/people/access-links.ts';
import { inviteUser } from '../../../src/service/people/invitations.ts';
import { type Browser, isIn, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { newBrowser as newBrowserAt, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { formsOf } from '../../support/dashboard/forms.ts';
import { addPasskeyTo, provePasskey, signInWithPasskey } from '../../support/dashboard/passkeys.ts';
import {
  addSecondFactor,
  ageProofs,
  codeAt,
  createAccount,
  givePasskey,
  newAuditSource,
} from '../../support/data/accounts.ts';
import { auditEventsOf, createScope, giveKey } from '../../support/data/actors.ts';
import { PASSWORD } from '../../support/data/password.ts';
import {
  beginAtTile,
  beginWith,
  connect,
  LOCAL,
  PUBLIC_URL as publicUrl,
  urlIn,
} from '../../support/data/single-sign-on.ts';
import { useIdentityProvider } from '../../support/providers/identity-provider.ts';
import { startSmtp } from '../../support/servers/smtp.ts';

const smtp = await startSmtp();
afterAll(() => smtp.close());
const mail = { smtpUrl: smtp.url, mailFrom: 'Charter <charter@example.org>' };
const dashboard = await useDashboard({ webhooks: LOCAL, publicUrl, mail });
const SECURE = 'https://charter.example.org';
/** The same by HTTPS, which passkeys need. */
const secure = await useDashboard({ databaseUrl: dashboard.databaseUrl, publicUrl: SECURE, mail });
/** The same without mail. */
const mailless = await useDashboard({ databaseUrl: dashboard.databaseUrl, publicUrl });
const { db } = dashboard;
const provider = await useIdentityProvider();

let made = 0;
const newBrowser = () => newBrowserAt(dashboard);

/** A browser by HTTPS, with the session of another one. */
function secureBrowser(from?: Browser): Browser {
  const browser = newBrowserAt(secure);
  if (from !== undefined) browser.cookies.set('__Host-charter', from.cookies.get('charter') ?? '');
  return browser;
}

const withPassword = (browser: Browser, email: string) =>
  browser.submit('/sign-in?with=password', { email, password: PASSWORD }, '/sign-in');

/** Where the page leads that says that single sign-on is required. */
const continueUrlIn = ({ text }: Page) =>
  (/<a class="button" href="([^"]*)">Continue with single sign-on</.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');

/** An organization with an administrator who is signed in by single sign-on, one with all ways to sign in, and a member. */
async function company() {
  made += 1;
  const domain = `company-${made}.example`;
  const scope = await createScope(db);
  const named = async (name: string, role: 'administrator' | 'member') => {
    const account = await createAccount(db, { scope, role });
    const email = `${name}@${domain}`;
    await db.prisma.user.updateMany({ where: { id: account.userId }, data: { email, name } });
    return { ...account, email, name };
  };
  const administrator = await named('ada', 'administrator');
  const breakGlass = await named('berta', 'administrator');
  const member = await named('mei', 'member');
  await connect(db, administrator, { provider });
  const { uri } = await addSecondFactor(db, breakGlass, dashboard.now());
  await givePasskey(db, breakGlass);
  const browser = newBrowser();
  const person = { sub: `ada-${made}`, email: administrator.email };
  const toConfirm = await browser.get(provider.authorize(await beginWith(browser, administrator.email), person));
  await browser.submit(toConfirm.headers['location'] ?? '', { password: PASSWORD });
  return { scope, domain, administrator, breakGlass, member, uri, browser };
}

const SETTINGS = '/organization/sign-in';
const require = (browser: Browser, { userId }: { userId: string }) =>
  browser.submit(SETTINGS, { break_glass: userId }, `${SETTINGS}/require`);

async function required() {
  const found = await company();
  expect((await require(found.browser, found.breakGlass)).headers['location']).toBe(`${SETTINGS}?done=required`);
  return found;
}

const whysOf = async (actor: Parameters<typeof auditEventsOf>[1]) =>
  (await auditEventsOf(db, actor)).flatMap(({ action, detail }) =>
    action === 'user.sign_in_failed' && typeof detail === 'object' && detail !== null && 'why' in detail
      ? [detail['why']]
      : [],
  );

test('no wrong password says that single sign-on is required, so nobody learns which e-mails have an account', async () => {
  const { administrator, member, breakGlass, domain } = await required();
  const told = [];
  for (const email of [member.email, breakGlass.email, `nobody@${domain}`]) {
    const page = await newBrowser().submit('/sign-in?with=password', { email, password: 'a wrong one' }, '/sign-in');
    told.push([page.status, wordsOf(page)]);
  }
  expect(told[0]).toEqual([422, expect.stringContaining('The e-mail or the password is not right.')]);
  for (const other of told.slice(1)) expect(other).toEqual(told[0]);
  expect(await whysOf(administrator)).toEqual(Array(2).fill('the password was wrong'));
});

test('a right password signs nobody in, and its page leads to the provider and on', async () => {
  const { administrator, member } = await required();
  const browser = newBrowser();
  const path = '/sign-in?with=password&next=/profile/api-keys';
  const refused = await browser.submit(path, { email: member.email, password: PASSWORD }, '/sign-in');
  expect([refused.status, wordsOf(refused)]).toEqual([
    403,
    expect.stringContaining('Your organization requires single sign-on'),
  ]);
  expect(await isIn(browser)).toBe(false);
  expect(await whysOf(administrator)).toEqual(['the organization requires single sign-on']);
  const url = await beginAtTile(browser, continueUrlIn(refused));
  const toConfirm = await browser.get(provider.authorize(url, { sub: `mei-${made}`, email: member.email }));
  const done = await browser.submit(toConfirm.headers['location'] ?? '', { password: PASSWORD });
  expect(done.headers['location']).toBe('/profile/api-keys');
});

test('whoever removes the connection in a session by it is told before and after that it ends', async () => {
  const { browser } = await company();
  const url = `${SETTINGS}/connection/remove`;
  expect(wordsOf(await browser.get(url))).toContain(
    'If you signed in by single sign-on yourself, your session ends, too.',
  );
  expect(wordsOf(await browser.get(url))).toContain('The settings under New people and groups are deleted');
  const removed = await browser.submit(url);
  expect(removed.headers['location']).toBe('/sign-in?done=connection-removed');
  expect(wordsOf(await browser.get(removed.headers['location'] ?? ''))).toContain(
    'The connection to your identity provider is removed',
  );
  expect(await isIn(browser)).toBe(false);
});

test('the pages name no password that nobody can use', async () => {
  const { browser, member, breakGlass } = await required();
  const invitation = wordsOf(await browser.get('/people/users/invite'));
  expect(invitation).toContain('They get a link with which they sign in at your identity provider.');
  expect(invitation).not.toContain('password');
  const user = `/people/users/${member.userId}`;
  expect(wordsOf(await browser.get(user))).toContain(
    'the user confirms the account and continues at your identity provider',
  );
  expect(wordsOf(await browser.get(`/people/users/${breakGlass.userId}`))).toContain('chooses a new password');
  const made = wordsOf(await browser.submit(user, {}, `${user}/link`));
  expect(made).toContain('It leads to a sign-in at your identity provider once');
  expect(made).not.toContain('password');
  const profile = await browser.get('/profile');
  expect(wordsOf(profile)).toContain('Your organization requires single sign-on, so you need no password');
  expect(profile.text).not.toMatch(/href="\/profile\/(password|second-factor)"/);
});

test('sessions by a password have ended, and API keys go on', async () => {
  const { member, browser, breakGlass } = await company();
  const before = newBrowser();
  await withPassword(before, member.email);
  const key = await giveKey(db, member);
  expect(await isIn(before)).toBe(true);
  await require(browser, breakGlass);
  expect([await isIn(before), await isIn(browser), await dashboard.statusOf(key.key)]).toEqual([false, true, 200]);
});

test('the break-glass administrator signs in with password and code; all administrators get a mail, the audit log an event', async () => {
  const { administrator, breakGlass, uri } = await required();
  const browser = newBrowser();
  expect((await withPassword(browser, breakGlass.email)).headers['location']).toMatch(/second-factor/);
  expect(await isIn(browser)).toBe(false);
  smtp.mails.length = 0;
  await browser.submit('/sign-in/second-factor', { code: codeAt(uri, dashboard.now()) });
  expect(await isIn(browser)).toBe(true);
  await dashboard.outbox.settle();
  const to = [administrator, breakGlass].map(
    ({ email }) => smtp.mails.filter((mail) => mail.includes(`<${email}>`)).length,
  );
  expect([to, smtp.mails.length]).toEqual([[1, 1], 2]);
  expect(smtp.mails[0]).toContain('berta signed in to Test on Charter with a password');
  const events = await auditEventsOf(db, administrator);
  expect(events.filter(({ action }) => action === 'user.break_glass_used')).toMatchObject([
    { actorUserId: breakGlass.userId },
  ]);
});

test('a session that waited for the code when single sign-on was required opens nothing', async () => {
  const { member, browser, breakGlass } = await company();
  const { uri } = await addSecondFactor(db, member, dashboard.now());
  const half = newBrowser();
  await withPassword(half, member.email);
  const form = await half.form('/sign-in/second-factor');
  await require(browser, breakGlass);
  const code = codeAt(uri, dashboard.now());
  await half.post('/sign-in/second-factor', { ...Object.fromEntries(form.fields), code });
  expect(await isIn(half)).toBe(false);
});

test('a reset link leads to the provider, and sets no password', async () => {
  const { member } = await required();
  smtp.mails.length = 0;
  const request = { email: member.email, auditSource: newAuditSource(), now: dashboard.now() };
  await requestReset(db, request, { outbox: dashboard.outbox, publicUrl });
  await dashboard.outbox.settle();
  expect(smtp.mails.join()).toContain('Open this link to sign in at the identity provider of your organization:');
  expect(smtp.mails.join()).not.toContain('password');
  const path = /\/welcome\/[\w-]{43}/.exec(smtp.mails.join())?.[0] ?? '';
  const browser = newBrowser();
  const page = await browser.get(path);
  expect(wordsOf(page)).toContain('Your organization requires single sign-on');
  expect(page.text).not.toContain('type="password"');
  // The attack: the form is posted by hand.
  const form_token = new Map((await browser.form(path, `${path}/single-sign-on`)).fields).get('form_token');
  expect((await browser.post(path, { form_token, password: 'a long enough password' })).status).toBe(404);
  const url = urlIn(await browser.submit(path, {}, `${path}/single-sign-on`)) ?? '';
  await browser.get(provider.authorize(url, { sub: `mei-${made}`, email: member.email }));
  expect(await isIn(browser)).toBe(true);
});

test('a link leads to the provider of its organization, whoever has the domain of the e-mail', async () => {
  // The attack: another organization verifies the domain, and has the people of this one sign in at its own provider.
  const [{ administrator, scope, browser, breakGlass }, other] = [await company(), await company()];
  const domain = `late-${other.domain}`;
  const email = `invited@${domain}`;
  const { link } = orThrow(await inviteUser(db, administrator, { email, name: 'Ida', role: 'member' }));
  const at = { domain, token: 't'.repeat(32), verifiedAt: new Date() };
  await db.prisma.ssoDomain.create({ data: { organizationId: other.scope.organizationId, ...at } });
  await require(browser, breakGlass);
  const path = `/welcome/${link.token}`;
  const url = urlIn(await newBrowser().submit(path, {}, `${path}/single-sign-on`)) ?? '';
  expect(new URL(url).searchParams.get('redirect_uri')).toContain(scope.organizationId);
});

test('an invitation to an e-mail of no verified domain, which would lead nowhere, is refused with a remedy', async () => {
  const { browser, domain } = await required();
  const path = '/people/users/invite';
  const refused = await browser.submit(path, { name: 'Ida', email: 'ida@other.example', role: 'member' });
  expect([refused.status, wordsOf(refused)]).toEqual([
    422,
    expect.stringContaining(`must be of a verified domain (${domain}), because your organization requires single`),
  ]);
  expect(wordsOf(refused)).toContain('verify another one under Organization, Sign-in');
  expect(await db.prisma.user.count({ where: { email: 'ida@other.example' } })).toBe(0);
  const invited = await browser.submit(path, { name: 'Ida', email: `ida@${domain}`, role: 'member' });
  expect(invited.status).toBe(200);
});

test('nobody sets up a password or a second factor from a session by single sign-on', async () => {
  // The attack: a session that the provider cannot end.
  const { browser } = await required();
  const change = { password: 'another long enough password' };
  const form_token = await browser.formToken();
  for (const path of ['/profile/password', '/profile/second-factor']) {
    const refused = [409, expect.stringContaining('requires single sign-on, so you need no password')];
    const page = await browser.get(path);
    expect([page.status, wordsOf(page), formsOf(page.text).some(({ action }) => action === path)]).toEqual([
      ...refused,
      false,
    ]);
    const posted = await browser.post(path, { form_token, ...(path.endsWith('password') && change) });
    expect([posted.status, wordsOf(posted)]).toEqual(refused);
  }
});

test('the page that requires single sign-on names the people whom it shuts out', async () => {
  const { scope, browser, breakGlass, domain } = await company();
  const others = Array.from({ length: 7 }, (_, i) => ({
    name: `Guest ${i}`,
    email: `guest-${i}@other-${made}.example`,
  }));
  for (const data of others) {
    const { userId } = await createAccount(db, { scope, role: 'member' });
    await db.prisma.user.updateMany({ where: { id: userId }, data });
  }
  const before = wordsOf(await browser.get(SETTINGS));
  expect(before).toContain('7 people could not sign in any more. Their e-mail is of no verified domain');
  for (const { name, email } of others.slice(0, 6)) expect(before).toContain(`${name}, ${email}`);
  expect(before).toContain('and 1 other');
  expect(before).not.toContain(`mei@${domain} and`);
  await require(browser, breakGlass);
  expect(wordsOf(await browser.get(SETTINGS))).toContain('7 people cannot sign in.');
  // Invited, they would not get in, and neither by a link that they ask for.
  smtp.mails.length = 0;
  const request = { email: others[0]?.email ?? '', auditSource: newAuditSource(), now: dashboard.now() };
  await requestReset(db, request, { outbox: dashboard.outbox, publicUrl });
  await dashboard.outbox.settle();
  expect(smtp.mails).toEqual([]);
  const { id } = await db.prisma.user.findFirstOrThrow({ where: { email: others[0]?.email ?? '' } });
  const refused = await browser.submit(`/people/users/${id}`, {}, `/people/users/${id}/link`);
  expect([refused.status, wordsOf(refused)]).toEqual([
    409,
    expect.stringContaining(`The e-mail guest-0@other-${made}.example must be of a verified domain (${domain})`),
  ]);
  expect(await db.prisma.accessLink.count({ where: { userId: id } })).toBe(0);
});

test('the page offers only administrators with a password and a passkey, who are not among the people whom it shuts out', async () => {
  const { browser, breakGlass, administrator } = await company();
  const email = `emergency@other-${made}.example`;
  await db.prisma.user.updateMany({ where: { id: breakGlass.userId }, data: { email } });
  const page = await browser.get(SETTINGS);
  expect(page.text).toContain(`<option value="${breakGlass.userId}" selected>`);
  expect(page.text).not.toContain(`<option value="${administrator.userId}"`);
  expect(wordsOf(page)).not.toContain('could not sign in any more');
  await db.prisma.passkey.deleteMany({ where: { userId: breakGlass.userId } });
  expect(wordsOf(await browser.get(SETTINGS))).toContain(
    'That needs an administrator with a password and a passkey, and there is none yet.',
  );
});

test('the page promises a mail about the break-glass administrator only where the server can send one', async () => {
  const { browser } = await company();
  const promise = 'All administrators get a mail when that account is used.';
  expect(wordsOf(await browser.get(SETTINGS))).toContain(promise);
  const silent = newBrowserAt(mailless);
  silent.cookies.set('charter', browser.cookies.get('charter') ?? '');
  const words = wordsOf(await silent.get(SETTINGS));
  expect(words).toContain('This server cannot send mail');
  expect(words).not.toContain(promise);
});

test('a passkey does not sign in, but proves who somebody is, and a password proves nothing', async () => {
  // The attack: the provider has ended the account of a person, whose passkey still works.
  const { browser: own, administrator } = await required();
  const browser = secureBrowser(own);
  const authenticator = await addPasskeyTo(browser, SECURE);
  const profile = wordsOf(await browser.get('/profile'));
  expect(profile).toContain('proves who you are before you change keys or settings. You sign in by single sign-on');
  expect(profile).not.toContain('replaces the password');
  const guest = secureBrowser();
  const refused = await signInWithPasskey(guest, authenticator);
  expect([refused.status, await isIn(guest)]).toEqual([403, false]);
  expect(wordsOf(refused)).toContain('Your organization requires single sign-on');
  expect(continueUrlIn(refused)).toContain(`/single-sign-on/${administrator.scope.organizationId}/start?`);
  expect(await whysOf(administrator)).toEqual(['the organization requires single sign-on']);
  const forged = await signInWithPasskey(secureBrowser(), authenticator, { isForged: true });
  expect([forged.status, wordsOf(forged)]).toEqual([422, expect.not.stringContaining('requires')]);
  await ageProofs(db, administrator);
  const asked = await browser.submit('/profile/api-keys/new', { name: 'Late' }, '/profile/api-keys');
  expect([asked.status, asked.text.includes('proof_password')]).toEqual([403, false]);
  const proof = Object.fromEntries(formsOf(asked.text).flatMap(({ fields }) => fields));
  const { form_token, sealed_form } = proof;
  const byPassword = await browser.post('/profile/api-keys', { form_token, sealed_form, proof_password: PASSWORD });
  expect(byPassword.status).toBe(422);
  expect((await provePasskey(browser, asked, authenticator)).status).toBe(200);
});

test('the passkey of the break-glass administrator signs in, is recorded and mailed', async () => {
  const { breakGlass, uri, browser } = await required();
  const own = newBrowser();
  await withPassword(own, breakGlass.email);
  await own.submit('/sign-in/second-factor', { code: codeAt(uri, dashboard.now()) });
  const authenticator = await addPasskeyTo(secureBrowser(own), SECURE);
  await dashboard.outbox.settle();
  const before = smtp.mails.length;
  expect((await signInWithPasskey(secureBrowser(), authenticator)).status).toBe(303);
  await secure.outbox.settle();
  expect(smtp.mails.slice(before).join()).toContain('berta signed in to Test on Charter with a passkey');
  const used = (await auditEventsOf(db, breakGlass)).filter(({ action }) => action === 'user.break_glass_used');
  expect(used).toHaveLength(2);
  expect(await isIn(browser)).toBe(true);
});

test('a break-glass administrator without a second factor signs in by passkey alone, and the last passkey stays', async () => {
  const { browser, administrator } = await company();
  const other = await createAccount(db, { scope: administrator.scope, role: 'administrator' });
  const own = newBrowser();
  await withPassword(own, other.email);
  const authenticator = await addPasskeyTo(secureBrowser(own), SECURE);
  expect((await require(browser, other)).status).toBe(303);
  const byPassword = newBrowser();
  const refused = await withPassword(byPassword, other.email);
  expect([refused.status, wordsOf(refused)]).toEqual([422, expect.stringContaining('Sign in with its passkey')]);
  expect(await whysOf(administrator)).toEqual(['the break-glass account needs a passkey or a second factor']);
  const inEmergency = secureBrowser();
  expect((await signInWithPasskey(inEmergency, authenticator)).status).toBe(303);
  await ageProofs(db, other);
  const asked = await inEmergency.submit('/profile/api-keys/new', { name: 'Late' }, '/profile/api-keys');
  expect([asked.status, asked.text.includes('proof_password')]).toEqual([403, false]);
  const { form_token, sealed_form } = Object.fromEntries(formsOf(asked.text).flatMap(({ fields }) => fields));
  const byPasswordAlone = { form_token, sealed_form, proof_password: PASSWORD };
  expect((await inEmergency.post('/profile/api-keys', byPasswordAlone)).status).toBe(422);
  expect((await provePasskey(inEmergency, asked, authenticator)).status).toBe(200);
  const { id } = await db.prisma.passkey.findFirstOrThrow({ where: { userId: other.userId } });
  const page = await inEmergency.submit(`/profile/passkeys/${id}`, {}, `/profile/passkeys/${id}/remove`);
  expect([page.status, wordsOf(page)]).toEqual([409, expect.stringContaining('break-glass')]);
  expect(await db.prisma.passkey.count({ where: { userId: other.userId } })).toBe(1);
});

test('the break-glass administrator cannot be demoted, deactivated or lose a factor meanwhile', async () => {
  const { browser, breakGlass, uri } = await required();
  const user = `/people/users/${breakGlass.userId}`;
  for (const [path, fields, action] of [
    [user, { role: 'member' }, `${user}/role`],
    [`${user}/deactivate`, {}, `${user}/deactivate`],
    [`${user}/second-factor`, {}, `${user}/second-factor`],
  ] as const) {
    const page = await browser.submit(path, fields, action);
    expect([path, page.status, wordsOf(page)]).toEqual([path, 409, expect.stringContaining('break-glass')]);
  }
  const own = newBrowser();
  await withPassword(own, breakGlass.email);
  await own.submit('/sign-in/second-factor', { code: codeAt(uri, dashboard.now()) });
  const removal = await own.submit('/profile/second-factor', {}, '/profile/second-factor/remove');
  expect([removal.status, wordsOf(removal)]).toEqual([409, expect.stringContaining('break-glass')]);
  const { id } = await db.prisma.passkey.findFirstOrThrow({ where: { userId: breakGlass.userId } });
  const last = await own.submit(`/profile/passkeys/${id}`, {}, `/profile/passkeys/${id}/remove`);
  expect([last.status, wordsOf(last)]).toEqual([409, expect.stringContaining('break-glass')]);
});

describe('to require it', () => {
  test('takes a session by single sign-on', async () => {
    const { administrator, breakGlass } = await company();
    const browser = newBrowser();
    await withPassword(browser, administrator.email);
    const page = await require(browser, breakGlass);
    expect([page.status, wordsOf(page)]).toEqual([409, expect.stringContaining('in again by single sign-on')]);
  });

  test('takes an administrator of this organization with a password and a passkey', async () => {
    const { administrator, member, browser, breakGlass } = await company();
    const { breakGlass: foreign } = await company();
    const id = (userId: string) => ({ userId });
    await db.prisma.user.updateMany({ where: { id: breakGlass.userId }, data: { role: 'manager' } });
    const { scope } = administrator;
    await givePasskey(db, await createAccount(db, { scope, role: 'administrator' }));
    const [noPassword, noPasskey] = await Promise.all(
      [0, 1].map(() => createAccount(db, { scope, role: 'administrator' })),
    );
    if (noPassword === undefined || noPasskey === undefined) throw new Error('There are no accounts.');
    await db.prisma.user.updateMany({ where: { id: noPassword.userId }, data: { passwordHash: null } });
    await givePasskey(db, noPassword);
    await addSecondFactor(db, noPasskey, dashboard.now());
    const unfit = [administrator, member, breakGlass, foreign, noPassword, noPasskey];
    for (const each of [...unfit, id('x'), id(crypto.randomUUID())]) {
      const page = await require(browser, each);
      expect([page.status, wordsOf(page)]).toEqual([
        422,
        expect.stringContaining('must be an active administrator with a password and a passkey'),
      ]);
    }
  });

  test('the connection and its domains stay as they are meanwhile', async () => {
    const { browser, domain } = await required();
    expect((await browser.submit(`${SETTINGS}/connection/remove`)).status).toBe(409);
    const form = await browser.form(SETTINGS, `${SETTINGS}/domains/remove`);
    const fields = { ...Object.fromEntries(form.fields), domain };
    expect((await browser.post(`${SETTINGS}/domains/remove`, fields)).status).toBe(409);
    const { issuer, clientSecret } = provider;
    const change = { issuer, client_id: 'another', client_secret: clientSecret };
    expect((await browser.submit(SETTINGS, change, `${SETTINGS}/connection`)).status).toBe(422);
  });

  test('ends by an administrator, and by an operator, and then passwords work again', async () => {
    const { browser, member, scope, breakGlass, administrator } = await required();
    await browser.submit(SETTINGS, {}, `${SETTINGS}/allow-passwords`);
    expect((await withPassword(newBrowser(), member.email)).status).toBe(303);
    await require(browser, breakGlass);
    expect((await withPassword(newBrowser(), member.email)).status).toBe(403);
    await allowPasswords(db, scope.organizationId);
    expect((await withPassword(newBrowser(), member.email)).status).toBe(303);
    await expect(allowPasswords(db, scope.organizationId)).rejects.toThrow('Single sign-on is not required.');
    const actions = (await auditEventsOf(db, administrator)).map(({ action }) => action);
    expect(actions.filter((action) => /^sso\.(no_longer_)?required$/.test(action))).toEqual([
      'sso.required',
      'sso.no_longer_required',
      'sso.required',
      'sso.no_longer_required',
    ]);
  });
});
