import { hashPassword } from '../../../src/service/sign-in/password.ts';
import { type Browser, expectToSay, fillForm, isIn, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, newBrowser, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { formsOf, textOf } from '../../support/dashboard/forms.ts';
import { addSecondFactor, codeAt, createAccount, PASSWORD } from '../../support/data/accounts.ts';
import { createScope } from '../../support/data/actors.ts';

const dashboard = await useDashboard();
beforeEach(() => dashboard.passMinutes(2));

const OWN = '/profile/second-factor';
const CODES = `${OWN}/recovery-codes`;
const account = (change = {}) => createAccount(dashboard.db, change);

const uriIn = ({ text }: Page) => textOf(/href="(otpauth:[^"]*)"/.exec(text)?.[1] ?? '');
const codesIn = ({ text }: Page) => text.match(/[0-9a-z]{4}(-[0-9a-z]{4}){3}(?=[\n<])/g) ?? [];

const visitor = () => newBrowser(dashboard);

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

test('a wrong code keeps the QR code only on a page that had its secret', async () => {
  // The attack: in an open or stolen session, somebody posts a wrong code to see the secret that its owner set up.
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
  // A secret that another set-up has replaced is not shown, either.
  const other = uriIn(await browser.submit(OWN));
  expect(other).not.toBe(uri);
  const stale = await browser.post(`${OWN}/confirm`, { ...fields, code: '000000' });
  expect([stale.status, uriIn(stale)]).toEqual([422, '']);
  expect(stale.text).not.toContain(secret);
});

test('turning on the second factor signs out every other browser and invalidates copies of this browser’s cookie', async () => {
  // The attack: an attacker signed in earlier with the stolen password, and keeps that session for hours.
  const owner = await account();
  const [browser, other, copy] = [await signedIn(owner), await signedIn(owner), visitor()];
  copy.cookies.set('charter', browser.cookies.get('charter') ?? '');
  const { page, codes } = await turnOn(browser);
  expect([page.status, codes.length]).toEqual([200, 10]);
  expect([await isIn(browser), await isIn(other), await isIn(copy)]).toEqual([true, false, false]);
  // The forms on the page with the codes work in the renewed session.
  const [, form_token = ''] = /name="form_token" value="([^"]*)"/.exec(page.text) ?? [];
  expect((await browser.post('/sign-out', { form_token })).headers['location']).toBe('/sign-in?done=signed-out');
});

test('a form makes new recovery codes once, and invalidates the earlier ones', async () => {
  // The bug: a reload invalidated the codes that were just copied.
  const owner = await account();
  const browser = await signedIn(owner);
  expect((await browser.get(CODES)).headers['location']).toBe(OWN);
  const { codes: old } = await turnOn(browser);
  const form = fillForm(await browser.form(CODES));
  const [fresh, again] = [await browser.post(CODES, form), await browser.post(CODES, form)];
  expect([fresh.status, codesIn(fresh).length, again.status, codesIn(again)]).toEqual([200, 10, 409, []]);
  /** Returns whether the code signs in, and the text of the page that follows. */
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

test('when an administrator removes a colleague’s second factor, every session ends, and the password alone signs in', async () => {
  // The usual case: the phone and the recovery codes are lost.
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
  // Administrators turn off their own second factor on another page, which never removes the last way to sign in.
  const own = `/people/users/${administrator.userId}/second-factor`;
  expect((await browser.get(own)).headers['location']).toBe(OWN);
  // A second tab may still show the form.
  const form_token = await browser.formToken();
  const late = await browser.post(`${user}/second-factor`, { form_token });
  expectToSay(late, 409, `${member.email} has neither a second factor nor a passkey.`);
});

test('a password that is too short without the second factor leads only to the form for a longer one', async () => {
  // The attack: setting a password of 12 characters while a second factor is on, and then turning the second factor off.
  const owner = await account();
  const short = 'mauve otters';
  const passwordHash = await hashPassword(short);
  await dashboard.db.prisma.user.updateMany({ where: { id: owner.userId }, data: { passwordHash } });
  const browser = visitor();
  const { headers } = await browser.signIn(owner.email, short, '/profile/api-keys');
  const choice = headers['location'] ?? '';
  expect(choice).toMatch(/^\/welcome\/[\w-]{43}\?why=length$/);
  expect(await isIn(browser)).toBe(false);
  expect(wordsOf(await browser.get(choice))).toContain('without one your password is too short');
  const action = choice.replace('?why=length', '');
  expect((await browser.submit(choice, { password: short }, action)).status).toBe(422);
  const chosen = await browser.submit(choice, { password: 'seven otters juggle 93 lanterns' }, action);
  expect(chosen.headers['location']).toBe('/sign-in?done=password&with=password');
});

test('one’s own profile does not say that the second factor is off while it is on', async () => {
  // The bug: after the second factor had been set up again, "Back" led to this URL, and the page said that the second factor was
  // off.
  const owner = await account();
  const browser = await browserOf(dashboard, owner);
  const words = async () => wordsOf(await browser.get('/profile?done=factor-off'));
  expect(await words()).toContain('Your second factor is off.');
  const { token } = await addSecondFactor(dashboard.db, owner, dashboard.now());
  browser.cookies.set('charter', token);
  expect(await words()).toMatch(/^(?!.*Your second factor is off).*Second factor On/);
});
