import { focused } from '../support/browser/browser.ts';
import {
  apiStatus,
  backToList,
  chooseFromMenu,
  createKey,
  openOwnKeys,
  rotateKey,
  rowOf,
} from '../support/browser/key-steps.ts';
import { useSite } from '../support/browser/site.ts';

const site = await useSite();

test('My profile -> API keys -> Create API Key shows a key that the API accepts', async () => {
  const { administrator } = await site.team();
  const page = await site.visitAs(administrator);
  await openOwnKeys(page);
  const key = await createKey(page, 'Nightly import');
  expect(key).toMatch(/^charter_live_[0-9A-Za-z]{46}$/);
  expect(await page.getByRole('main').innerText()).toContain('This key will not be shown again.');
  const curl = await page.getByLabel('Try it').inputValue();
  expect(curl).toContain(`Authorization: Bearer ${key}" "${site.server.url}/api/parent_programs`);
  expect(await apiStatus(site.server, key)).toBe(200);
  await backToList(page);
  expect(await rowOf(page, 'Nightly import').innerText()).toContain('Active');
  expect(await page.content()).not.toContain(key);
});

test('Rotate in the three-dot menu shows a new key, and the old one gets 401 on the next request', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  await openOwnKeys(page);
  const old = await createKey(page, 'Staging');
  await backToList(page);
  await chooseFromMenu(page, 'Staging', 'Rotate');
  expect(await page.getByRole('main').innerText()).toContain(`${old.slice(0, 17)}… stops working`);
  expect(await apiStatus(site.server, old)).toBe(200);
  await page.getByRole('button', { name: 'Rotate' }).click();
  const key = await page.getByLabel('API key', { exact: true }).inputValue();
  expect(await apiStatus(site.server, old)).toBe(401);
  expect(await apiStatus(site.server, key)).toBe(200);
  await backToList(page);
  await page.getByRole('link', { name: 'Ended (1)' }).click();
  expect(await rowOf(page, old.slice(0, 17)).innerText()).toContain('Rotated by Mei Tanaka');
});

test('a key can be rotated repeatedly and keeps its name', async () => {
  const { manager } = await site.team();
  const page = await site.visitAs(manager);
  await openOwnKeys(page);
  const first = await createKey(page, 'Staging');
  await backToList(page);
  const second = await rotateKey(page, 'Staging');
  await backToList(page);
  const third = await rotateKey(page, 'Staging');
  const statuses = await Promise.all([first, second, third].map((key) => apiStatus(site.server, key)));
  expect(statuses).toEqual([401, 401, 200]);
});

test('Revoke ends the key at once, and the list shows who revoked it and when', async () => {
  const { manager } = await site.team();
  const page = await site.visitAs(manager);
  await openOwnKeys(page);
  const key = await createKey(page, 'Leaked');
  await backToList(page);
  await chooseFromMenu(page, 'Leaked', 'Revoke');
  expect(await apiStatus(site.server, key)).toBe(200);
  await page.getByRole('button', { name: 'Revoke' }).click();
  expect(await apiStatus(site.server, key)).toBe(401);
  await page.getByText('was revoked. It is refused from now on.').waitFor();
  expect(await rowOf(page, 'Leaked').count()).toBe(0);
  await page.getByRole('link', { name: 'Ended (1)' }).click();
  const row = await rowOf(page, 'Leaked').innerText();
  expect(row).toMatch(/Revoked\s+by Mateo Lindqvist\s+\d+ \w+ \d{4}, \d\d:\d\d UTC/);
  expect(await page.getByText('Actions for key Leaked').count()).toBe(0);
});

test('Rename changes the name and does not affect the key', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  await openOwnKeys(page);
  const key = await createKey(page, 'Old name');
  await backToList(page);
  await chooseFromMenu(page, 'Old name', 'Rename');
  await page.getByLabel('Name').fill('New name');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByText('The key is now named ').waitFor();
  await rowOf(page, 'New name').waitFor();
  expect(await rowOf(page, 'Old name').count()).toBe(0);
  expect(await apiStatus(site.server, key)).toBe(200);
});

test('a taken name is refused in the form, which keeps the input and focuses the invalid field', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  await openOwnKeys(page);
  await createKey(page, 'Nightly import');
  await backToList(page);
  await page.getByRole('link', { name: 'Create API Key' }).click();
  await page.getByLabel('Name').fill('Nightly import');
  await page.getByRole('checkbox', { name: 'parent_programs:write' }).uncheck();
  await page.getByRole('button', { name: 'Create API Key' }).click();
  expect(await page.getByRole('alert').innerText()).toContain('has a key named "Nightly import" already');
  await focused(page.getByRole('alert'));
  expect(await page.title()).toMatch(/^Error: /);
  expect(await page.getByRole('checkbox', { name: 'parent_programs:write' }).isChecked()).toBe(false);
});

test('a key with only the read permission can read but not write', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  await openOwnKeys(page);
  await page.getByRole('link', { name: 'Create API Key' }).click();
  await page.getByLabel('Name').fill('Reports');
  await page.getByRole('checkbox', { name: 'parent_programs:write' }).uncheck();
  await page.getByLabel('Expiry').selectOption('30');
  await page.getByRole('button', { name: 'Create API Key' }).click();
  const key = await page.getByLabel('API key', { exact: true }).inputValue();
  expect(await apiStatus(site.server, key)).toBe(200);
  expect((await site.server.anonymous.post('/api/parent_programs', { name: 'A' }, { key })).status).toBe(403);
  await backToList(page);
  const row = await rowOf(page, 'Reports').innerText();
  expect(row).toMatch(/Expires \d+ \w{3} \d{4}/);
  // It was just made for 30 days, so that needs no attention yet.
  expect(row).not.toContain('left');
});
