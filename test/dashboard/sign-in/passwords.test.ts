import { Browser, fillForm, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { newBrowser, startDashboard, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { giveProof } from '../../support/dashboard/proof.ts';
import { ageProofs, createAccount, PASSWORD } from '../../support/data/accounts.ts';
import { createActor, createScope, times } from '../../support/data/actors.ts';
import { encryptedSecret } from '../../support/postgres/postgres.ts';
import { countStatements } from '../../support/postgres/statements.ts';

// No mail server listens on this port. That delays no response, because mails are sent in the background.
const mail = { smtpUrl: 'smtp://127.0.0.1:9', mailFrom: 'Charter <charter@example.org>' };
const dashboard = await useDashboard({ publicUrl: 'http://charter.example.org', mail });

/** Returns the response without the parts that differ from request to request. */
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
  // The attack: trying a list of e-mail addresses to learn which have an account.
  const responses = [];
  for (const email of await people()) {
    const browser = newBrowser(dashboard);
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
  const browser = newBrowser(dashboard);
  const response = await browser.signIn(account.email, PASSWORD);
  expect(response.headers['location']).toMatch(/^\/sign-in\/second-factor/);
  for (const path of dashboard.paths.filter((each) => /^\/(profile|people|organization|sign-out)/.test(each))) {
    expect([path, (await browser.get(path)).headers['location']]).toEqual([path, expect.stringMatching(/^\/sign-in/)]);
    expect([path, (await browser.post(path, { form_token: 'x' })).status]).toEqual([path, 303]);
  }
});

test('too many reset requests get the same refusal, whether or not the e-mail is known', async () => {
  // The bug: the fourth request in an hour said that a link was on its way. The attack: comparing the responses for two e-mail
  // addresses to learn which has an account.
  const account = await createAccount(dashboard.db);
  const responses = [];
  for (const email of [account.email, `${crypto.randomUUID()}@example.test`]) {
    const browser = newBrowser(dashboard);
    const form = await browser.form('/forgotten-password');
    const pages = [];
    for (let i = 0; i < 4; i += 1) pages.push(await browser.post('/forgotten-password', fillForm(form, { email })));
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

test('behind a trusted proxy each client is rate-limited by its own address, and only the proxy’s word counts', async () => {
  // The attack: ten guesses lock out the account’s owner, who uses the same proxy.
  await using behind = await startDashboard({ trustedProxies: ['127.0.0.1'] });
  const victim = await createAccount(behind.db);
  const from = (address: string) =>
    new Browser(behind.url, { headers: { 'X-Forwarded-For': address }, localAddress: '127.0.0.1' });
  const guesses = await times(12, async () => (await from('198.51.100.7').signIn(victim.email, 'wrong')).status);
  expect(guesses.filter((status) => status === 429)).toHaveLength(2);
  // The server ignores the addresses that the client puts before the address that the proxy adds.
  expect((await from('203.0.113.1, 198.51.100.7').signIn(victim.email, 'wrong')).status).toBe(429);
  expect((await from('203.0.113.9').signIn(victim.email, PASSWORD)).status).toBe(303);
  const event = await behind.db.prisma.auditEvent.findFirstOrThrow({
    where: { action: 'user.signed_in', targetUserId: victim.userId },
  });
  expect(event.ip).toBe('203.0.113.9');
});

test('a forged client address neither avoids the rate limit nor slows anybody else', async () => {
  // The attack: sending a new X-Forwarded-For with each guess, or the victim’s address so that the victim is slowed.
  const victim = await createAccount(dashboard.db);
  const guesser = newBrowser(dashboard);
  const statuses = await times(12, async (i) => {
    const claimed = `198.51.100.${i}`;
    const headers = {
      'X-Forwarded-For': claimed,
      Forwarded: `for=${claimed}`,
      'X-Real-IP': claimed,
      'CF-Connecting-IP': claimed,
    };
    return (
      await new Browser(dashboard.url, { headers, localAddress: guesser.localAddress }).signIn(victim.email, 'wrong')
    ).status;
  });
  expect(statuses.filter((status) => status === 422)).toHaveLength(10);
  const event = await dashboard.db.prisma.auditEvent.findFirstOrThrow({
    where: { action: 'user.sign_in_failed', targetUserId: victim.userId },
  });
  expect(event.ip).toBe(guesser.localAddress);
});

test('a rate-limited form gets 429 with the time to wait, in the singular for one minute', async () => {
  // The attack: guessing the password in an open session, on the pages that ask for the password again.
  const account = await createAccount(dashboard.db);
  const browser = newBrowser(dashboard);
  await browser.signIn(account.email, PASSWORD);
  await ageProofs(dashboard.db, account);
  const asked = await browser.submit('/profile/password', { password: 'another violet marmot 77' });
  const guess = (page: Page) => giveProof(browser, page, { password: 'wrong' });
  const responses = await times(12, () => guess(asked));
  const limited = responses.filter(({ status }) => status === 429);
  expect([limited.length, responses.filter(({ status }) => status === 422).length]).toEqual([2, 10]);
  for (const page of limited) {
    expect(wordsOf(page)).toMatch(/There were too many attempts\. Try again in 15 minutes\./);
    expect(Number(page.headers['retry-after'])).toBeGreaterThan(800);
    expect(page.text).toContain('role="alert"');
  }
  const soon = { expire: BigInt(Date.now() + 50_000) };
  await dashboard.db.prisma.signInFailure.updateMany({ where: { points: { gt: 10 } }, data: soon });
  const form_token = await browser.formToken();
  for (const path of ['/profile/password', '/profile/second-factor/remove']) {
    const page = await guess(await browser.post(path, { form_token }));
    expect([path, page.status, Number(page.headers['retry-after']) <= 50]).toEqual([path, 429, true]);
    expect([path, wordsOf(page)]).toEqual([path, expect.stringContaining('Try again in 1 minute.')]);
  }
  const guest = new Browser(dashboard.url, { localAddress: browser.localAddress });
  expect(wordsOf(await guest.signIn(account.email, PASSWORD))).toContain('Try again in 1 minute.');
});
