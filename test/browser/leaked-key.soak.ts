import type { Page } from 'playwright-core';
import { apiStatus } from '../support/browser/key-steps.ts';
import { useSite } from '../support/browser/site.ts';
import { giveKey } from '../support/data/actors.ts';

const site = await useSite();

/** Counts the clicks of a person who has found a key and ends it, from the start page. */
class Newcomer {
  clicks = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async click(role: 'link' | 'button', name: string): Promise<void> {
    this.clicks += 1;
    await this.page.getByRole(role, { name, exact: true }).click();
  }

  /** Revokes the key from its page. Returns what the page showed before. */
  async revoke(): Promise<string> {
    await this.page.getByRole('heading', { level: 1, name: 'Nightly import' }).waitFor();
    const told = await this.page.getByRole('main').innerText();
    await this.click('link', 'Revoke');
    await this.click('button', 'Revoke');
    await this.page.getByText('was revoked. It is refused from now on.').waitFor();
    return told;
  }
}

async function leak({ javaScriptEnabled = true }: { javaScriptEnabled?: boolean } = {}) {
  const team = await site.team();
  const { key } = await giveKey(site.server.db, team.member, { name: 'Nightly import' });
  await giveKey(site.server.db, team.administrator, { name: 'Another' });
  const visit = async (role: 'manager' | 'administrator') => {
    const page = await site.visitAs(team[role], { javaScriptEnabled });
    await page.goto('/');
    await page.waitForURL('**/profile');
    return new Newcomer(page);
  };
  return { ...team, key, visit };
}

test.each([true, false])(
  'a manager finds the user of a leaked key and ends it with four clicks; with a script: %j',
  async (javaScriptEnabled) => {
    const { key, member, visit } = await leak({ javaScriptEnabled });
    const newcomer = await visit('manager');
    await newcomer.click('link', 'Organization');
    await newcomer.page.getByRole('searchbox', { name: 'Name, prefix or whole key' }).fill(key);
    await newcomer.click('button', 'Search');
    expect(await newcomer.revoke()).toContain(member.email);
    expect(newcomer.clicks).toBe(4);
    expect(await apiStatus(site.server, key)).toBe(401);
  },
);

test('an administrator ends it with four clicks and the Enter key, or by the search for people', async () => {
  for (const way of ['Organization', 'People'] as const) {
    const { key, member, visit } = await leak();
    const newcomer = await visit('administrator');
    await newcomer.click('link', way);
    if (way === 'Organization') await newcomer.click('link', 'API keys');
    const search = newcomer.page.getByRole('searchbox').first();
    await search.fill(key);
    await (way === 'Organization' ? search.press('Enter') : newcomer.click('button', 'Search'));
    expect(await newcomer.revoke()).toContain(member.email);
    expect([way, newcomer.clicks]).toEqual([way, 4]);
    expect(await apiStatus(site.server, key)).toBe(401);
  }
});

test.each([true, false])(
  'somebody without an account ends a leaked key from the start page, by the keyboard alone; with a script: %j',
  async (javaScriptEnabled) => {
    const { key } = await leak();
    const page = await site.visit({ javaScriptEnabled });
    await page.goto('/');
    await page.getByRole('link', { name: 'Report a leaked key' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Report a leaked API key' }).waitFor();
    await page.getByRole('button', { name: 'Report and revoke' }).press('Enter');
    await page.getByText('must contain a whole API key').first().waitFor();
    await page.getByLabel('Text with the key').fill(`CHARTER_API_KEY=${key}\n`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Thank you' }).waitFor();
    await page.getByText('You reported 1 API key. If it was active, it is revoked now').waitFor();
    expect(page.url()).not.toContain('charter_');
    expect(await apiStatus(site.server, key)).toBe(401);
  },
);

test('only the start of a key is known: the list shows whose key it is', async () => {
  const { key, visit } = await leak();
  const { page } = await visit('manager');
  await page.getByRole('link', { name: 'Organization' }).click();
  await page.getByRole('searchbox', { name: 'Name, prefix or whole key' }).fill(`${key.slice(0, 17)}…`);
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('Active (1)').waitFor();
  expect(await page.getByRole('row').nth(1).innerText()).toContain('Mei Tanaka');
  await page.getByRole('link', { name: 'Nightly import' }).click();
  await page.getByRole('link', { name: 'Revoke' }).waitFor();
});

test('no URL that the browser visits contains more of the key than its prefix', async () => {
  // The attack: the history of a shared computer, or the log of a proxy, reveals the key that was searched for.
  const { key, visit } = await leak();
  const { page } = await visit('administrator');
  const urls: string[] = [];
  page.context().on('request', (request) => urls.push(request.url()));
  for (const path of ['/people/users', '/organization/api-keys']) {
    await page.goto(path);
    const search = page.getByRole('searchbox').first();
    await search.fill(key);
    await search.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Nightly import' }).waitFor();
  }
  expect(urls.length).toBeGreaterThan(4);
  for (const url of urls) expect(url).not.toContain(key.slice(17));
});
