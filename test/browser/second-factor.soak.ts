import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { signIn, useSite } from '../support/browser/site.ts';
import { ageProofs, codeAt } from '../support/data/accounts.ts';
import { PASSWORD } from '../support/data/password.ts';

const site = await useSite();
let aheadMs = 0;

/** Each code is accepted once: the next one is shown a minute later. */
function aMinuteLater(): void {
  aheadMs += 60_000;
  site.server.passDays(60_000 / 86_400_000);
}

const code = (uri: string) => codeAt(uri, new Date(Date.now() + aheadMs));

async function setUp(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Set up' }).click();
}

/** On the page that asks for a proof. */
async function prove(page: Page, password: string): Promise<void> {
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Confirm' }).click();
}

async function turnOn(page: Page) {
  await page.getByRole('link', { name: 'Set up the second factor' }).click();
  await setUp(page);
  const uri = (await page.getByRole('link', { name: 'open it in the app' }).getAttribute('href')) ?? '';
  const secret = (await page.getByLabel('Secret').inputValue()).replaceAll(' ', '');
  expect(new URL(uri).searchParams.get('secret')).toBe(secret);
  await page.getByLabel('Code').fill(code(uri));
  await page.getByRole('button', { name: 'Turn on' }).click();
  const recoveryCodes = (await page.getByLabel('Recovery codes').inputValue()).split('\n');
  await page.getByRole('link', { name: 'I have kept them' }).click();
  return { uri, recoveryCodes };
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
}

async function giveCode(page: Page, text: string): Promise<void> {
  await page.getByLabel('Code').fill(text);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('with a second factor the password alone does not sign in, and a code or a recovery code does so once', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  const { uri, recoveryCodes } = await turnOn(page);
  expect(recoveryCodes).toHaveLength(10);
  expect(await page.getByRole('main').innerText()).toContain('10 recovery codes left');
  await signOut(page);

  aMinuteLater();
  await signIn(page, member);
  await page.getByRole('heading', { name: 'Second factor' }).waitFor();
  const half = await page.context().newPage();
  await half.goto('/profile');
  await half.getByRole('heading', { name: 'Sign in' }).waitFor();
  const used = code(uri);
  await giveCode(page, used);
  await page.getByRole('heading', { name: 'My profile' }).waitFor();
  await signOut(page);

  await signIn(page, member);
  await giveCode(page, used);
  expect(await page.getByRole('alert').innerText()).toBe('The code is not right, or was used already.');
  await giveCode(page, recoveryCodes[0] ?? '');
  await page.getByText('9 recovery codes left').waitFor();
  await signOut(page);
  await signIn(page, member);
  await giveCode(page, recoveryCodes[0] ?? '');
  expect(await page.getByRole('alert').innerText()).toBe('The code is not right, or was used already.');
});

test('after the second factor is turned off, the password alone signs in', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  await turnOn(page);
  await page.getByRole('link', { name: 'Turn off the second factor' }).click();
  await page.getByRole('button', { name: 'Turn off' }).click();
  await page.getByText('Your second factor is off.').waitFor();
  await signOut(page);
  await signIn(page, member);
  await page.getByRole('heading', { name: 'My profile' }).waitFor();
});

test('a wrong first code does not turn on the second factor', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  await page.goto('/profile/second-factor');
  await setUp(page);
  const secret = await page.getByLabel('Secret').inputValue();
  await page.getByLabel('Code').fill('000000');
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('alert').waitFor();
  // The same QR code and secret, so that nobody has to start again.
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  expect(await page.getByLabel('Secret').inputValue()).toBe(secret);
  await page.goto('/profile');
  expect(await page.getByRole('link', { name: 'Set up the second factor' }).count()).toBe(1);
});

test('setting up a second factor late asks for the password, signs out every other browser and keeps this one', async () => {
  // The attack: an unlocked screen; a thief who is signed in elsewhere.
  const { member } = await site.team();
  const [page, other] = [await site.visitAs(member), await site.visitAs(member)];
  await other.getByRole('heading', { name: 'My profile' }).waitFor();
  await ageProofs(site.server.db, member);
  await page.getByRole('link', { name: 'Set up the second factor' }).click();
  await setUp(page);
  await prove(page, 'not the password of anybody');
  expect(await page.getByRole('alert').innerText()).toContain('Password is not right.');
  expect(await page.getByLabel('Secret').count()).toBe(0);
  await prove(page, PASSWORD);
  await page.getByLabel('Secret').waitFor();
  await page.goto('/profile');
  await turnOn(page);
  await page.getByRole('heading', { name: 'My profile' }).waitFor();
  await other.getByRole('link', { name: 'API keys' }).click();
  await other.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('new recovery codes replace the earlier ones and are shown once', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  const { recoveryCodes: old } = await turnOn(page);
  await page.getByRole('link', { name: 'Regenerate recovery codes' }).click();
  await page.getByRole('button', { name: 'Regenerate codes' }).click();
  const fresh = (await page.getByLabel('Recovery codes').inputValue()).split('\n');
  expect(new Set([...old, ...fresh]).size).toBe(20);
  await page.reload();
  await page.getByRole('heading', { name: 'This form was sent already' }).waitFor();
  await signOut(page);
  await signIn(page, member);
  await giveCode(page, old[0] ?? '');
  expect(await page.getByRole('alert').innerText()).toBe('The code is not right, or was used already.');
  await giveCode(page, fresh[0] ?? '');
  await page.getByText('9 recovery codes left').waitFor();
});

test('an administrator who restores access after a lost phone and lost codes learns what that means', async () => {
  const { administrator, member } = await site.team();
  const theirs = await site.visitAs(member);
  await turnOn(theirs);
  const page = await site.visitAs(administrator);
  await page.getByRole('link', { name: 'People' }).click();
  await page.getByRole('link', { name: member.name }).click();
  await page.getByRole('link', { name: 'Remove the second factor and the passkeys' }).click();
  await page.getByRole('heading', { name: `Remove the second factor and the passkeys of ${member.name}` }).waitFor();
  expect(await page.getByRole('main').innerText()).toContain('The password alone opens the account');
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.getByRole('link', { name: 'Remove the second factor and the passkeys' }).click();
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByText(`The second factor and the passkeys of ${member.name} are removed`).waitFor();
  expect(await page.getByRole('link', { name: 'Remove the second factor and the passkeys' }).count()).toBe(0);

  await theirs.reload();
  await theirs.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signIn(theirs, member);
  await theirs.getByRole('heading', { name: 'My profile' }).waitFor();
  await theirs.getByRole('link', { name: 'Set up the second factor' }).waitFor();

  await page.getByRole('link', { name: 'Organization' }).click();
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByLabel('Event', { exact: true }).selectOption('Second factor removed');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.waitForURL(/action=user.second_factor_removed/);
  const row = await page.getByRole('row').nth(1).innerText();
  expect(row).toContain(administrator.name);
  expect(row).toContain(member.name);
});

test.each([true, false])(
  'the recovery codes can be downloaded as a text file, which asks the server for nothing (JavaScript: %s)',
  async (javaScriptEnabled) => {
    // The attack: a file that can be asked for again, or codes that a proxy or a log sees.
    const { member } = await site.team();
    const page = await site.visitAs(member, { javaScriptEnabled });
    await page.goto('/profile/second-factor');
    await setUp(page);
    const uri = (await page.getByRole('link', { name: 'open it in the app' }).getAttribute('href')) ?? '';
    await page.getByLabel('Code').fill(code(uri));
    await page.getByRole('button', { name: 'Turn on' }).click();
    const shown = await page.getByLabel('Recovery codes').inputValue();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download as a text file' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('charter-recovery-codes.txt');
    const file = await text(await download.createReadStream());
    expect(file.trim().split('\n').slice(-10)).toEqual(shown.split('\n'));
    expect(file).toContain(member.email);
    expect(asked.filter((url) => !url.startsWith('data:'))).toEqual([]);
    expect(await page.getByLabel('Recovery codes').inputValue()).toBe(shown);
  },
);
