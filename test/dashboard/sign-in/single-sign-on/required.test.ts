import { allowPasswords } from '../../../../src/service/operator/organizations.ts';
import { orThrow } from '../../../../src/service/outcome.ts';
import { requestReset } from '../../../../src/service/people/access-links.ts';
import { inviteUser } from '../../../../src/service/people/invitations.ts';
import { expectToSay, isIn, type Page, wordsOf } from '../../../support/dashboard/dashboard.ts';
import { formsOf } from '../../../support/dashboard/forms.ts';
import { addPasskeyTo, signInWithPasskey } from '../../../support/dashboard/passkeys.ts';
import { addSecondFactor, codeAt, createAccount, newAuditSource, PASSWORD } from '../../../support/data/accounts.ts';
import { giveKey, listAuditEventsOf } from '../../../support/data/actors.ts';
import { beginAtTile, PUBLIC_URL as publicUrl, urlIn } from '../../../support/providers/companies.ts';
import { SECURE_URL, SETTINGS, useRequirement } from '../../../support/providers/requirement.ts';

const { dashboard, smtp, db, provider, newBrowser, secureBrowser, withPassword, ...requirement } =
  await useRequirement();
const { company, requiringCompany, requireSingleSignOn, expectProofByPasskeyOnly, refusalReasonsOf } = requirement;

/** Returns the URL of the link on the page that says that single sign-on is required. */
const continueUrlIn = ({ text }: Page) =>
  (/<a class="button" href="([^"]*)">Continue with single sign-on</.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');

test('no wrong password says that single sign-on is required, so nobody learns which e-mails have an account', async () => {
  const { administrator, member, breakGlass, domain } = await requiringCompany();
  const told = [];
  for (const email of [member.email, breakGlass.email, `nobody@${domain}`]) {
    const page = await newBrowser().submit('/sign-in?with=password', { email, password: 'a wrong one' }, '/sign-in');
    told.push([page.status, wordsOf(page)]);
  }
  expect(told[0]).toEqual([422, expect.stringContaining('The e-mail or the password is not right.')]);
  for (const other of told.slice(1)) expect(other).toEqual(told[0]);
  expect(await refusalReasonsOf(administrator)).toEqual(Array(2).fill('the password was wrong'));
});

test('a right password signs nobody in, and its page leads to the provider and on', async () => {
  const { administrator, member, person } = await requiringCompany();
  const browser = newBrowser();
  const path = '/sign-in?with=password&next=/profile/api-keys';
  const refused = await browser.submit(path, { email: member.email, password: PASSWORD }, '/sign-in');
  expectToSay(refused, 403, 'Your organization requires single sign-on');
  expect(await isIn(browser)).toBe(false);
  expect(await refusalReasonsOf(administrator)).toEqual(['the organization requires single sign-on']);
  const url = await beginAtTile(browser, continueUrlIn(refused));
  const back = await browser.get(provider.authorize(url, person));
  expect(back.headers['location']).toBe('/profile/api-keys');
});

test('an administrator who removes the connection in a session by it is told before and after that the session ends', async () => {
  const { browser } = await company();
  const url = `${SETTINGS}/connection/remove`;
  const asked = wordsOf(await browser.get(url));
  expect(asked).toContain('If you signed in by single sign-on yourself, your session ends, too.');
  expect(asked).toContain('The settings under New people and groups are deleted');
  const removed = await browser.submit(url);
  expect(removed.headers['location']).toBe('/sign-in?done=connection-removed');
  expect(wordsOf(await browser.get(removed.headers['location'] ?? ''))).toContain(
    'The connection to your identity provider is removed',
  );
  expect(await isIn(browser)).toBe(false);
});

test('the pages name no password that nobody can use', async () => {
  const { browser, member, breakGlass } = await requiringCompany();
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

test('sessions by a password end, and API keys keep working', async () => {
  const { member, browser, breakGlass } = await company();
  const before = newBrowser();
  await withPassword(before, member.email);
  const key = await giveKey(db, member);
  expect(await isIn(before)).toBe(true);
  await requireSingleSignOn(browser, breakGlass);
  expect([await isIn(before), await isIn(browser), await dashboard.statusOf(key.key)]).toEqual([false, true, 200]);
});

test('a session that waited for the code when single sign-on was required opens nothing', async () => {
  const { member, browser, breakGlass } = await company();
  const { uri } = await addSecondFactor(db, member, dashboard.now());
  const half = newBrowser();
  await withPassword(half, member.email);
  const form = await half.form('/sign-in/second-factor');
  await requireSingleSignOn(browser, breakGlass);
  const code = codeAt(uri, dashboard.now());
  await half.post('/sign-in/second-factor', { ...Object.fromEntries(form.fields), code });
  expect(await isIn(half)).toBe(false);
});

test('a reset link leads to the provider, and sets no password', async () => {
  const { member, person } = await requiringCompany();
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
  // The attack: posting the form by hand.
  const form_token = new Map((await browser.form(path, `${path}/single-sign-on`)).fields).get('form_token');
  expect((await browser.post(path, { form_token, password: 'a long enough password' })).status).toBe(404);
  const url = urlIn(await browser.submit(path, {}, `${path}/single-sign-on`)) ?? '';
  await browser.get(provider.authorize(url, person));
  expect(await isIn(browser)).toBe(true);
});

test('a link leads to the provider of its organization, even if another one has verified the domain of the e-mail', async () => {
  // The attack: the other organization makes the people of this organization sign in at its own provider.
  const [{ administrator, scope, browser, breakGlass }, other] = [await company(), await company()];
  const domain = `late-${other.domain}`;
  const email = `invited@${domain}`;
  const { link } = orThrow(await inviteUser(db, administrator, { email, name: 'Ida', role: 'member' }));
  const at = { domain, token: 't'.repeat(32), verifiedAt: new Date() };
  await db.prisma.ssoDomain.create({ data: { organizationId: other.scope.organizationId, ...at } });
  await requireSingleSignOn(browser, breakGlass);
  const path = `/welcome/${link.token}`;
  const url = urlIn(await newBrowser().submit(path, {}, `${path}/single-sign-on`)) ?? '';
  expect(new URL(url).searchParams.get('redirect_uri')).toContain(scope.organizationId);
});

test('an invitation to an e-mail of no verified domain is refused with a remedy, because its link would lead nowhere', async () => {
  const { browser, domain } = await requiringCompany();
  const path = '/people/users/invite';
  const refused = await browser.submit(path, { name: 'Ida', email: 'ida@other.example', role: 'member' });
  expectToSay(refused, 422, `must be of a verified domain (${domain}), because your organization requires single`);
  expect(wordsOf(refused)).toContain('verify another one under Organization, Sign-in');
  expect(await db.prisma.user.count({ where: { email: 'ida@other.example' } })).toBe(0);
  const invited = await browser.submit(path, { name: 'Ida', email: `ida@${domain}`, role: 'member' });
  expect(invited.status).toBe(200);
});

test('nobody sets up a password or a second factor from a session by single sign-on', async () => {
  // The attack: getting a session that the provider cannot end.
  const { browser } = await requiringCompany();
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
    email: `guest-${i}@other-${domain}`,
  }));
  for (const data of [...others, { name: 'Mei', email: `mei@${domain}` }]) {
    const { userId } = await createAccount(db, { scope, role: 'member' });
    await db.prisma.user.updateMany({ where: { id: userId }, data });
  }
  const before = wordsOf(await browser.get(SETTINGS));
  expect(before).toContain('7 people could not sign in any more. Their e-mail is of no verified domain');
  for (const { name, email } of others.slice(0, 6)) expect(before).toContain(`${name}, ${email}`);
  expect(before).toContain('and 1 other');
  expect(before).not.toContain(`mei@${domain}`);
  await requireSingleSignOn(browser, breakGlass);
  expect(wordsOf(await browser.get(SETTINGS))).toContain('7 people cannot sign in.');
  // A link would not let these people in, so they get no link, either by mail or from an administrator.
  smtp.mails.length = 0;
  const request = { email: others[0]?.email ?? '', auditSource: newAuditSource(), now: dashboard.now() };
  await requestReset(db, request, { outbox: dashboard.outbox, publicUrl });
  await dashboard.outbox.settle();
  expect(smtp.mails).toEqual([]);
  const { id } = await db.prisma.user.findFirstOrThrow({ where: { email: others[0]?.email ?? '' } });
  const refused = await browser.submit(`/people/users/${id}`, {}, `/people/users/${id}/link`);
  expectToSay(refused, 409, `The e-mail guest-0@other-${domain} must be of a verified domain (${domain})`);
  expect(await db.prisma.accessLink.count({ where: { userId: id } })).toBe(0);
});

test('a passkey does not sign in, but proves who somebody is, and a password proves nothing', async () => {
  // The attack: the provider has closed a person's account, but the person's passkey still works.
  const { browser: own, administrator } = await requiringCompany();
  const browser = secureBrowser(own);
  const authenticator = await addPasskeyTo(browser, SECURE_URL);
  const profile = wordsOf(await browser.get('/profile'));
  expect(profile).toContain('proves who you are before you change keys or settings. You sign in by single sign-on');
  expect(profile).not.toContain('replaces the password');
  const guest = secureBrowser();
  const refused = await signInWithPasskey(guest, authenticator);
  expect([refused.status, await isIn(guest)]).toEqual([403, false]);
  expect(wordsOf(refused)).toContain('Your organization requires single sign-on');
  expect(continueUrlIn(refused)).toContain(`/single-sign-on/${administrator.scope.organizationId}/start?`);
  expect(await refusalReasonsOf(administrator)).toEqual(['the organization requires single sign-on']);
  const forged = await signInWithPasskey(secureBrowser(), authenticator, { isForged: true });
  expect([forged.status, wordsOf(forged)]).toEqual([422, expect.not.stringContaining('requires')]);
  await expectProofByPasskeyOnly(browser, administrator, authenticator);
});

test('single sign-on can be required only from a session by single sign-on', async () => {
  const { administrator, breakGlass } = await company();
  const browser = newBrowser();
  await withPassword(browser, administrator.email);
  const page = await requireSingleSignOn(browser, breakGlass);
  expectToSay(page, 409, 'in again by single sign-on');
});

test('while single sign-on is required, its connection and domains cannot be changed', async () => {
  const { browser, domain } = await requiringCompany();
  expect((await browser.submit(`${SETTINGS}/connection/remove`)).status).toBe(409);
  const form = await browser.form(SETTINGS, `${SETTINGS}/domains/remove`);
  const fields = { ...Object.fromEntries(form.fields), domain };
  expect((await browser.post(`${SETTINGS}/domains/remove`, fields)).status).toBe(409);
  const { issuer, clientSecret } = provider;
  const change = { issuer, client_id: 'another', client_secret: clientSecret };
  expect((await browser.submit(SETTINGS, change, `${SETTINGS}/connection`)).status).toBe(422);
});

test('an administrator, or an operator, stops requiring single sign-on, and then passwords work again', async () => {
  const { browser, member, scope, breakGlass, administrator } = await requiringCompany();
  await browser.submit(SETTINGS, {}, `${SETTINGS}/allow-passwords`);
  expect((await withPassword(newBrowser(), member.email)).status).toBe(303);
  await requireSingleSignOn(browser, breakGlass);
  expect((await withPassword(newBrowser(), member.email)).status).toBe(403);
  await allowPasswords(db, scope.organizationId);
  expect((await withPassword(newBrowser(), member.email)).status).toBe(303);
  await expect(allowPasswords(db, scope.organizationId)).rejects.toThrow('Single sign-on is not required.');
  const actions = (await listAuditEventsOf(db, administrator)).map(({ action }) => action);
  expect(actions.filter((action) => /^sso\.(no_longer_)?required$/.test(action))).toEqual([
    'sso.required',
    'sso.no_longer_required',
    'sso.required',
    'sso.no_longer_required',
  ]);
});
