import { OrganizationScope } from '../../../../src/domain/organizations/organization-scope.ts';
import { orThrow } from '../../../../src/service/outcome.ts';
import { createLink } from '../../../../src/service/people/access-links.ts';
import {
  type Browser,
  expectToSay,
  fillForm,
  keysIn,
  type Page,
  wordsOf,
} from '../../../support/dashboard/dashboard.ts';
import { browserOf } from '../../../support/dashboard/dashboard-server.ts';
import { formsOf } from '../../../support/dashboard/forms.ts';
import { giveProof } from '../../../support/dashboard/proof.ts';
import { ageProofs, createAccount, givePasskey, linkDirectly, PASSWORD } from '../../../support/data/accounts.ts';
import { createScope } from '../../../support/data/actors.ts';
import { beginWith, urlIn, useCompanies } from '../../../support/providers/companies.ts';

// Signing in at the identity provider as a fresh proof. These tests do not move the clock, because the OpenID Connect library has
// a clock of its own.

const { dashboard, db, provider, newBrowser, ...companies } = await useCompanies();

/** Creates an organization whose people get an account when they first sign in. */
const company = () => companies.company({ rules: { newPeople: 'member' } });

async function signIn(browser: Browser, email: string, auth_time: number | undefined): Promise<void> {
  const back = await browser.get(provider.authorize(await beginWith(browser, email), { sub: email, email, auth_time }));
  expect([back.status, back.headers['location']]).toEqual([303, '/profile']);
}

/** Returns the time `from` seconds from now, in seconds since 1970, as providers send it. */
const seconds = (from: number) => Math.floor(Date.now() / 1000) + from;

let keys = 0;
function create(browser: Browser) {
  keys += 1;
  const key = { name: `Import ${keys}`, permissions: ['parent_programs:read'], expiry: '30' };
  return browser.submit('/profile/api-keys/new', key, '/profile/api-keys');
}

/** Signs in a new person whose session at the provider is an hour old. */
async function signedIn() {
  const { domain } = await company();
  const email = `new@${domain}`;
  const browser = newBrowser();
  await signIn(browser, email, seconds(-3600));
  expect((await browser.get('/profile')).status).toBe(200);
  return { email, browser, domain };
}

/** Returns the page's form for `action` that contains, encrypted, the form that waits for the proof. */
function waitingForm(page: Page, action: string) {
  const form = formsOf(page.text).find((each) => each.action === action && new Map(each.fields).has('sealed_form'));
  if (form === undefined) throw new Error(`The page, with status ${page.status}, has no form for ${action}.`);
  return form;
}

/**
 * Sends a form that needs a proof, unless `page` is given, and begins the proof at the provider. Returns the URL at the provider.
 */
async function proofUrl(browser: Browser, page?: Page): Promise<string> {
  const asked = page ?? (await create(browser));
  expect([asked.status, keysIn(asked)]).toEqual([403, []]);
  const { action, fields } = waitingForm(asked, '/profile/proof/provider');
  return urlIn(await browser.post(action, fillForm({ action, fields }))) ?? '';
}

/** Sends the form that has waited for the proof. */
const goOn = (browser: Browser, page: Page, action = '/profile/api-keys') =>
  browser.post(action, fillForm(waitingForm(page, action)));

async function keyNames(email: string): Promise<string[]> {
  return (await db.prisma.apiKey.findMany({ where: { user: { email } } })).map(({ name }) => name);
}

/** Moves the beginning of the person's proof into the past by `minutes`. */
async function takeMinutes(email: string, minutes: number): Promise<void> {
  const change = 'update sso_sign_ins set created_at = created_at - make_interval(mins => $2) where email = $1';
  expect((await db.pool.query(change, [email, minutes])).rowCount).toBe(1);
}

test('a sign-in at the provider a moment ago is a proof, and Charter asks the provider when it was', async () => {
  const { domain } = await company();
  const [browser, email] = [newBrowser(), `new@${domain}`];
  const url = await beginWith(browser, email);
  // The longest life of a session, in seconds. A provider that gets max_age must say when the person signed in.
  expect(new URL(url).searchParams.get('max_age')).toBe(String(12 * 3600));
  await browser.get(provider.authorize(url, { sub: email, email }));
  expect((await create(browser)).status).toBe(200);
});

test.each([
  ['whose time the provider does not say', () => undefined],
  ['whose time is no date', () => 1e300],
  ['ten minutes ago', () => seconds(-600)],
  ['hours ago', () => seconds(-13 * 3600)],
])('a sign-in at the provider %s is no proof', async (_, time) => {
  // The attack: somebody finds the browser open, signs out of Charter, and in again with the open session at the provider.
  const { domain } = await company();
  const browser = newBrowser();
  await signIn(browser, `new@${domain}`, time());
  expect((await create(browser)).status).toBe(403);
});

test('a sign-in that begins from an access link is a proof, whatever the provider says', async () => {
  const { domain, administrator } = await company();
  const email = `new@${domain}`;
  await signIn(newBrowser(), email, undefined);
  const { id: userId } = await db.prisma.user.findFirstOrThrow({ where: { email } });
  const making = { userId, kind: 'invitation', formId: crypto.randomUUID() } as const;
  const { link } = orThrow(await createLink(db, administrator, making));
  const path = `/welcome/${link.token}`;
  const comeBack = async (browser: Browser, sub: string) => {
    const url = urlIn(await browser.submit(path, {}, `${path}/single-sign-on`)) ?? '';
    return browser.get(provider.authorize(url, { sub, email: sub, auth_time: undefined }));
  };
  // The attack: a colleague opens the link and signs in as themselves.
  const [colleague, browser] = [newBrowser(), newBrowser()];
  await comeBack(colleague, `colleague@${domain}`);
  expect((await create(colleague)).status).toBe(403);
  expect((await comeBack(browser, email)).headers['location']).toBe('/profile');
  expect((await create(browser)).status).toBe(200);
  expect((await browser.get(path)).status).toBe(404);
});

test('the password that confirms an account is a proof, whatever the provider says', async () => {
  const { administrator } = await company();
  const { email } = administrator;
  const browser = newBrowser();
  const url = await beginWith(browser, email);
  const toConfirm = await browser.get(provider.authorize(url, { sub: email, email, auth_time: undefined }));
  await browser.submit(toConfirm.headers['location'] ?? '', { password: PASSWORD });
  expect((await create(browser)).status).toBe(200);
});

test('a proof at the provider is a new sign-in there, after which a click continues with the form that was sent', async () => {
  const { email, browser } = await signedIn();
  const url = await proofUrl(browser);
  const name = `Import ${keys}`;
  expect(new URL(url).searchParams.get('max_age')).toBe('0');
  const callback = provider.authorize(url, { sub: email, email, auth_time: seconds(0) });
  const back = await browser.get(callback);
  // The attack: somebody sends a form in an open browser, and waits until its owner signs in at the provider.
  expect([back.status, back.setCookies, keysIn(back), await keyNames(email)]).toEqual([200, [], [], []]);
  expect([wordsOf(back), back.text.includes(name)]).toEqual([
    expect.stringContaining('You are about to create an API key.'),
    false,
  ]);
  expect(keysIn(await goOn(browser, back))).toHaveLength(1);
  expect(await keyNames(email)).toEqual([name]);
  expect((await goOn(browser, back)).status).toBe(409);
  const reloaded = await browser.get(callback);
  expectToSay(reloaded, 400, 'You are signed in. If you were');
  expect((await create(browser)).status).toBe(200);
});

test('a page that needs a proof opens after one at the provider', async () => {
  const { email, browser } = await signedIn();
  const path = '/profile/passkeys/new';
  const url = await proofUrl(browser, await browser.get(path));
  const back = await browser.get(provider.authorize(url, { sub: email, email }));
  expect(wordsOf(back)).toContain('You are about to add a passkey.');
  expect((await goOn(browser, back, path)).headers['location']).toBe(path);
  expect((await browser.get(path)).status).toBe(200);
});

test('a form that waits for a proof at the provider is encrypted in the database', async () => {
  const { administrator } = await company();
  const { email } = administrator;
  const browser = newBrowser();
  const toConfirm = await browser.get(provider.authorize(await beginWith(browser, email), { sub: email, email }));
  await browser.submit(toConfirm.headers['location'] ?? '', { password: PASSWORD });
  await ageProofs(db, administrator);
  const password = 'seven otters juggle 93 lanterns';
  const url = await proofUrl(browser, await browser.submit('/profile/password', { password }));
  const [row] = await db.prisma.ssoSignIn.findMany({ where: { email } });
  const bytes = Buffer.from(row?.sealedForm ?? []);
  expect([bytes.length > 30, bytes.includes('otters'), bytes.includes('password')]).toEqual([true, false, false]);
  const back = await browser.get(provider.authorize(url, { sub: email, email }));
  expect(back.text).not.toContain('otters');
  expect((await goOn(browser, back, '/profile/password')).headers['location']).toContain('done=');
});

test.each([
  ['the provider gives no proof', 403, (email: string) => ({ email, auth_time: undefined })],
  ['somebody else signs in there', 403, (email: string) => ({ email, sub: 'somebody else' })],
  ['it takes longer than ten minutes', 400, (email: string) => ({ email })],
])('the form that was sent is kept if %s', async (_, status, personOf) => {
  const { email, browser } = await signedIn();
  const url = await proofUrl(browser);
  const name = `Import ${keys}`;
  if (status === 400) await takeMinutes(email, 10);
  const failed = await browser.get(provider.authorize(url, { sub: email, ...personOf(email) }));
  expect(failed.status).toBe(status);
  // The form leads back to the page that offers all kinds of proof.
  const again = await goOn(browser, failed);
  expect(wordsOf(again)).toContain('You are about to create an API key.');
  const second = provider.authorize(await proofUrl(browser, again), { sub: email, email });
  expect(keysIn(await goOn(browser, await browser.get(second)))).toHaveLength(1);
  expect(await keyNames(email)).toEqual([name]);
});

test('the form that was sent is kept if the provider cannot be reached, and continues after another proof', async () => {
  const account = await createAccount(db, { scope: await createScope(db), role: 'member' });
  await linkDirectly(db, account);
  const browser = await browserOf(dashboard, account);
  await ageProofs(db, account);
  const { action, fields } = waitingForm(await create(browser), '/profile/proof/provider');
  const failed = await browser.post(action, fillForm({ action, fields }));
  expectToSay(failed, 503, 'does not answer');
  const again = await goOn(browser, failed);
  // Sending the form again without a proof does not count as a wrong password.
  const where = { action: 'user.proof_failed', targetUserId: account.userId };
  expect([again.status, await db.prisma.auditEvent.count({ where })]).toEqual([403, 0]);
  expect(keysIn(await giveProof(browser, again))).toHaveLength(1);
  expect(await keyNames(account.email)).toEqual([`Import ${keys}`]);
});

test('a form needs another proof if nobody continues with it for ten minutes', async () => {
  const { email, browser } = await signedIn();
  const back = await browser.get(provider.authorize(await proofUrl(browser), { sub: email, email }));
  const { id: userId } = await db.prisma.user.findFirstOrThrow({ where: { email } });
  await ageProofs(db, { userId });
  const again = await goOn(browser, back);
  expectToSay(again, 403, 'You are about to create an API key.');
  expect(await keyNames(email)).toEqual([]);
});

test('a form that waits for a proof at the provider fits only the page and the session for which it was sent', async () => {
  // The attack: a colleague, or a later session of the same person, submits a form that was shown in another session.
  const { email, browser, domain } = await signedIn();
  const colleague = newBrowser();
  await signIn(colleague, `colleague@${domain}`, seconds(-3600));
  const { action, fields } = waitingForm(await create(browser), '/profile/proof/provider');
  const sealed_form = new Map(fields).get('sealed_form') ?? '';
  const attacks: readonly [Browser, Record<string, string>][] = [
    [colleague, { next: '/profile/api-keys', sealed_form }],
    [browser, { next: '/profile/password', sealed_form }],
    [browser, { next: '/profile/api-keys', sealed_form: `${sealed_form.slice(0, -9)}AAAAAAAAA` }],
    [browser, { next: '/profile/api-keys' }],
  ];
  for (const [visitor, sent] of attacks) {
    const refused = await visitor.post(action, { form_token: await visitor.formToken(), ...sent });
    expectToSay(refused, 403, 'This form is out of date');
  }
  const url = await proofUrl(browser);
  // The same person signs out and in again while the proof is pending.
  browser.cookies.delete('charter');
  await signIn(browser, email, seconds(0));
  const late = await browser.get(provider.authorize(url, { sub: email, email }));
  expectToSay(late, 403, 'This form is out of date');
  expect(await keyNames(email)).toEqual([]);
});

test('a proof at the provider may take minutes, and counts for ten minutes from the sign-in there', async () => {
  const { email, browser } = await signedIn();
  const url = await proofUrl(browser);
  await takeMinutes(email, 9);
  const back = await browser.get(provider.authorize(url, { sub: email, email, auth_time: seconds(-7 * 60) }));
  expect(back.status).toBe(200);
  expect((await goOn(browser, back)).status).toBe(200);
  const { id: userId } = await db.prisma.user.findFirstOrThrow({ where: { email } });
  await ageProofs(db, { userId }, 4);
  expect((await create(browser)).status).toBe(403);
});

test('a proof is accepted from a provider whose clock is some seconds behind', async () => {
  const { email, browser } = await signedIn();
  const url = await proofUrl(browser);
  await takeMinutes(email, 5);
  const back = await browser.get(provider.authorize(url, { sub: email, email, auth_time: seconds(-5 * 60 - 20) }));
  expect(back.status).toBe(200);
});

test('a sign-in at the provider from before the proof was asked for proves nothing, however long the proof takes', async () => {
  // The attack: somebody finds the browser open minutes after its owner signed in, and the provider ignores max_age.
  const { email, browser } = await signedIn();
  const url = await proofUrl(browser);
  await takeMinutes(email, 5);
  const back = await browser.get(provider.authorize(url, { sub: email, email, auth_time: seconds(-6 * 60) }));
  expectToSay(back, 403, 'did not ask you to sign in anew');
  expect((await create(browser)).status).toBe(403);
});

test.each([
  ['the provider does not say when it was', undefined, 403, 'does not say when you signed in'],
  ['the provider used the session that it had', -3600, 403, 'did not ask you to sign in anew'],
  ['the time is no number', 'now', 502, 'gave no valid answer'],
  ['the time is no date', 1e300, 403, 'does not say when you signed in'],
])('a sign-in at the provider proves nothing if %s', async (_, time, status, words) => {
  // The attack: somebody finds the browser open, with an open session at the provider.
  const { email, browser } = await signedIn();
  const auth_time = time === -3600 ? seconds(time) : time;
  const back = await browser.get(provider.authorize(await proofUrl(browser), { sub: email, email, auth_time }));
  expectToSay(back, status, words);
  // The person has neither a passkey nor a password, so the page must suggest neither.
  if (status === 403) expect(wordsOf(back)).toMatch(/^(?!.*Go back and use).* Ask an administrator or a manager/);
  expect((await create(browser)).status).toBe(403);
  const { id } = await db.prisma.user.findFirstOrThrow({ where: { email } });
  // The audit log records every failed proof, so that the owner of the session learns of it.
  expect(
    await db.prisma.auditEvent.findMany({ where: { action: { contains: 'failed' }, targetUserId: id } }),
  ).toMatchObject([{ action: 'user.proof_failed', actorUserId: id, detail: { with: 'single sign-on' } }]);
});

test('the page that asks for another proof names the kinds of proof that the person has', async () => {
  const { email, browser } = await signedIn();
  const { id: userId, organizationId } = await db.prisma.user.findFirstOrThrow({ where: { email } });
  const person = { scope: OrganizationScope.grant(organizationId), userId };
  const told = async () =>
    wordsOf(
      await browser.get(provider.authorize(await proofUrl(browser), { sub: email, email, auth_time: undefined })),
    );
  await givePasskey(db, person);
  expect(await told()).toContain('Go back and use your passkey. If you cannot, ask an administrator');
  await db.prisma.user.updateMany({ where: { id: userId }, data: { passwordHash: 'set' } });
  expect(await told()).toContain('Go back and use your passkey or your password.');
});

test('a sign-in of a colleague at the provider proves nothing, nor does one in another browser', async () => {
  const { email, browser, domain } = await signedIn();
  const colleague = `colleague@${domain}`;
  const other = newBrowser();
  await signIn(other, colleague, seconds(-3600));
  const fresh = { auth_time: seconds(0) };
  const byColleague = provider.authorize(await proofUrl(browser), { sub: colleague, email: colleague, ...fresh });
  expect((await browser.get(byColleague)).status).toBe(403);
  const elsewhere = provider.authorize(await proofUrl(browser), { sub: email, email, ...fresh });
  expect((await other.get(elsewhere)).status).toBe(400);
  for (const each of [browser, other]) expect((await create(each)).status).toBe(403);
  // A sign-in in another browser does not open a session, either.
  const last = provider.authorize(await proofUrl(browser), { sub: email, email, ...fresh });
  browser.cookies.delete('charter');
  const page = await browser.get(last);
  expect([page.status, (await browser.get('/profile')).status]).toEqual([403, 303]);
});
