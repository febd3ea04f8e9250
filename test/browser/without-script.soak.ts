import { untilFocused } from '../support/browser/browser.ts';
import { apiStatus, readKey } from '../support/browser/key-steps.ts';
import { useSite } from '../support/browser/site.ts';
import { createRealisticTeam } from '../support/data/team.ts';

// What style sheets and elements such as <details> do without JavaScript. The tests in test/dashboard send all forms without a
// script.

const site = await useSite();
const team = await createRealisticTeam(site.server.db);

const WITHOUT = { javaScriptEnabled: false };
const PHONE = { ...WITHOUT, viewport: { width: 375, height: 667 } };
const LISTS = [
  { path: '/organization/api-keys', field: 'Acts for', filtered: '?use=never' },
  { path: '/organization/audit-log', field: 'Person', filtered: '?action=key.created' },
];

test.each(LISTS)('on a phone, $path begins with its rows, and its filters open without a script', async (list) => {
  // The bug: the filters filled the first screen, and nothing showed that the page has a list.
  const page = await site.visitAs(team.administrator, PHONE);
  await page.goto(list.path);
  const field = page.getByLabel(list.field, { exact: true });
  const firstRow = page.getByRole('rowheader').first();
  expect(await field.isVisible()).toBe(false);
  expect((await firstRow.boundingBox())?.y).toBeLessThan(PHONE.viewport.height);
  await page.getByText('Filters', { exact: true }).click();
  expect(await field.isVisible()).toBe(true);
});

test.each(LISTS)('on a phone, the filters of $path are shown while one of them is set', async (list) => {
  const page = await site.visitAs(team.administrator, PHONE);
  await page.goto(list.path + list.filtered);
  expect(await page.getByLabel(list.field, { exact: true }).isVisible()).toBe(true);
});

test.each(LISTS)('on a wide screen, the filters of $path are always shown, without a script', async (list) => {
  const page = await site.visitAs(team.administrator, WITHOUT);
  await page.goto(list.path);
  expect(await page.getByLabel(list.field, { exact: true }).isVisible()).toBe(true);
  expect(await page.getByText('Filters', { exact: true }).isVisible()).toBe(false);
  // The field can have the focus, although it is inside a closed <details>.
  await page.getByLabel(list.field, { exact: true }).focus();
  await untilFocused(page.getByLabel(list.field, { exact: true }));
});

test('with JavaScript off, the requests of a key are a picture with a name, and a table that opens', async () => {
  const page = await site.visitAs(team.administrator, { ...WITHOUT, viewport: { width: 320, height: 700 } });
  await page.goto(`/profile/api-keys/${team.keyId}`);
  for (const [title, periods] of [
    ['Last 30 days', 30],
    ['Last 48 hours', 48],
  ] as const) {
    const chart = page.getByRole('img', {
      name: new RegExp(`^${title}: [\\d,]+ successful, [\\d,]+ refused, [\\d,]+ failed`),
    });
    const box = await chart.boundingBox();
    expect([title, box !== null && box.width > 200 && box.height > 80]).toEqual([title, true]);
    const table = page.getByRole('table', { name: `Requests, ${title.toLowerCase()}` });
    expect(await table.isVisible()).toBe(false);
    await page.locator('summary', { hasText: `${title} as a table` }).press('Enter');
    expect(await table.getByRole('rowheader').count()).toBe(periods);
  }
});

test('with JavaScript off, the last day of a key is asked for only if it is to end on a day of one’s choice', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member, WITHOUT);
  await page.goto('/profile/api-keys/new');
  const [expiry, day] = [page.getByLabel('Expiry'), page.getByLabel('Last day')];
  expect(await day.isVisible()).toBe(false);
  await expiry.selectOption('On a day of your choice');
  await day.waitFor();
  await page.getByLabel('Name').fill('Until the summer');
  await page.getByRole('button', { name: 'Create API Key' }).click();
  await page.getByRole('alert').getByText('Last day must be a day').waitFor();
  await day.fill(new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10));
  await page.getByRole('button', { name: 'Create API Key' }).click();
  expect(await apiStatus(site.server, await readKey(page))).toBe(200);
  await page.goto('/profile/api-keys/new');
  await expiry.selectOption('On a day of your choice');
  await expiry.selectOption({ index: 1 });
  await day.waitFor({ state: 'hidden' });
});

test('with JavaScript off, the menu of the narrow page reaches every section and the sign-out', async () => {
  const { administrator } = await site.team();
  const page = await site.visitAs(administrator, { ...WITHOUT, viewport: { width: 360, height: 740 } });
  await page.getByText('Menu', { exact: true }).click();
  await page.getByRole('link', { name: 'Organization' }).click();
  await page.getByRole('heading', { name: 'Organization' }).waitFor();
  await page.getByText('Menu', { exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
});
