import type { Page } from 'playwright-core';
import { untilFocused } from '../support/browser/browser.ts';
import { signIn, useSite } from '../support/browser/site.ts';
import { PASSWORD } from '../support/data/accounts.ts';

// The bug: when somebody went back to a refused form, or reloaded it, the browser showed its own error page (ERR_CACHE_MISS).

const site = await useSite();

const press = (page: Page, name: string) => page.getByRole('main').getByRole('button', { name }).click();
const refused = (page: Page) => untilFocused(page.getByRole('alert'));

test('after a refused form, the back button and a reload show the form with what was typed', async () => {
  const { administrator } = await site.team();
  const page = await site.visitAs(administrator);
  await page.goto('/profile/api-keys/new');
  const [name, expiry] = [page.getByLabel('Name'), page.getByLabel('Expiry')];
  const [read, write] = ['read', 'write'].map((right) => page.getByLabel(`parent_programs:${right}`));
  await name.fill('Nightly import');
  await expiry.selectOption('On a day of your choice');
  await read?.uncheck();
  await press(page, 'Create API Key');
  await refused(page);
  await write?.check();
  await press(page, 'Create API Key');
  await refused(page);
  await name.fill('Nightly import, staging');
  await page.getByRole('main').getByRole('link', { name: 'Cancel' }).click();
  await page.waitForURL('**/profile/api-keys');
  for (const [act, typed, isWriting] of [
    [() => page.goBack(), 'Nightly import, staging', true],
    [() => page.reload(), 'Nightly import, staging', true],
    [() => page.goBack(), 'Nightly import', true],
  ] as const) {
    await act();
    await page.waitForURL('**/profile/api-keys/new');
    expect([await name.inputValue(), await read?.isChecked(), await write?.isChecked()]).toEqual([
      typed,
      false,
      isWriting,
    ]);
    expect(await page.getByLabel('Last day').isVisible()).toBe(true);
  }
  await page.getByLabel('Last day').fill(new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10));
  await press(page, 'Create API Key');
  await page.getByText('This key will not be shown again.').waitFor();
});

test('of a refused form, the browser keeps no password and no code', async () => {
  // The attack: at an unattended machine, somebody goes back to the form, or reads the browser's saved session.
  const { administrator } = await site.team();
  const page = await site.visit();
  await page.goto('/sign-in?next=%2Fprofile%2Fpassword');
  await signIn(page, { email: administrator.email, password: 'a wrong password' });
  await refused(page);
  expect(JSON.stringify(await page.evaluate('history.state'))).not.toContain('a wrong password');
  await page.reload();
  expect([await page.getByLabel('E-mail').inputValue(), await page.getByLabel('Password').inputValue()]).toEqual([
    administrator.email,
    '',
  ]);
  await page.getByLabel('Password').fill(PASSWORD);
  await press(page, 'Sign in');
  await page.waitForURL('**/profile/password');
});

test('a page with several forms, and a form of one’s own confirmation, are reached again, too', async () => {
  const { administrator, member } = await site.team();
  const page = await site.visitAs(administrator);
  for (const { path, act } of [
    {
      path: '/organization',
      act: async () => {
        await page.getByLabel('Longest life of a key').fill('0');
        await press(page, 'Save policy');
      },
    },
    {
      path: '/people/users/invite',
      act: async () => {
        await page.getByLabel('E-mail').fill(member.email);
        await press(page, 'Invite');
      },
    },
  ]) {
    await page.goto(path);
    await act();
    await refused(page);
    await page.goto('/profile');
    await page.goBack();
    expect(new URL(page.url()).pathname).toBe(path);
    await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
  }
});
