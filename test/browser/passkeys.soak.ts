import type { Page } from 'playwright-core';
import type { Actor } from '../../src/domain/audit/actor.ts';
import { openContext, untilFocused } from '../support/browser/browser.ts';
import { createKey, openOwnKeys } from '../support/browser/key-steps.ts';
import { AXE_SCRIPT, look } from '../support/browser/look.ts';
import { signIn, useSite } from '../support/browser/site.ts';
import { stepsOf } from '../support/contract/guides.ts';
import { ageProofs, PASSWORD } from '../support/data/accounts.ts';
import { giveKey } from '../support/data/actors.ts';
import { startServer } from '../support/servers/server.ts';

const site = await useSite({ host: 'localhost', script: AXE_SCRIPT });

/** Connects a virtual authenticator to the page, which simulates, for example, the fingerprint reader of a laptop. */
async function connectAuthenticator(page: Page) {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('WebAuthn.enable');
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  } as const;
  const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', { options });
  return { devTools, authenticatorId };
}

async function addPasskey(page: Page, name: string): Promise<void> {
  const [profile = '', link = '', button = ''] = stepsOf('signing-in.md', 'Passkeys');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: profile }).click();
  await page.getByRole('link', { name: link }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: button }).click();
  await page.getByText('Your passkey is added.').waitFor();
}

/** Opens a page as the person, with an authenticator that has their passkey. Closes the page after the test. */
async function visitWithPasskey(actor: Actor) {
  const page = await site.visitAs(actor);
  const device = await connectAuthenticator(page);
  await addPasskey(page, 'Laptop');
  return { page, device };
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
}

test('a passkey is added, signs in without a password, is renamed and removed', async () => {
  const { member } = await site.team();
  const page = await site.visit();
  // Without this script, the virtual authenticator would use the passkey that the browser offers in the e-mail field, before the
  // button is pressed.
  await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
  await site.switchTo(member, page);
  await page.goto('/profile');
  await connectAuthenticator(page);
  await addPasskey(page, 'Laptop');
  await signOut(page);
  await page.goto('/sign-in?next=%2Fprofile%2Fsessions');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('heading', { name: 'Sessions' }).waitFor();

  await page.goto('/profile');
  await page.getByText('Last used just now').waitFor();
  await page.getByRole('link', { name: 'Manage the passkey Laptop' }).click();
  await page.getByLabel('Name').fill('Desk');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByText('Your passkey is renamed.').waitFor();
  await page.getByRole('link', { name: 'Manage the passkey Desk' }).click();
  await page.getByRole('button', { name: 'Remove the passkey' }).click();
  await page.getByText('Your passkey is removed.').waitFor();
});

test('the browser offers a passkey in the field for the e-mail, and choosing it signs in', async () => {
  const { manager } = await site.team();
  const { page } = await visitWithPasskey(manager);
  // The virtual authenticator accepts the offered passkey at once.
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'My profile' }).waitFor();
  const { rows } = await site.server.db.pool.query(
    `select detail from audit_events where target_user_id = $1 and act = 'user.signed_in'`,
    [manager.userId],
  );
  expect(rows).toEqual([{ detail: { passkey: 'Laptop' } }]);
});

test('without user verification, the browser gives no passkey, and the page says so', async () => {
  const { member } = await site.team();
  const { page, device } = await visitWithPasskey(member);
  const { authenticatorId, devTools } = device;
  await devTools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  await signOut(page);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByText('No passkey was used.').waitFor();
});

test('creating a key late asks for a proof: with the keyboard alone, by password, and then by passkey', async () => {
  const { member } = await site.team();
  const { page } = await visitWithPasskey(member);
  await openOwnKeys(page);
  await page.getByRole('link', { name: 'Create API Key' }).click();
  await page.getByLabel('Name').fill('Late');
  await ageProofs(site.server.db, member);
  await page.getByRole('button', { name: 'Create API Key' }).click();
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  await untilFocused(page.getByLabel('Password'));
  await page.keyboard.type('not the password of anybody');
  await page.keyboard.press('Enter');
  await untilFocused(page.getByRole('alert'));
  await page.getByLabel('Password').focus();
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  expect(await page.getByLabel('API key', { exact: true }).inputValue()).toMatch(/^charter_/);
  await page.getByRole('link', { name: 'I have copied it' }).click();
  expect(await createKey(page, 'Second')).toMatch(/^charter_/);
  await page.getByRole('link', { name: 'I have copied it' }).click();

  await page.getByRole('link', { name: 'Create API Key' }).click();
  await page.getByLabel('Name').fill('Third');
  await ageProofs(site.server.db, member);
  await page.getByRole('button', { name: 'Create API Key' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  expect(await page.getByLabel('API key', { exact: true }).inputValue()).toMatch(/^charter_/);
});

test('without a script, the pages say what they need it for, and the password still works', async () => {
  const { member } = await site.team();
  const page = await site.visit({ javaScriptEnabled: false });
  await page.goto('/sign-in');
  await page.getByText('You need JavaScript to sign in with a passkey.').waitFor();
  expect(await page.getByText('or', { exact: true }).isVisible()).toBe(false);
  expect(await page.getByRole('button', { name: 'passkey' }).isVisible()).toBe(false);
  await page.getByLabel('E-mail').fill(member.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('link', { name: 'Add a passkey' }).click();
  await page.getByText('You need JavaScript to add a passkey.').waitFor();
});

test('a page that is open at another address than PUBLIC_URL leads to it', async () => {
  const { member } = await site.team();
  const publicUrl = 'http://localhost:4937';
  await using other = await startServer({ databaseUrl: site.server.databaseUrl, publicUrl });
  await using context = await openContext(site.browser, { baseURL: other.url, problems: site.problems });
  const page = await context.newPage();
  await page.goto('/sign-in');
  await page.getByText(`Open ${publicUrl} instead.`).waitFor();
  expect(await page.getByRole('button', { name: 'passkey' }).isVisible()).toBe(false);
  await signIn(page, member);
  await page.getByRole('link', { name: 'Add a passkey' }).click();
  await page.getByText(`Open ${publicUrl} instead.`).waitFor();
  expect(await page.getByRole('button', { name: 'passkey' }).isVisible()).toBe(false);
});

test('a device makes no second passkey, and the pages with passkeys and proofs look right', async () => {
  const { member } = await site.team();
  const page = await site.visit();
  await page.goto('/sign-in');
  const problems = await look(page, 'passkey-sign-in');
  await site.switchTo(member, page);
  await page.goto('/profile');
  await connectAuthenticator(page);
  await addPasskey(page, 'Laptop');
  problems.push(...(await look(page, 'passkeys')));
  await page.getByRole('link', { name: 'Add a passkey' }).click();
  problems.push(...(await look(page, 'passkey-new')));
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('This device already has a passkey for your account.').waitFor();
  problems.push(...(await look(page, 'passkey-refused')));
  await page.goto('/profile');
  await page.getByRole('link', { name: 'Manage the passkey Laptop' }).click();
  problems.push(...(await look(page, 'passkey')));
  await site.server.db.prisma.user.updateMany({ where: { id: member.userId }, data: { totpSince: new Date() } });
  await ageProofs(site.server.db, member);
  const key = await giveKey(site.server.db, member, {
    name: 'Nightly synchronisation of the catalogue with the warehouse',
  });
  await page.goto(`/profile/api-keys/${key.id}/revoke`);
  await page.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('You are about to revoke the API key “Nightly').waitFor();
  problems.push(...(await look(page, 'proof')));
  await page.getByLabel('Password').fill('not the password of anybody');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('alert').waitFor();
  problems.push(...(await look(page, 'proof-refused')));
  expect(problems).toEqual([]);
});
