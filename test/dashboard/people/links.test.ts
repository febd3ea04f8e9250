import { takeBackInvitations } from '../../../src/service/sign-in/verified-domains.ts';
import { Browser, expectToSay, fillForm, isIn, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createAccount, giveDomain, PASSWORD } from '../../support/data/accounts.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';
import { createTeam } from '../../support/data/team.ts';
import { startSmtp } from '../../support/servers/smtp.ts';

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

/** Returns the mails that were sent since the last call. */
async function mails(): Promise<string[]> {
  await outbox.settle();
  return smtp.mails.splice(0);
}

test('an invitation is only mailed, and says the same whether or not the e-mail has an account elsewhere', async () => {
  // The attack: inviting an e-mail address, or opening the invitation oneself, to learn who has an account.
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
  expect(wordsOf(await browser.get(`${url}/email`))).toContain(
    `Correct the e-mail of Mei Tanaka ${wrong} Mei Tanaka has not accepted the invitation.`,
  );
  expect(wordsOf(await browser.submit(`${url}/email`, { email: 'mei' }))).toContain('must be an e-mail address');
  expect(wordsOf(await browser.submit(`${url}/email`, { email: right }))).toContain(`We sent a link to ${right}`);
  const [former = '', link = ''] = (await mails()).map((text) => /\/welcome\/[\w-]{43}/.exec(text)?.[0] ?? '');
  const guest = new Browser(dashboard.url);
  expect([(await guest.get(former)).status, (await guest.get(link)).status]).toEqual([404, 200]);
  expect(wordsOf(await browser.get(`${url}/withdraw`))).toContain('Withdraw the invitation of Mei Tanaka');
  const withdrawn = await browser.submit(`${url}/withdraw`);
  expect(withdrawn.headers['location']).toBe('/people/users?done=withdrawn');
  expect(wordsOf(await browser.get('/people/users?done=withdrawn'))).toContain('The invitation is withdrawn.');
  const dead = await guest.get(link);
  expect([dead.status, (await browser.get(url)).status]).toEqual([404, 404]);
  expect(wordsOf(dead)).toContain('It was used before, has expired, or was withdrawn.');
});

test('an internationalized e-mail is shown as people write it', async () => {
  const email = `grete@bücher-${crypto.randomUUID()}.example`;
  const invited = await invite(email);
  const url = userUrlIn(invited);
  expect(wordsOf(invited)).toContain(`We sent a link to ${email}`);
  expect(wordsOf(await invite(email))).toContain(`A user of your organization has the e-mail ${email} already.`);
  const [mailed = ''] = await mails();
  const link = /\/welcome\/[\w-]{43}/.exec(mailed)?.[0] ?? '';
  await new Browser(dashboard.url).submit(link, { password: PASSWORD });
  const pages = [
    url,
    `${url}/deactivate`,
    `${url}/second-factor`,
    `${url}/role?role=viewer`,
    `${url}/api-keys/new`,
    `/people/users?q=${encodeURIComponent(email)}`,
  ];
  for (const path of pages) expect(wordsOf(await browser.get(path))).toContain(email);
  expect(wordsOf(await browser.submit(url, {}, `${url}/link`))).toContain(`We send this link to ${email}`);
  await mails();
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
  await giveDomain(db, scope, domain);
  const refused = await guest.post(link, fillForm(form, { password: PASSWORD }));
  expectToSay(refused, 409, 'is of a domain that another organization has verified');
  await takeBackInvitations(db, scope, domain);
  expect(wordsOf(await browser.submit(userUrlIn(page), {}, `${userUrlIn(page)}/link`))).toContain(
    'is of a domain that another organization has verified',
  );
});

// The links with which people choose a password: from an invitation, from a manager, or in a mail.

const CHOSEN = 'entirely other words 9 lamps';
const LINK = /\/welcome\/[\w-]{43}/;

/** Returns the mails to the address since the last call. */
async function mailsTo(email: string): Promise<string[]> {
  return (await mails()).filter((text) => text.includes(`<${email}>`));
}

/** Chooses a password with the link, signs in, and checks that the link no longer works. */
async function choosePassword(link: string, email: string): Promise<void> {
  const guest = new Browser(dashboard.url);
  const short = await guest.submit(link, { password: 'too short' });
  expectToSay(short, 422, '15 characters');
  const chosen = await guest.submit(link, { password: CHOSEN });
  expect(wordsOf(await guest.get(chosen.headers['location'] ?? ''))).toContain('Your password is set.');
  await guest.signIn(email, CHOSEN);
  expect(await isIn(guest)).toBe(true);
  expect((await new Browser(dashboard.url).get(link)).status).toBe(404);
}

test('an invitation is mailed once, and its link leads to a first sign-in', async () => {
  const { manager } = await createTeam(dashboard.db);
  const inviting = await browserOf(dashboard, manager);
  const email = `noor.${crypto.randomUUID()}@northwind.example`;
  const form = await inviting.form(INVITE);
  const fields = { ...Object.fromEntries(form.fields), name: 'Noor Haddad', email, role: 'member' };
  const [shown, again] = [await inviting.post(INVITE, fields), await inviting.post(INVITE, fields)];
  expect(wordsOf(shown)).toContain(`We sent a link to ${email}`);
  expect(again.status).toBe(409);
  const sent = await mailsTo(email);
  const [link = ''] = LINK.exec(sent[0] ?? '') ?? [];
  expect(sent).toEqual([expect.stringContaining(`https://charter.example.org${link}`)]);
  expect(sent[0]).toContain(`To: Noor Haddad <${email}>`);
  const page = await new Browser(dashboard.url).get(link);
  expect(wordsOf(page)).toContain('Welcome to Northwind Learning Alliance, Noor Haddad.');
  await choosePassword(link, email);
});

test('a reset link, of a manager or by mail, sets a password, ends the sessions and invalidates the old one', async () => {
  for (const isMailed of [false, true]) {
    const { manager, member } = await createTeam(dashboard.db);
    const before = await browserOf(dashboard, member);
    const user = `/people/users/${member.userId}`;
    const guest = new Browser(dashboard.url);
    const page = isMailed
      ? await guest.submit('/forgotten-password', { email: member.email })
      : await (await browserOf(dashboard, manager)).submit(user, {}, `${user}/link`);
    const [text = ''] = isMailed ? await mailsTo(member.email) : [page.text];
    await choosePassword(LINK.exec(text)?.[0] ?? '', member.email);
    expect(await isIn(before)).toBe(false);
    const old = new Browser(dashboard.url);
    expect(wordsOf(await old.signIn(member.email, PASSWORD))).toContain('The e-mail or the password is not right.');
  }
});
