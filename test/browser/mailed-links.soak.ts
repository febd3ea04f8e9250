import { chromium, type Page } from 'playwright-core';
import { launchOptions, openContext } from '../support/browser/browser.ts';
import { createPagePool } from '../support/browser/page-pool.ts';
import { signIn } from '../support/browser/site.ts';
import { PASSWORD } from '../support/data/password.ts';
import { createTeam } from '../support/data/team.ts';
import { useDashboard } from '../support/http/dashboard-server.ts';
import { startSmtp } from '../support/http/smtp.ts';
import { until } from '../support/wait.ts';

// A mail server is configured, and Chromium resolves the dashboard's public name to the test server.

const PUBLIC_URL = 'http://charter.localhost';
const PASSWORD_CHOSEN = 'entirely other words 9 lamps';

const problems: string[] = [];
const smtp = await startSmtp();
afterAll(() => smtp.close());
const mail = { smtpUrl: smtp.url, mailFrom: 'Charter <charter@example.org>' };
const dashboard = await useDashboard({ publicUrl: PUBLIC_URL, mail });
const { args, ...options } = launchOptions();
const resolver = `MAP charter.localhost:80 ${new URL(dashboard.url).host}`;
const browser = await chromium.launch({ ...options, args: [...args, `--host-resolver-rules=${resolver}`] });
afterAll(() => browser.close());
const pool = createPagePool(PUBLIC_URL, (options) =>
  openContext(browser, { baseURL: PUBLIC_URL, problems, ...options }),
);
afterEach(async () => {
  await pool.reset();
  smtp.mails.length = 0;
  const failures = dashboard.logged.filter((line) => line.includes('could not send a mail'));
  expect({ problems: problems.splice(0), failures }).toEqual({ problems: [], failures: [] });
});

async function visit(): Promise<Page> {
  const page = await pool.take();
  await page.goto('/sign-in');
  return page;
}

/** The only mail received, and the link in it. */
async function readMail(): Promise<{ mail: string; link: string }> {
  const mail = await until('a mail', () => smtp.mails[0]);
  expect(smtp.mails).toHaveLength(1);
  const [link = ''] = /http:\/\/charter\.localhost\/welcome\/[\w-]{43}/.exec(mail) ?? [];
  return { mail, link };
}

async function choosePassword(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel('Password').fill(PASSWORD_CHOSEN);
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page.getByText('Your password is set.').waitFor();
}

async function askForReset(page: Page, email: string): Promise<string> {
  await page.goto('/sign-in');
  await page.getByRole('link', { name: 'Forgotten your password?' }).click();
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('button', { name: 'Send the link' }).click();
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
  return page.getByRole('main').innerText();
}

test('a person who forgot the password gets a link by mail, sets another password and signs in with it', async () => {
  const { member } = await createTeam(dashboard.db);
  const page = await visit();
  const told = await askForReset(page, member.email);
  const { mail, link } = await readMail();
  expect(mail).toContain(`To: Mei Tanaka <${member.email}>`);
  expect(mail).toContain('From: Charter <charter@example.org>');
  await choosePassword(page, link);
  await signIn(page, { email: member.email, password: PASSWORD });
  await page.getByText('The e-mail or the password is not right.').waitFor();
  await signIn(page, { email: member.email, password: PASSWORD_CHOSEN });
  await page.getByRole('heading', { name: 'My profile' }).waitFor();
  expect((await page.goto(link))?.status()).toBe(404);

  // The attack: try an e-mail to learn whether it has an account.
  smtp.mails.length = 0;
  expect(await askForReset(await visit(), 'nobody@northwind.example')).toBe(told);
  await dashboard.outbox.settle();
  expect(smtp.mails).toEqual([]);
});

test('an invitation is mailed to the invited person, whose link leads to a sign-in', async () => {
  const { manager } = await createTeam(dashboard.db);
  const page = await visit();
  await signIn(page, manager);
  await page.getByRole('link', { name: 'People' }).click();
  await page.getByRole('link', { name: 'Invite a user' }).click();
  await page.getByLabel('Name').fill('Noor Haddad');
  const email = `noor.${crypto.randomUUID()}@northwind.example`;
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByText(`We send this link to ${email}.`).waitFor();
  const { mail, link } = await readMail();
  expect(mail).toContain(`To: Noor Haddad <${email}>`);
  expect(await page.getByLabel('Link', { exact: true }).inputValue()).toBe(link);
  const theirs = await visit();
  await choosePassword(theirs, link);
  await signIn(theirs, { email, password: PASSWORD_CHOSEN });
  await theirs.getByRole('heading', { name: 'My profile' }).waitFor();
});
