import { createAccount } from '../../support/data/accounts.ts';
import { PASSWORD } from '../../support/data/password.ts';
import { Browser, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, startDashboard, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();

const ASKED = '/organization/audit-log?action=user.signed_in';
const IDLE = 'Your session has ended. It was not used for 30 minutes.';
const TOO_OLD = 'Your session has ended. It reached its maximum of 12 hours.';
const ENDED =
  'Your session has ended. A session ends after 30 minutes without use, if somebody ends it in another browser, and if the ' +
  'account is deactivated, gets a new password or a role with more permissions, or has its second factor set up or reset. ' +
  'A session by single sign-on also ends when you sign out at your identity provider, when your account is unlinked, and when ' +
  'the connection is changed or removed. A session by password or passkey ends when your organization requires single sign-on. ' +
  'Sign in to continue.';

/** What the browser is told instead of the page that it asks for, and where it is after signing in there. */
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
    const timed = await startDashboard({ databaseUrl: dashboard.databaseUrl });
    try {
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
    } finally {
      await timed.close();
    }
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
  // The risk: a link that makes our own page say anything else.
  const page = await guest.get('/sign-in?ended=constructor&done=toString');
  expect([page.status, /function|Your session/.test(wordsOf(page))]).toEqual([200, false]);
});
