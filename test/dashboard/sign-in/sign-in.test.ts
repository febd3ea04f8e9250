import { createAccount } from '../../support/data/accounts.ts';
import { createActor, createScope } from '../../support/data/actors.ts';
import { encryptedSecret } from '../../support/data/encryption.ts';
import { PASSWORD } from '../../support/data/password.ts';
import { Browser, filled, type Page } from '../../support/http/dashboard.ts';
import { useDashboard } from '../../support/http/dashboard-server.ts';
import { startSmtp } from '../../support/http/smtp.ts';
import { countStatements } from '../../support/postgres/statements.ts';

/** It receives no mail before a test lets it. */
const smtp = await startSmtp({ isSlow: true });
const mail = { smtpUrl: smtp.url, mailFrom: 'Charter <charter@example.org>' };
const dashboard = await useDashboard({ publicUrl: 'http://charter.example.org', mail });
afterAll(() => smtp.close());

let address = 0;

/** Connects from a local address that no other test uses. */
function browserFrom(localAddress?: string): Browser {
  address += 1;
  return new Browser(dashboard.url, { localAddress: localAddress ?? `127.0.7.${address}` });
}

/** The response without the parts that differ on each request. */
function told({ status, headers, setCookies, text }: Page, email: string) {
  const { date, 'x-request-id': id, ...rest } = headers;
  const same = text.replaceAll(email || 'EMAIL', 'EMAIL').replace(/name="form_token" value="[^"]*"/g, '');
  return { status, rest, setCookies, same, hasDate: date !== undefined, hasId: id !== undefined };
}

async function people() {
  const { db } = dashboard;
  const scope = await createScope(db);
  const gone = await createAccount(db, { scope });
  await db.prisma.user.updateMany({ where: { id: gone.userId }, data: { deactivatedAt: new Date() } });
  const unknown = `${crypto.randomUUID()}@example.test`;
  const emails = [await createAccount(db, { scope }), await createActor(db, scope, 'member'), gone].map(
    ({ email }) => email,
  );
  return [...emails, unknown, 'no e-mail', ''];
}

test('a wrong password gets the same response, with equal work, for known, invited, deactivated and unknown e-mails', async () => {
  // The attack: try a list of e-mails, to learn which have an account.
  const responses = [];
  for (const email of await people()) {
    const browser = browserFrom();
    const form = await browser.form('/sign-in');
    let page: Page | undefined;
    const statements = await countStatements(dashboard.db, async () => {
      page = await browser.post('/sign-in', { ...Object.fromEntries(form.fields), email, password: 'wrong' });
    });
    if (page === undefined) throw new Error('There is no response.');
    responses.push({ ...told(page, email), statements: email.includes('@') ? statements : 0 });
  }
  const [known, invited, deactivated, unknown, nonsense, empty] = responses;
  expect(known?.status).toBe(422);
  for (const other of [invited, deactivated, unknown]) expect(other).toEqual(known);
  expect([nonsense?.status, empty?.status]).toEqual([422, 422]);
});

test('a session whose second factor is outstanding opens no page and no form', async () => {
  // The attack: a person who knows the password skips the code.
  const account = await createAccount(dashboard.db);
  await dashboard.db.prisma.user.updateMany({
    where: { id: account.userId },
    data: { totpSecret: encryptedSecret(account), totpSince: new Date() },
  });
  const browser = browserFrom();
  const response = await browser.signIn(account.email, PASSWORD);
  expect(response.headers['location']).toMatch(/^\/sign-in\/second-factor/);
  for (const path of dashboard.paths.filter((each) => /^\/(profile|people|organization|sign-out)/.test(each))) {
    expect([path, (await browser.get(path)).headers['location']]).toEqual([path, expect.stringMatching(/^\/sign-in/)]);
    expect([path, (await browser.post(path, { form_token: 'x' })).status]).toEqual([path, 303]);
  }
});

test('too many reset requests get the same refusal, whether or not the e-mail is known', async () => {
  // The bug: the fourth request in an hour said that a link was on its way. The attack: the two responses differ.
  const account = await createAccount(dashboard.db);
  const responses = [];
  for (const email of [account.email, `${crypto.randomUUID()}@example.test`]) {
    const browser = browserFrom();
    const form = await browser.form('/forgotten-password');
    const pages = [];
    for (let i = 0; i < 4; i += 1) pages.push(await browser.post('/forgotten-password', filled(form, { email })));
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(Number(pages[3]?.headers['retry-after'])).toBeGreaterThan(3000);
    responses.push(
      pages
        .map((page) => told(page, email))
        .map(({ rest, ...each }) => ({ ...each, rest: { ...rest, 'retry-after': '' } })),
    );
  }
  expect(responses[0]).toEqual(responses[1]);
});
