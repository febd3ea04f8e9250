import { type Browser, type Page, wordsOf } from '../../../support/dashboard/dashboard.ts';
import { browserOf, newBrowser as newBrowserAt, useDashboard } from '../../../support/dashboard/dashboard-server.ts';
import { Authenticator, addPasskeyTo, signInWithPasskey } from '../../../support/dashboard/passkeys.ts';
import { createAccount, PASSWORD } from '../../../support/data/accounts.ts';
import { createScope } from '../../../support/data/actors.ts';
import { LOCAL } from '../../../support/data/webhooks.ts';
import { beginWith, connect } from '../../../support/providers/companies.ts';
import { useIdentityProvider } from '../../../support/providers/identity-provider.ts';
import { startSmtp } from '../../../support/servers/smtp.ts';

// Signing in while an organization moves. During the move, failed attempts cannot be recorded, because the organization's audit
// log is closed.

const ORIGIN = 'https://charter.example.org';
const smtp = await startSmtp();
afterAll(() => smtp.close());
const mail = { smtpUrl: smtp.url, mailFrom: 'Charter <charter@example.org>' };
const dashboard = await useDashboard({ webhooks: LOCAL, publicUrl: ORIGIN, mail });
const { db } = dashboard;
const provider = await useIdentityProvider();
const scope = await createScope(db);
const [administrator, member, former] = [
  await createAccount(db, { scope, role: 'administrator' }),
  await createAccount(db, { scope }),
  await createAccount(db, { scope }),
];
const domain = 'company.example';
await connect(db, administrator, { provider, domain });
await db.prisma.user.updateMany({ where: { id: former.userId }, data: { deactivatedAt: new Date() } });
const passkey = await addPasskeyTo(await browserOf(dashboard, member), ORIGIN);

const newBrowser = () => newBrowserAt(dashboard);
await db.prisma.user.updateMany({ where: { id: administrator.userId }, data: { email: `known@${domain}` } });
/** A move of the organization that has begun. */
const move = { organizationId: scope.organizationId, id: crypto.randomUUID() };
await db.prisma.organizationMove.create({ data: move });
await db.prisma.organization.update({ where: { id: scope.organizationId }, data: { suspendedAt: new Date() } });

const nobody = () => `nobody-${crypto.randomUUID()}@example.test`;
type Way = (browser: Browser, email: string) => Promise<Page>;
const typed =
  (fields: Readonly<Record<string, string>>): Way =>
  async (browser, email) =>
    browser.submit('/sign-in', { step: '', ...fields, email }, '/sign-in');

const WAYS: Record<string, { readonly known: string; readonly try: Way }> = {
  'a wrong password': { known: member.email, try: typed({ password: 'wrong' }) },
  'an empty password': { known: member.email, try: typed({ password: '' }) },
  'the password of a deactivated user': { known: former.email, try: typed({ password: PASSWORD }) },
  'the password of an e-mail in another form': {
    known: ` ${member.email.toUpperCase()}.`,
    try: typed({ password: 'wrong' }),
  },
  'a forgotten password': {
    known: member.email,
    try: async (browser, email) => browser.submit('/forgotten-password', { email }),
  },
};

test.each(Object.keys(WAYS))('%s gets the same response as for an e-mail without an account', async (name) => {
  // The attack: learning who works for a customer while the customer moves.
  const way = WAYS[name];
  if (way === undefined) throw new Error(`There is no way ${name}.`);
  const told = [];
  for (const email of [way.known, nobody()]) {
    const page = await way.try(newBrowser(), email);
    told.push([page.status, wordsOf(page), page.headers['retry-after']]);
  }
  expect(told[0]).toEqual(told[1]);
  expect(told[0]?.[0]).not.toBe(503);
  await dashboard.outbox.settle();
  expect(smtp.mails).toEqual([]);
  expect(dashboard.logged.filter((line) => line.includes('could not send a mail'))).toEqual([]);
});

test('a passkey that did not sign the challenge gets the same response as an unknown passkey', async () => {
  const known = await signInWithPasskey(newBrowser(), passkey, { challenge: 'another' });
  const unknown = await signInWithPasskey(newBrowser(), new Authenticator(ORIGIN, { counter: 1 }), {});
  expect([known.status, wordsOf(known)]).toEqual([unknown.status, wordsOf(unknown)]);
  expect(known.status).not.toBe(503);
});

test('a refused sign-in at the provider gets the same response for every e-mail that was typed', async () => {
  const told = [];
  for (const email of [`known@${domain}`, `nobody@${domain}`]) {
    const browser = newBrowser();
    const back = provider.authorize(await beginWith(browser, email), { sub: 'nobody' });
    const page = await browser.get(back.replace(/\bcode=[^&]*/, 'error=access_denied'));
    told.push([page.status, wordsOf(page).replaceAll(email, 'EMAIL')]);
  }
  expect(told[0]).toEqual(told[1]);
  expect(told[0]?.[0]).not.toBe(503);
});

test('a person who proves that the account is theirs reads that the organization is moving, however often they try', async () => {
  const right = await typed({ password: PASSWORD })(newBrowser(), member.email);
  const byPasskey = await signInWithPasskey(newBrowser(), passkey);
  expect([right.status, byPasskey.status]).toEqual([503, 503]);
  expect(wordsOf(right)).toContain('moving');
  // A correct password or passkey must not count as a failed attempt. Ten failed attempts would lock the person out, even after
  // the move.
  const browser = newBrowser();
  for (let i = 0; i < 11; i += 1) {
    const again = await typed({ password: PASSWORD })(browser, member.email);
    const againByPasskey = await signInWithPasskey(browser, passkey);
    expect([again.status, againByPasskey.status]).toEqual([503, 503]);
  }
});
