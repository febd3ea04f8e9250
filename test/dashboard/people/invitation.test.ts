import { vouchForDomain } from '../../../src/service/single-sign-on/domains.ts';
import { createAccount } from '../../support/data/accounts.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';
import { PASSWORD } from '../../support/data/password.ts';
import { Browser, filled, type Page, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';
import { startSmtp } from '../../support/http/smtp.ts';

const smtp = await startSmtp();
afterAll(() => smtp.close());
const mail = { smtpUrl: smtp.url, mailFrom: 'Charter <charter@example.org>' };
const dashboard = await useDashboard({ publicUrl: 'https://charter.example.org', mail });
const { db, outbox } = dashboard;
const people = await createPeople(db);
const browser = await browserOf(dashboard, people.manager);
const INVITE = '/people/users/invite';

const newEmail = () => `mei-${crypto.randomUUID()}@example.test`;
const invite = (email: string) => browser.submit(INVITE, { name: 'Mei Tanaka', email, role: 'viewer' });
const userUrlIn = ({ text }: Page) => /\/people\/users\/[0-9a-f-]{36}/.exec(text)?.[0] ?? '';

/** The mails that were sent since the last call. */
async function mails(): Promise<string[]> {
  await outbox.settle();
  return smtp.mails.splice(0);
}

test('an invitation is only mailed, and says the same whether or not the e-mail has an account elsewhere', async () => {
  // The attack: invite an e-mail, or open the link oneself, to learn who has an account.
  const known = await createAccount(db);
  const unknown = newEmail();
  const said = [];
  for (const email of [known.email, unknown]) {
    const page = await invite(email);
    expect([page.status, page.text.includes('/welcome/')]).toEqual([200, false]);
    said.push(
      wordsOf(page)
        .replaceAll(email, 'EMAIL')
        .replace(/\d\d:\d\d/g, ''),
    );
  }
  expect(said[0]).toBe(said[1]);
  expect(said[0]).toContain('We sent a link to EMAIL');
  const [toKnown = '', toUnknown = ''] = await mails();
  expect([toKnown, toUnknown].map((text) => /^To: .*$/m.exec(text)?.[0])).toEqual([
    `To: Mei Tanaka <${known.email}>`,
    `To: Mei Tanaka <${unknown}>`,
  ]);
  expect(toKnown.replace(/\s+/g, ' ')).toContain('has an account in another organization already');
  expect([toKnown, toUnknown].map((text) => text.includes('/welcome/'))).toEqual([false, true]);
});

test('the page of somebody who was invited corrects the e-mail and withdraws the invitation', async () => {
  const [wrong, right] = [newEmail(), newEmail()];
  const url = userUrlIn(await invite(wrong));
  expect(wordsOf(await browser.get(url))).toContain('Withdraw the invitation Removes the user');
  expect(wordsOf(await browser.get(`${url}/email`))).toContain(`${wrong} Mei Tanaka has not accepted the invitation.`);
  expect(wordsOf(await browser.submit(`${url}/email`, { email: 'mei' }))).toContain('must be an e-mail address');
  expect(wordsOf(await browser.submit(`${url}/email`, { email: right }))).toContain(`We sent a link to ${right}`);
  const [former = '', link = ''] = (await mails()).map((text) => /\/welcome\/[\w-]{43}/.exec(text)?.[0] ?? '');
  const guest = new Browser(dashboard.url);
  expect([(await guest.get(former)).status, (await guest.get(link)).status]).toEqual([404, 200]);
  const withdrawn = await browser.submit(`${url}/withdraw`);
  expect(withdrawn.headers['location']).toBe('/people/users?done=withdrawn');
  expect(wordsOf(await browser.get('/people/users?done=withdrawn'))).toContain('The invitation is withdrawn.');
  expect([(await guest.get(link)).status, (await browser.get(url)).status]).toEqual([404, 404]);
});

test('an invitation of somebody with keys is not withdrawn, and nobody’s is once it is accepted', async () => {
  const url = userUrlIn(await invite(newEmail()));
  const userId = url.slice(url.lastIndexOf('/') + 1);
  await giveKey(db, { ...people.viewer, userId });
  const page = await browser.get(`${url}/withdraw`);
  expect(wordsOf(page)).toContain('has API keys or integrations, whose history stays. Deactivate the user instead.');
  expect(page.text).not.toContain('<button class="button danger">');
  const [mailed = ''] = await mails();
  const guest = new Browser(dashboard.url);
  await guest.submit(/\/welcome\/[\w-]{43}/.exec(mailed)?.[0] ?? '', { password: PASSWORD });
  for (const path of ['email', 'withdraw']) expect((await browser.get(`${url}/${path}`)).headers['location']).toBe(url);
  expect(wordsOf(await browser.get(url))).not.toContain('Withdraw');
});

test('a domain that another organization has verified meanwhile says so to the person with the link', async () => {
  const domain = `${crypto.randomUUID()}.example`;
  const page = await invite(`mei@${domain}`);
  expect(page.status).toBe(200);
  const [mailed = ''] = await mails();
  const userId = userUrlIn(page).split('/').at(-1) ?? '';
  await giveKey(db, { ...people.viewer, userId });
  const guest = new Browser(dashboard.url);
  const link = /\/welcome\/[\w-]{43}/.exec(mailed)?.[0] ?? '';
  const form = await guest.form(link);
  const { scope } = await createAccount(db);
  const at = { domain, token: 't'.repeat(32), verifiedAt: new Date() };
  await db.prisma.ssoDomain.create({ data: { organizationId: scope.organizationId, ...at } });
  const refused = await guest.post(link, filled(form, { password: PASSWORD }));
  expect([refused.status, wordsOf(refused)]).toEqual([
    409,
    expect.stringContaining('is of a domain that another organization has verified'),
  ]);
  await vouchForDomain(db, scope, { domain });
  expect(wordsOf(await browser.submit(userUrlIn(page), {}, `${userUrlIn(page)}/link`))).toContain(
    'is of a domain that another organization has verified',
  );
});
