import { PASSWORD } from '../../support/data/password.ts';
import { createTeam } from '../../support/data/team.ts';
import { Browser, isIn, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';
import { startSmtp } from '../../support/http/smtp.ts';

// Links by which people choose a password: of an invitation, of a manager, and by mail.

const smtp = await startSmtp();
afterAll(() => smtp.close());
const mail = { smtpUrl: smtp.url, mailFrom: 'Charter <charter@example.org>' };
const dashboard = await useDashboard({ publicUrl: 'http://charter.example.org', mail });
const CHOSEN = 'entirely other words 9 lamps';
const LINK = /\/welcome\/[\w-]{43}/;

/** The mails to the address since the last call. */
async function mailsTo(email: string): Promise<string[]> {
  await dashboard.outbox.settle();
  const found = smtp.mails.filter((text) => text.includes(`<${email}>`));
  smtp.mails.length = 0;
  return found;
}

/** Chooses a password by the link, which works once, and signs in. */
async function choosePassword(link: string, email: string): Promise<void> {
  const browser = new Browser(dashboard.url);
  const short = await browser.submit(link, { password: 'too short' });
  expect([short.status, wordsOf(short)]).toEqual([422, expect.stringContaining('15 characters')]);
  const chosen = await browser.submit(link, { password: CHOSEN });
  expect(wordsOf(await browser.get(chosen.headers['location'] ?? ''))).toContain('Your password is set.');
  await browser.signIn(email, CHOSEN);
  expect(await isIn(browser)).toBe(true);
  expect((await new Browser(dashboard.url).get(link)).status).toBe(404);
}

test('an invitation is mailed once, and its link leads to a first sign-in', async () => {
  const { manager } = await createTeam(dashboard.db);
  const browser = await browserOf(dashboard, manager);
  const email = `noor.${crypto.randomUUID()}@northwind.example`;
  const form = await browser.form('/people/users/invite');
  const fields = { ...Object.fromEntries(form.fields), name: 'Noor Haddad', email, role: 'member' };
  const [shown, again] = [
    await browser.post('/people/users/invite', fields),
    await browser.post('/people/users/invite', fields),
  ];
  expect(wordsOf(shown)).toContain(`We sent a link to ${email}`);
  expect(again.status).toBe(409);
  const mails = await mailsTo(email);
  const [link = ''] = LINK.exec(mails[0] ?? '') ?? [];
  expect(mails).toEqual([expect.stringContaining(`http://charter.example.org${link}`)]);
  expect(mails[0]).toContain(`To: Noor Haddad <${email}>`);
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
