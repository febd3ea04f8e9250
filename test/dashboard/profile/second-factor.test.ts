import { addSecondFactor, ageProofs, codeAt, createAccount } from '../../support/data/accounts.ts';
import { createScope } from '../../support/data/actors.ts';
import { PASSWORD } from '../../support/data/password.ts';
import { Browser, filled, type Page, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, rowsOf, useDashboard } from '../../support/http/dashboard-server.ts';
import { formsOf, textOf } from '../../support/http/forms.ts';
import { giveProof } from '../../support/http/proof.ts';

const dashboard = await useDashboard();
beforeEach(() => dashboard.passMinutes(2));

const OWN = '/profile/second-factor';
const CODES = `${OWN}/recovery-codes`;
const account = (change = {}) => createAccount(dashboard.db, change);
const isIn = async (browser: Browser) => (await browser.get('/profile')).status === 200;
const rowOf = ({ userId }: { userId: string }) => dashboard.db.prisma.user.findFirstOrThrow({ where: { id: userId } });

const uriIn = ({ text }: Page) => textOf(/href="(otpauth:[^"]*)"/.exec(text)?.[1] ?? '');
const codesIn = ({ text }: Page) => text.match(/[0-9a-z]{4}(-[0-9a-z]{4}){3}(?=[\n<])/g) ?? [];

let address = 0;

/** Connects from an address of its own, so that failures of one test do not slow another. */
function visitor(): Browser {
  address += 1;
  return new Browser(dashboard.url, { localAddress: `127.0.9.${address}` });
}

async function signedIn(person: { email: string }): Promise<Browser> {
  const browser = visitor();
  expect((await browser.signIn(person.email, PASSWORD)).status).toBe(303);
  return browser;
}

async function turnOn(browser: Browser) {
  const uri = uriIn(await browser.submit(OWN));
  const form_token = await browser.formToken();
  const page = await browser.post(`${OWN}/confirm`, { form_token, code: codeAt(uri, dashboard.now()) });
  return { page, uri, codes: codesIn(page) };
}

test('starting the set-up without the right password shows no secret', async () => {
  // The attack: an open or stolen session binds the account to the attacker’s authenticator.
  const owner = await account();
  const thief = await browserOf(dashboard, owner);
  await ageProofs(dashboard.db, owner);
  const asked = await thief.submit(OWN);
  expect([asked.status, uriIn(asked)]).toEqual([403, '']);
  for (const password of ['', 'wrong', `${PASSWORD} `]) {
    const page = await giveProof(thief, asked, { password });
    expect([password, page.status, uriIn(page)]).toEqual([password, 422, '']);
    expect(wordsOf(page)).toContain('Password is not right.');
  }
  expect((await rowOf(owner)).totpSecret).toBeNull();
});

test('the pages that ask for a proof are rate-limited together, and the guesses record ten events', async () => {
  // The attack: a session thief wants the password as well.
  const owner = await account();
  await addSecondFactor(dashboard.db, owner, dashboard.now());
  const thief = await browserOf(dashboard, owner);
  await ageProofs(dashboard.db, owner);
  const form_token = await thief.formToken();
  const form_id = new Map((await thief.form('/profile/api-keys/new', '/profile/api-keys')).fields).get('form_id');
  const asked = [
    await thief.post(OWN, { form_token }),
    await thief.post(`${OWN}/remove`, { form_token }),
    await thief.post('/profile/password', { form_token, password: PASSWORD }),
    await thief.post(CODES, { form_token, form_id }),
  ];
  const statuses: number[] = [];
  for (let i = 0; i < 9; i += 1) {
    const guesses = await Promise.all(asked.map((page) => giveProof(thief, page, { password: `${i}` })));
    statuses.push(...guesses.map(({ status }) => status));
  }
  statuses.push((await giveProof(thief, asked[0], { password: 'x' })).status);
  expect(statuses.filter((status) => status === 422)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(27);
  const where = { action: 'user.proof_failed', targetUserId: owner.userId };
  expect(await dashboard.db.prisma.auditEvent.count({ where })).toBe(10);
});

test('a wrong code keeps the QR code only on a page that had its secret', async () => {
  // The attack: an open or stolen session, without the password, posts a wrong code to see the secret that its owner set up.
  const owner = await account();
  const browser = await signedIn(owner);
  const setUp = await browser.submit(OWN);
  const uri = uriIn(setUp);
  const fields = Object.fromEntries(
    formsOf(setUp.text).find(({ action }) => action === `${OWN}/confirm`)?.fields ?? [],
  );
  const again = await browser.post(`${OWN}/confirm`, { ...fields, code: '000000' });
  expect([again.status, uriIn(again)]).toEqual([422, uri]);
  expect(again.text).toContain('class="qr"');
  const secret = new URL(uri).searchParams.get('secret') ?? '';
  const thief = await browserOf(dashboard, owner);
  const form_token = await thief.formToken();
  for (const sent of [undefined, '', 'A'.repeat(32), secret.slice(0, -1), secret.toLowerCase()]) {
    const page = await thief.post(`${OWN}/confirm`, { form_token, code: '000000', secret: sent });
    expect([sent, page.status, uriIn(page), page.text.includes(secret)]).toEqual([sent, 422, '', false]);
  }
  // Nor an earlier secret, once another set-up has replaced it.
  const other = uriIn(await browser.submit(OWN));
  expect(other).not.toBe(uri);
  const stale = await browser.post(`${OWN}/confirm`, { ...fields, code: '000000' });
  expect([stale.status, uriIn(stale)]).toEqual([422, '']);
  // A secret that is no longer shown is not repeated in the form either.
  expect(stale.text).not.toContain(secret);
});

test('turning on the second factor signs out every other browser and invalidates copies of this browser’s cookie', async () => {
  // The attack: an attacker who signed in earlier with the stolen password keeps that session for hours.
  const owner = await account();
  const [browser, other, copy] = [await signedIn(owner), await signedIn(owner), visitor()];
  copy.cookies.set('charter', browser.cookies.get('charter') ?? '');
  const { page, codes } = await turnOn(browser);
  expect([page.status, codes.length]).toEqual([200, 10]);
  expect([await isIn(browser), await isIn(other), await isIn(copy)]).toEqual([true, false, false]);
  // The forms on the page with the codes belong to the renewed session.
  const [, form_token = ''] = /name="form_token" value="([^"]*)"/.exec(page.text) ?? [];
  expect((await browser.post('/sign-out', { form_token })).headers['location']).toBe('/sign-in?done=signed-out');
});

test('a form makes new recovery codes once, and invalidates the earlier ones', async () => {
  // The bug: a reload invalidates the codes that were just copied.
  const owner = await account();
  const browser = await signedIn(owner);
  expect((await browser.get(CODES)).headers['location']).toBe(OWN);
  const { codes: old } = await turnOn(browser);
  const form = filled(await browser.form(CODES));
  const [fresh, again] = [await browser.post(CODES, form), await browser.post(CODES, form)];
  expect([fresh.status, codesIn(fresh).length, again.status, codesIn(again)]).toEqual([200, 10, 409, []]);
  /** Whether the code signs in, and the words of the page that follows. */
  const enter = async (code = ''): Promise<[boolean, string]> => {
    const next = visitor();
    await next.signIn(owner.email, PASSWORD);
    const page = await next.submit('/sign-in/second-factor', { code });
    return [await isIn(next), wordsOf(page.status === 303 ? await next.get('/profile') : page)];
  };
  const refused = [false, expect.stringContaining('The code is not right, or was used already.')];
  expect(await enter(old[0])).toEqual(refused);
  expect(await enter(codesIn(fresh)[0])).toEqual([true, expect.stringContaining('9 recovery codes left')]);
  expect(await enter(codesIn(fresh)[0])).toEqual(refused);
});

test('a reset link sets a new password and keeps the second factor', async () => {
  // The attack: a person who reads the mail, or the manager who made the link, bypasses the authenticator.
  const scope = await createScope(dashboard.db);
  const [administrator, member] = [await account({ role: 'administrator', scope }), await account({ scope })];
  await addSecondFactor(dashboard.db, member, dashboard.now());
  const user = `/people/users/${member.userId}`;
  const made = await (await browserOf(dashboard, administrator)).submit(user, {}, `${user}/link`);
  const [link = ''] = /\/welcome\/[\w-]{43}/.exec(made.text) ?? [];
  const thief = visitor();
  expect((await thief.submit(link, { password: 'mauve otters' })).headers['location']).toBe(
    '/sign-in?done=password&with=password',
  );
  expect((await thief.signIn(member.email, 'mauve otters')).headers['location']).toMatch(/^\/sign-in\/second-factor/);
  expect(await isIn(thief)).toBe(false);
});

test('when an administrator removes a colleague’s second factor, every session ends, and the password alone signs in', async () => {
  // Not an attack: the phone is lost, and the recovery codes with it.
  const scope = await createScope(dashboard.db);
  const [administrator, member] = [await account({ role: 'administrator', scope }), await account({ scope })];
  const [theirs, browser] = [await signedIn(member), await browserOf(dashboard, administrator)];
  await turnOn(theirs);
  const user = `/people/users/${member.userId}`;
  const page = await browser.get(user);
  expect(wordsOf(page)).toContain('Second factor On');
  expect(page.text).toContain(`href="${user}/second-factor"`);
  expect(wordsOf(await browser.get(`${user}/second-factor`))).toContain('The password alone opens the account');
  const response = await browser.submit(`${user}/second-factor`);
  expect([response.status, response.headers['location']]).toEqual([303, `${user}?done=factor-removed`]);
  expect(await isIn(theirs)).toBe(false);
  const after = await browser.get(user);
  expect(wordsOf(after)).toContain('Second factor Off');
  expect(after.text).not.toContain(`${user}/second-factor`);
  expect(await isIn(await signedIn(member))).toBe(true);
  // A second tab in which the form is still open.
  const form_token = await browser.formToken();
  const late = await browser.post(`${user}/second-factor`, { form_token });
  expect([late.status, wordsOf(late)]).toEqual([
    409,
    expect.stringContaining(`${member.email} has neither a second factor nor a passkey.`),
  ]);
});

test('an administrator cannot remove their own second factor this way, and GET changes nothing', async () => {
  // The attack: a person bypasses the page that keeps the last way to sign in.
  const scope = await createScope(dashboard.db);
  const [owner, member] = [await account({ role: 'administrator', scope }), await account({ scope })];
  for (const each of [owner, member]) await addSecondFactor(dashboard.db, each, dashboard.now());
  const browser = await browserOf(dashboard, owner);
  const form_token = await browser.formToken();
  const path = (of: { userId: string }) => `/people/users/${of.userId}/second-factor`;
  const before = await rowsOf(dashboard.db);
  expect((await browser.get(`/people/users/${owner.userId}`)).text).not.toContain(path(owner));
  expect((await browser.get(path(owner))).headers['location']).toBe(OWN);
  const response = await browser.post(path(owner), { form_token });
  expect([response.status, wordsOf(response)]).toEqual([409, expect.stringContaining('under My profile')]);
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) await browser.send(method, path(member));
  expect((await browser.post(path(member), {})).status).toBe(403);
  expect((await browser.post(path(member), { form_token }, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
  expect(await rowsOf(dashboard.db)).toEqual(before);
});

test('a manager can remove the second factor of a member or a viewer, but not of an administrator or a manager', async () => {
  // The attack: a manager who has an administrator’s password lacks only the code.
  const scope = await createScope(dashboard.db);
  const manager = await browserOf(dashboard, await account({ role: 'manager', scope }));
  const form_token = await manager.formToken();
  for (const [role, status] of [
    ['administrator', 403],
    ['manager', 403],
    ['member', 303],
    ['viewer', 303],
  ] as const) {
    const target = await account({ role, scope });
    await addSecondFactor(dashboard.db, target, dashboard.now());
    const path = `/people/users/${target.userId}/second-factor`;
    expect([role, (await manager.get(path)).status]).toEqual([role, status === 303 ? 200 : 403]);
    expect([role, (await manager.post(path, { form_token })).status]).toEqual([role, status]);
    expect([role, (await rowOf(target)).totpSince === null]).toEqual([role, status === 303]);
  }
});

test('after the removal of the second factor, a password that is now too short opens only the form for a longer one', async () => {
  // The attack: set a password of 12 characters while a factor is on, then ask for the factor’s removal.
  const scope = await createScope(dashboard.db);
  const [administrator, member] = [await account({ role: 'administrator', scope }), await account({ scope })];
  const owner = await signedIn(member);
  await turnOn(owner);
  const short = 'mauve otters';
  expect((await owner.submit('/profile/password', { password: short })).status).toBe(303);
  const path = `/people/users/${member.userId}/second-factor`;
  expect((await (await browserOf(dashboard, administrator)).submit(path)).status).toBe(303);
  const browser = visitor();
  const { headers } = await browser.signIn(member.email, short, '/profile/api-keys');
  const choice = headers['location'] ?? '';
  expect(choice).toMatch(/^\/welcome\/[\w-]{43}\?why=length$/);
  expect(await isIn(browser)).toBe(false);
  const page = await browser.get(choice);
  expect(wordsOf(page)).toContain('without one your password is too short');
  const action = choice.replace('?why=length', '');
  expect((await browser.submit(choice, { password: short }, action)).status).toBe(422);
  const longer = 'seven otters juggle 93 lanterns';
  expect((await browser.submit(choice, { password: longer }, action)).headers['location']).toBe(
    '/sign-in?done=password&with=password',
  );
  await browser.signIn(member.email, longer);
  expect(await isIn(browser)).toBe(true);
});
