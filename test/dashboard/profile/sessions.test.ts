import type { Actor } from '../../../src/domain/audit/actor.ts';
import { Browser, expectToSay, isIn, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, startDashboard, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { addSecondFactor, createAccount, PASSWORD } from '../../support/data/accounts.ts';
import { createPeople, giveKey, NOBODY } from '../../support/data/actors.ts';

const SESSIONS = '/profile/sessions';
const EVERYWHERE = `${SESSIONS}/sign-out-everywhere`;
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0';
const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1';

const dashboard = await useDashboard();

/** Signs in with a password, so that the session has this address and this User-Agent. */
async function signedIn({ email }: Actor, userAgent: string, localAddress = '127.0.0.1'): Promise<Browser> {
  const browser = new Browser(dashboard.url, { headers: { 'User-Agent': userAgent }, localAddress });
  expect((await browser.signIn(email, PASSWORD)).status).toBe(303);
  return browser;
}

const sessionIdsIn = ({ text }: Page) => [...text.matchAll(/name="session_id" value="([^"]*)"/g)].map(([, id]) => id);
const rowsIn = ({ text }: Page) =>
  [...text.matchAll(/<tr role="row">.*?<\/tr>/gs)].slice(1).map(([row]) => wordsOf({ text: row }));

async function eventsOf({ userId }: Actor) {
  const where = { actorUserId: userId, action: { in: ['user.session_ended', 'user.signed_out_everywhere'] } };
  const events = await dashboard.db.prisma.auditEvent.findMany({ where, orderBy: { id: 'asc' } });
  return events.map(({ action, targetUserId, detail, ip }) => ({ action, targetUserId, detail, ip }));
}

test('the page lists one’s own sessions with device, address, last use and sign-in, this one first', async () => {
  const owner = await createAccount(dashboard.db);
  const [phone, laptop] = [await signedIn(owner, SAFARI, '127.0.1.1'), await signedIn(owner, FIREFOX, '127.0.1.2')];
  const page = await laptop.get(SESSIONS);
  expect(rowsIn(page)).toEqual([
    expect.stringMatching(
      /^ Firefox on Windows This session More about Firefox on Windows .* 127\.0\.1\.2 Now .* UTC $/,
    ),
    expect.stringMatching(
      /^ Safari on iPhone More .* 127\.0\.1\.1 .*just now .* UTC End the session of Safari on iPhone at 127\.0\.1\.1 $/,
    ),
  ]);
  expect(sessionIdsIn(page)).toHaveLength(1);
  expect(rowsIn(await phone.get(SESSIONS))[0]).toContain('Safari on iPhone This session');
});

test('a person sees and ends neither sessions of others nor one that is waiting for the second factor', async () => {
  // The attack: ending somebody else’s session by its id in a hand-made form, or using a session that lacks the second factor.
  const [owner, stranger] = [await createAccount(dashboard.db), await createAccount(dashboard.db)];
  const colleague = await createAccount(dashboard.db, { scope: owner.scope, role: 'administrator' });
  const [first, second] = [await signedIn(owner, SAFARI), await signedIn(owner, FIREFOX)];
  const [id = ''] = sessionIdsIn(await second.get(SESSIONS));
  for (const other of [stranger, colleague]) {
    const browser = await browserOf(dashboard, other);
    const page = await browser.get(SESSIONS);
    expect([rowsIn(page).length, page.text.includes('iPhone')]).toEqual([1, false]);
    const form_token = await browser.formToken();
    for (const session_id of [id, NOBODY, '', 'x', `${id}' or true --`]) {
      const response = await browser.post(SESSIONS, { form_token, session_id });
      // The response is the same for every session of somebody else, and for a session that does not exist.
      expectToSay(response, 409, 'had ended already');
    }
    expect((await browser.post(EVERYWHERE, { form_token })).status).toBe(303);
    expect(await eventsOf(other)).toEqual([]);
  }
  expect([await isIn(first), await isIn(second)]).toEqual([true, true]);
  await addSecondFactor(dashboard.db, owner, dashboard.now());
  const current = await browserOf(dashboard, owner);
  await signedIn(owner, SAFARI);
  expect(rowsIn(await current.get(SESSIONS)).join()).not.toContain('iPhone');
});

test('an ended session is refused by every process at its next request, and so is a form that it had open', async () => {
  // The attack: using a laptop that its owner left in a train, signed in and with an open form. Other processes know the session.
  await using other = await startDashboard({ databaseUrl: dashboard.databaseUrl });
  const owner = await createAccount(dashboard.db);
  const [lost, mine] = [await signedIn(owner, SAFARI, '127.0.2.1'), await signedIn(owner, FIREFOX)];
  const elsewhere = new Browser(other.url);
  for (const [name, value] of lost.cookies) elsewhere.cookies.set(name, value);
  const form = await elsewhere.form('/profile/api-keys/new', '/profile/api-keys');
  const response = await mine.submit(SESSIONS);
  expect([response.status, response.headers['location']]).toEqual([303, `${SESSIONS}?done=ended`]);
  expect([await isIn(lost), await isIn(elsewhere), await isIn(mine)]).toEqual([false, false, true]);
  const late = await elsewhere.post('/profile/api-keys', { ...Object.fromEntries(form.fields), name: 'Late' });
  expect([late.status, late.headers['location']]).toEqual([303, expect.stringMatching(/^\/sign-in/)]);
  const page = await mine.get(`${SESSIONS}?done=ended`);
  expect([rowsIn(page).length, wordsOf(page)]).toEqual([1, expect.stringContaining('The session is ended.')]);
  expect(await eventsOf(owner)).toEqual([
    {
      action: 'user.session_ended',
      targetUserId: owner.userId,
      detail: { device: 'Safari on iPhone', ip: '127.0.2.1' },
      ip: '127.0.0.1',
    },
  ]);
});

test('signing out everywhere keeps this session, says so, and ends all others, including those that wait for the second factor', async () => {
  // The attack: somebody has the password and waits for a code of the second factor.
  const owner = await createAccount(dashboard.db);
  await addSecondFactor(dashboard.db, owner, dashboard.now());
  const half = await signedIn(owner, SAFARI);
  const [mine, tablet, laptop] = [
    await browserOf(dashboard, owner),
    await browserOf(dashboard, owner),
    await browserOf(dashboard, owner),
  ];
  const before = await mine.get(SESSIONS);
  expect(wordsOf(before)).toContain('keeps this session and ends all others at once');
  const response = await mine.submit(SESSIONS, {}, EVERYWHERE);
  expect([response.status, response.headers['location']]).toEqual([303, `${SESSIONS}?done=everywhere`]);
  expect([await isIn(mine), await isIn(tablet), await isIn(laptop)]).toEqual([true, false, false]);
  expect((await half.submit('/sign-in/second-factor', { code: '000000' })).headers['location']).toBe(
    '/sign-in?done=ended',
  );
  const page = await mine.get(`${SESSIONS}?done=everywhere`);
  expect(wordsOf(page)).toContain('Only this session is left.');
  expect(page.text).not.toContain(EVERYWHERE);
  // When the form is sent again, it ends no session, so no event is recorded.
  await mine.post(EVERYWHERE, { form_token: await mine.formToken() });
  expect(await eventsOf(owner)).toMatchObject([{ action: 'user.signed_out_everywhere', targetUserId: owner.userId }]);
});

test('idle and expired sessions are not listed, and the last use has the address and the client of its request', async () => {
  await using timed = await startDashboard({ databaseUrl: dashboard.databaseUrl });
  const owner = await createAccount(timed.db);
  const [mine] = [await browserOf(timed, owner), await browserOf(timed, owner)];
  timed.passMinutes(20);
  const moved = new Browser(timed.url, { headers: { 'User-Agent': FIREFOX }, localAddress: '127.0.3.1' });
  for (const [name, value] of mine.cookies) moved.cookies.set(name, value);
  expect(rowsIn(await moved.get(SESSIONS))).toHaveLength(2);
  timed.passMinutes(15);
  expect(rowsIn(await moved.get(SESSIONS))).toEqual([expect.stringMatching(/Firefox on Windows .*127\.0\.3\.1/)]);
});

test('a key or markup in the User-Agent is neither stored nor rendered, and a long one is cut', async () => {
  // The attack: markup that runs when somebody looks at the list. The risk: a client sends its API key in the wrong header.
  const people = await createPeople(dashboard.db);
  const owner = await createAccount(dashboard.db, { scope: people.scope });
  const { key } = await giveKey(dashboard.db, people.member);
  await signedIn(owner, `<img src=x onerror=alert(1)> ${key} ${'y'.repeat(1000)}`);
  const page = await (await browserOf(dashboard, owner)).get(SESSIONS);
  expect(page.text).not.toContain('<img src=x');
  expect(page.text).not.toContain(key.slice(17, 30));
  expect(page.text).not.toContain('y'.repeat(300));
  expect(wordsOf(page)).toContain('charter_live_…');
});
