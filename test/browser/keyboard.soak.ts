import type { Locator, Page } from 'playwright-core';
import { untilFocused } from '../support/browser/browser.ts';
import { apiStatus, readKey } from '../support/browser/key-steps.ts';
import { useSite } from '../support/browser/site.ts';
import { PASSWORD } from '../support/data/accounts.ts';
import { giveKey } from '../support/data/actors.ts';

const site = await useSite();

/**
 * A script that returns whether the focused element has an outline of at least two pixels (WCAG 2.2, success criterion 2.4.13).
 */
const RING = `(() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
  return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
})()`;

/** Presses Tab until the target has the focus. Fails if an element on the way does not show that it has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press('Tab');
    const isThere = await hasFocus(page, target);
    const on = await page.evaluate<string>('document.activeElement.outerHTML.slice(0, 80)');
    if (!on.startsWith('<body')) expect({ on, isSeen: await page.evaluate(RING) }).toEqual({ on, isSeen: true });
    if (isThere) return;
  }
  throw new Error(`Tab never came to ${target}.`);
}

async function hasFocus(page: Page, target: Locator): Promise<boolean> {
  return (await target.and(page.locator(':focus')).count()) > 0;
}

async function press(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('Enter');
}

test('the keyboard alone suffices to sign in, create a key, open its menu and rotate it', async () => {
  const { member } = await site.team();
  const page = await site.visit();
  await page.goto('/sign-in');
  await tabTo(page, page.getByLabel('E-mail'));
  await page.keyboard.type(member.email);
  await tabTo(page, page.getByLabel('Password'));
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await press(page, page.getByRole('link', { name: 'API keys' }));
  await press(page, page.getByRole('link', { name: 'Create API Key' }));
  await tabTo(page, page.getByLabel('Name'));
  await page.keyboard.type('Typed');
  await press(page, page.getByRole('button', { name: 'Create API Key' }));
  const old = await readKey(page);
  await tabTo(page, page.getByRole('button', { name: 'Copy API key' }));
  await page.keyboard.press('Space');
  await page.getByText('Copied.').waitFor();
  await press(page, page.getByRole('link', { name: 'I have copied it' }));

  await press(page, page.locator('summary', { hasText: 'Actions for key Typed' }));
  await press(page, page.getByRole('link', { name: 'Rotate' }));
  await press(page, page.getByRole('button', { name: 'Rotate' }));
  const key = await readKey(page);
  expect(await apiStatus(site.server, old)).toBe(401);
  expect(await apiStatus(site.server, key)).toBe(200);
});

test('Escape closes the menu and returns the focus to its button, and leaving the menu closes it', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  await page.goto('/profile/api-keys/new');
  await page.getByLabel('Name').fill('Menu');
  await page.getByRole('button', { name: 'Create API Key' }).click();
  await page.getByRole('link', { name: 'I have copied it' }).click();
  const summary = page.locator('summary', { hasText: 'Actions for key Menu' });
  const rotate = page.getByRole('link', { name: 'Rotate' });
  await press(page, summary);
  await tabTo(page, rotate);
  await page.keyboard.press('Escape');
  await untilFocused(summary);
  await rotate.waitFor({ state: 'hidden' });
  await page.keyboard.press('Enter');
  await rotate.waitFor({ state: 'visible' });
  await page.keyboard.press('Shift+Tab');
  await rotate.waitFor({ state: 'hidden' });
});

test('arrow keys, Home and End move in the menu of a key, and an arrow key opens it', async () => {
  const { member } = await site.team();
  await giveKey(site.server.db, member, { name: 'Menu' });
  const page = await site.visitAs(member);
  await page.goto('/profile/api-keys');
  const summary = page.locator('summary', { hasText: 'Actions for key Menu' });
  const link = (name: string) => page.getByRole('link', { name, exact: true });
  await summary.focus();
  await page.keyboard.press('End');
  await untilFocused(summary);
  for (const [key, name] of [
    ['ArrowDown', 'Rotate'],
    ['ArrowDown', 'Rename'],
    ['ArrowDown', 'Restrict'],
    ['ArrowDown', 'Move'],
    ['ArrowDown', 'Revoke'],
    ['ArrowDown', 'Rotate'],
    ['ArrowUp', 'Revoke'],
    ['ArrowUp', 'Move'],
    ['Home', 'Rotate'],
    ['End', 'Revoke'],
  ] as const) {
    await page.keyboard.press(key);
    await untilFocused(link(name));
  }
  await page.keyboard.press('Escape');
  await untilFocused(summary);
  await link('Revoke').waitFor({ state: 'hidden' });
  await page.keyboard.press('ArrowUp');
  await untilFocused(link('Revoke'));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Revoke Menu' }).waitFor();
});

test('the first Tab reaches a link that moves the focus to the content', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  await press(page, page.getByRole('link', { name: 'Skip to the content' }));
  await untilFocused(page.getByRole('main'));
});

test('the keyboard alone suffices to add an endpoint, send it a test event and resend that', async () => {
  const { administrator } = await site.team();
  const page = await site.visitAs(administrator);
  await page.goto('/organization/webhooks');
  await press(page, page.getByRole('link', { name: 'Add an endpoint' }));
  await tabTo(page, page.getByLabel('URL'));
  await page.keyboard.type('https://example.org/webhooks');
  await page.keyboard.press('Enter');
  await press(page, page.getByRole('link', { name: 'I have copied it' }));
  await press(page, page.getByRole('button', { name: 'Send a test event' }));
  await press(page, page.getByRole('button', { name: 'Resend' }));
  await page.getByText('The event is sent again.').waitFor();
});
