import { once } from 'node:events';
import { connect } from 'node:net';
import { rawRequest } from '../../support/clients/client.ts';
import { Browser, encode, fillForm, isIn, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, startDashboard, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createAccount, PASSWORD } from '../../support/data/accounts.ts';

const dashboard = await useDashboard();

test('the session after sign-in never uses a cookie from before it', async () => {
  // The attack: session fixation. The attacker plants a cookie with a known value and waits for the victim to sign in.
  const [victim, attacker] = [await createAccount(dashboard.db), await createAccount(dashboard.db)];
  for (const planted of ['x'.repeat(43), await tokenOf(attacker.email), 'garbage; charter=other', '"', 'a=b', '%00']) {
    const browser = new Browser(dashboard.url);
    browser.cookies.set('charter', planted);
    const form = await browser.form('/sign-in').catch(() => null);
    // With the attacker’s own valid session, the page has no sign-in form.
    if (form === null) continue;
    const before = browser.cookies.get('charter');
    expect((await browser.signIn(victim.email, PASSWORD)).status).toBe(303);
    expect(browser.cookies.get('charter')).toMatch(/^[\w-]{43}$/);
    expect(browser.cookies.get('charter')).not.toBe(before);
    const planter = new Browser(dashboard.url);
    planter.cookies.set('charter', planted);
    expect(await isIn(planter)).toBe(false);
  }
});

async function tokenOf(email: string): Promise<string> {
  const browser = new Browser(dashboard.url);
  await browser.signIn(email, PASSWORD);
  return browser.cookies.get('charter') ?? '';
}

test('a sign-in ends the session that the browser had before', async () => {
  // The attack: somebody has a copy of a session's cookie, and the session's owner can no longer sign out of it.
  const [first, second] = [await createAccount(dashboard.db), await createAccount(dashboard.db)];
  const browser = new Browser(dashboard.url);
  const [tab, otherTab] = [await browser.form('/sign-in'), await browser.form('/sign-in')];
  await browser.post('/sign-in', fillForm(tab, { email: first.email, password: PASSWORD }));
  const copy = new Browser(dashboard.url);
  copy.cookies.set('charter', browser.cookies.get('charter') ?? '');
  expect(await isIn(copy)).toBe(true);
  await browser.post('/sign-in', fillForm(otherTab, { email: second.email, password: PASSWORD }));
  expect([await isIn(browser), await isIn(copy)]).toEqual([true, false]);
});

test('a form token planted before sign-in is not valid after it', async () => {
  // The attack: planting the cookie of the sign-in form, from which the attacker can compute the token.
  const account = await createAccount(dashboard.db);
  const browser = new Browser(dashboard.url);
  browser.cookies.set('charter-form', 'planted');
  const early = new Map((await browser.form('/sign-in')).fields).get('form_token');
  await browser.signIn(account.email, PASSWORD);
  expect(await browser.formToken()).not.toBe(early);
  expect((await browser.post('/sign-out', { form_token: early })).status).toBe(403);
  expect(await isIn(browser)).toBe(true);
});

// The attack: the holder of a stolen session sends the head of a form, and the body after the session has ended.
test('a form whose body arrives after the end of the session changes nothing', async () => {
  const account = await createAccount(dashboard.db);
  const browser = new Browser(dashboard.url);
  await browser.signIn(account.email, PASSWORD);
  const form = await browser.form('/profile/api-keys/new', '/profile/api-keys');
  const body = encode(fillForm(form, { name: 'Too late' }));
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const socket = connect(Number(new URL(dashboard.url).port), '127.0.0.1');
  const head = rawRequest('POST /profile/api-keys', [
    `Cookie: ${cookie}`,
    'Sec-Fetch-Site: same-origin',
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${body.length}`,
  ]);
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes.toString();
  });
  socket.write(head);
  // Once the server has answered these later requests, it has also read the head of the form and found the session.
  for (let i = 0; i < 3; i += 1) expect(await isIn(browser)).toBe(true);
  expect((await browser.submit('/profile', {}, '/sign-out')).status).toBe(303);
  socket.write(body);
  await once(socket, 'close');
  expect(received).toMatch(/^HTTP\/1\.1 303 [\s\S]*\r\nLocation: \/sign-in/i);
  const { rowCount } = await dashboard.db.pool.query('select from api_keys where user_id = $1', [account.userId]);
  expect(rowCount).toBe(0);
});

test.each([
  ['https://charter.example.org', '__Host-charter', 'Path=/; HttpOnly; Secure; SameSite=Lax'],
  ['http://charter.example.org', 'charter', 'Path=/; HttpOnly; SameSite=Lax'],
])('under %s the cookies are %s, %s', async (publicUrl, name, attributes) => {
  // The attack: a script, another site, a sibling domain or a network attacker reads or plants the cookie.
  await using secure = await startDashboard({ databaseUrl: dashboard.databaseUrl, publicUrl });
  const account = await createAccount(secure.db);
  const browser = new Browser(secure.url);
  expect((await browser.get('/sign-in')).setCookies).toEqual([
    expect.stringMatching(new RegExp(`^${name}-form=[\\w-]{43}; ${attributes}$`)),
  ]);
  const response = await browser.signIn(account.email, PASSWORD);
  expect(response.setCookies).toEqual([expect.stringMatching(new RegExp(`^${name}=[\\w-]{43}; ${attributes}$`))]);
  const left = await browser.submit('/profile', {}, '/sign-out');
  expect([left.status, left.headers['location']]).toEqual([303, '/sign-in?done=signed-out']);
  expect(left.setCookies).toEqual([`${name}=; Max-Age=0; ${attributes}`]);
  // A sibling domain can set the cookie under a name without the prefix __Host-, so the server ignores that cookie over HTTPS.
  browser.cookies.clear();
  const planted = new Browser(secure.url);
  planted.cookies.set(name === 'charter' ? '__Host-charter' : 'charter', await tokenOf(account.email));
  expect(await isIn(planted)).toBe(false);
});

const ASKED = '/organization/audit-log?action=user.signed_in';
const IDLE = 'Your session has ended. It was not used for 30 minutes.';
const TOO_OLD = 'Your session has ended. It reached its maximum of 12 hours.';
const ENDED =
  'Your session has ended. A session ends after 30 minutes without use, if somebody ends it in another browser, and if the ' +
  'account is deactivated, gets a new password or a role with more permissions, or has its second factor set up or reset. ' +
  'A session by single sign-on also ends when you sign out at your identity provider, when your account is unlinked, and when ' +
  'the connection is changed or removed. A session by password or passkey ends when your organization requires single sign-on. ' +
  'Sign in to continue.';

/** Requests a page in a session that has ended. Returns what the sign-in page says, and where the sign-in leads. */
async function signInAgain(browser: Browser, email: string) {
  const asked = await browser.get(ASKED);
  const signInUrl = asked.headers['location'] ?? '';
  const page = await browser.get(signInUrl);
  const entered = await browser.submit(signInUrl, { email, password: PASSWORD }, '/sign-in');
  return { status: asked.status, words: wordsOf(page), target: entered.headers['location'] };
}

test.each([
  [31, 0, IDLE],
  [29, 25, TOO_OLD],
])(
  'after %s idle minutes, or in use for %s times as long, the sign-in says why the session has ended',
  async (minutes, repeated, message) => {
    await using timed = await startDashboard({ databaseUrl: dashboard.databaseUrl });
    const account = await createAccount(timed.db, { role: 'administrator' });
    const browser = await browserOf(timed, account);
    for (let i = 0; i < repeated; i += 1) {
      expect((await browser.get(ASKED)).status).toBe(200);
      timed.passMinutes(minutes);
    }
    if (repeated === 0) timed.passMinutes(minutes);
    expect(await signInAgain(browser, account.email)).toEqual({
      status: 303,
      words: expect.stringContaining(message),
      target: ASKED,
    });
  },
);

test('a session that was ended in another browser says that it has ended, also at the start page and for a form', async () => {
  const account = await createAccount(dashboard.db, { role: 'administrator' });
  const [browser, other] = [await browserOf(dashboard, account), await browserOf(dashboard, account)];
  const form = await browser.form('/profile/api-keys/new', '/profile/api-keys');
  expect((await other.submit('/profile/sessions', {}, '/profile/sessions/sign-out-everywhere')).status).toBe(303);
  const start = await browser.get('/');
  expect(wordsOf(await browser.get(start.headers['location'] ?? ''))).toContain(ENDED);
  const late = await browser.post('/profile/api-keys', Object.fromEntries(form.fields));
  expect(wordsOf(await browser.get(late.headers['location'] ?? ''))).toContain(ENDED);
  expect(await signInAgain(browser, account.email)).toEqual({
    status: 303,
    words: expect.stringContaining(ENDED),
    target: ASKED,
  });
});

test('a visitor who never signed in, or has signed out, is not told that a session ended', async () => {
  const account = await createAccount(dashboard.db);
  const guest = new Browser(dashboard.url);
  const signedOut = await browserOf(dashboard, account);
  await signedOut.submit('/profile', {}, '/sign-out');
  for (const browser of [guest, signedOut]) {
    const asked = await browser.get('/profile/api-keys');
    const page = await browser.get(asked.headers['location'] ?? '');
    expect(wordsOf(page)).not.toContain('Your session');
  }
  // The attack: a link that makes our own page show other texts.
  const page = await guest.get('/sign-in?ended=constructor&done=toString');
  expect([page.status, /function|Your session/.test(wordsOf(page))]).toEqual([200, false]);
});
