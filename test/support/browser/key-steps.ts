import type { Page } from 'playwright-core';
import type { TestServer } from '../servers/server.ts';

// Clicks the named controls as a person does. Each function starts on the page where the function before it ends.

export async function openOwnKeys(page: Page): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'My profile' }).click();
  await page.getByRole('link', { name: 'API keys', exact: true }).click();
}

/** Creates a key, starting on the list of keys and ending on the page that shows the new key. Returns the key. */
export async function createKey(page: Page, name: string): Promise<string> {
  await page.getByRole('link', { name: 'Create API Key' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create API Key' }).click();
  return readKey(page);
}

export async function openMenu(page: Page, name: string): Promise<void> {
  await page.getByText(`Actions for key ${name}`, { exact: true }).locator('xpath=ancestor::summary').click();
}

/** Chooses a command from the menu of a key in the list. The command opens its confirmation page. */
export async function chooseFromMenu(page: Page, name: string, word: 'Rotate' | 'Revoke'): Promise<void> {
  await openMenu(page, name);
  await page.getByRole('link', { name: word, exact: true }).click();
}

/** Rotates a key, starting on the list of keys and ending on the page that shows the new key. Returns the new key. */
export async function rotateKey(page: Page, name: string): Promise<string> {
  await chooseFromMenu(page, name, 'Rotate');
  await page.getByRole('button', { name: 'Rotate' }).click();
  return readKey(page);
}

export async function readKey(page: Page): Promise<string> {
  return page.getByLabel('API key', { exact: true }).inputValue();
}

export async function backToList(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'I have copied it' }).click();
}

export async function apiStatus({ anonymous }: TestServer, key: string): Promise<number> {
  return (await anonymous.get('/api/parent_programs', { key })).status;
}

export function rowOf(page: Page, text: string) {
  return page.getByRole('row').filter({ hasText: text });
}
