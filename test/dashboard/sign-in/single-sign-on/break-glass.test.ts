import { type Browser, expectToSay, isIn, wordsOf } from '../../../support/dashboard/dashboard.ts';
import { newBrowser as newBrowserAt, useDashboard } from '../../../support/dashboard/dashboard-server.ts';
import { addPasskeyTo, signInWithPasskey } from '../../../support/dashboard/passkeys.ts';
import { addSecondFactor, codeAt, createAccount, givePasskey } from '../../../support/data/accounts.ts';
import { listAuditEventsOf } from '../../../support/data/actors.ts';
import { PUBLIC_URL as publicUrl } from '../../../support/providers/companies.ts';
import { SECURE_URL, SETTINGS, useRequirement } from '../../../support/providers/requirement.ts';

// The administrator who signs in without the identity provider in an emergency.

const { dashboard, secure, smtp, db, newBrowser, secureBrowser, withPassword, ...requirement } = await useRequirement();
const { company, requiringCompany, requireSingleSignOn, expectProofByPasskeyOnly, refusalReasonsOf } = requirement;

/** Signs in with the password and a code of the second factor, and returns the browser. */
async function withCode({ email }: { readonly email: string }, uri: string): Promise<Browser> {
  const browser = newBrowser();
  await withPassword(browser, email);
  await browser.submit('/sign-in/second-factor', { code: codeAt(uri, dashboard.now()) });
  return browser;
}

test('the break-glass administrator signs in with password and code, which is mailed to all administrators and recorded', async () => {
  const { administrator, breakGlass, uri } = await requiringCompany();
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
  expect(smtp.mails[0]).toContain('Berta signed in to Test on Charter with a password');
  const events = await listAuditEventsOf(db, administrator);
  expect(events.filter(({ action }) => action === 'user.break_glass_used')).toMatchObject([
    { actorUserId: breakGlass.userId },
  ]);
});

test('the page offers only administrators with a password and a passkey, who are not among the people whom it shuts out', async () => {
  const { browser, breakGlass, administrator, domain } = await company();
  const email = `emergency@other-${domain}`;
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

const mailless = await useDashboard({ databaseUrl: dashboard.databaseUrl, publicUrl });

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

test('the passkey of the break-glass administrator signs in, is recorded and mailed', async () => {
  const { breakGlass, uri, browser } = await requiringCompany();
  const own = await withCode(breakGlass, uri);
  const authenticator = await addPasskeyTo(secureBrowser(own), SECURE_URL);
  await dashboard.outbox.settle();
  const before = smtp.mails.length;
  expect((await signInWithPasskey(secureBrowser(), authenticator)).status).toBe(303);
  await secure.outbox.settle();
  expect(smtp.mails.slice(before).join()).toContain('Berta signed in to Test on Charter with a passkey');
  const used = (await listAuditEventsOf(db, breakGlass)).filter(({ action }) => action === 'user.break_glass_used');
  expect(used).toHaveLength(2);
  expect(await isIn(browser)).toBe(true);
});

test('a break-glass administrator without a second factor signs in by passkey alone, and the last passkey stays', async () => {
  const { browser, administrator } = await company();
  const other = await createAccount(db, { scope: administrator.scope, role: 'administrator' });
  const own = newBrowser();
  await withPassword(own, other.email);
  const authenticator = await addPasskeyTo(secureBrowser(own), SECURE_URL);
  expect((await requireSingleSignOn(browser, other)).status).toBe(303);
  const byPassword = newBrowser();
  const refused = await withPassword(byPassword, other.email);
  expectToSay(refused, 422, 'Sign in with its passkey');
  expect(await refusalReasonsOf(administrator)).toEqual(['the break-glass account needs a passkey or a second factor']);
  const inEmergency = secureBrowser();
  expect((await signInWithPasskey(inEmergency, authenticator)).status).toBe(303);
  await expectProofByPasskeyOnly(inEmergency, other, authenticator);
  const { id } = await db.prisma.passkey.findFirstOrThrow({ where: { userId: other.userId } });
  const page = await inEmergency.submit(`/profile/passkeys/${id}`, {}, `/profile/passkeys/${id}/remove`);
  expectToSay(page, 409, 'break-glass');
  expect(await db.prisma.passkey.count({ where: { userId: other.userId } })).toBe(1);
});

test('while single sign-on is required, the break-glass administrator cannot be demoted, deactivated or lose a factor', async () => {
  const { browser, breakGlass, uri } = await requiringCompany();
  const user = `/people/users/${breakGlass.userId}`;
  for (const [path, fields, action] of [
    [user, { role: 'member' }, `${user}/role`],
    [`${user}/deactivate`, {}, `${user}/deactivate`],
    [`${user}/second-factor`, {}, `${user}/second-factor`],
  ] as const) {
    const page = await browser.submit(path, fields, action);
    expect([path, page.status, wordsOf(page)]).toEqual([path, 409, expect.stringContaining('break-glass')]);
  }
  const own = await withCode(breakGlass, uri);
  const removal = await own.submit('/profile/second-factor', {}, '/profile/second-factor/remove');
  expectToSay(removal, 409, 'break-glass');
  const { id } = await db.prisma.passkey.findFirstOrThrow({ where: { userId: breakGlass.userId } });
  const last = await own.submit(`/profile/passkeys/${id}`, {}, `/profile/passkeys/${id}/remove`);
  expectToSay(last, 409, 'break-glass');
});

test('the break-glass administrator must be an administrator of this organization with a password and a passkey', async () => {
  const { administrator, member, browser, breakGlass } = await company();
  const { breakGlass: foreign } = await company();
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
  for (const each of [...unfit, { userId: 'x' }, { userId: crypto.randomUUID() }]) {
    const page = await requireSingleSignOn(browser, each);
    expectToSay(page, 422, 'must be an active administrator with a password and a passkey');
  }
});
