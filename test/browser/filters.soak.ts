import { focused } from '../support/browser/browser.ts';
import { useSite } from '../support/browser/site.ts';
import { createRealisticTeam } from '../support/data/realistic-team.ts';

const site = await useSite();
const team = await createRealisticTeam(site.server.db);

const PHONE = { viewport: { width: 375, height: 667 }, javaScriptEnabled: false };
const LISTS = [
  { path: '/organization/api-keys', field: 'Acts for', filtered: '?use=never' },
  { path: '/organization/audit-log', field: 'Person', filtered: '?action=key.created' },
];

test.each(LISTS)('on a phone, $path begins with its rows, and its filters open without a script', async (list) => {
  // The bug: the filters filled the first screen, and nothing showed that there is a list.
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
  const page = await site.visitAs(team.administrator, {
    viewport: { width: 1280, height: 800 },
    javaScriptEnabled: false,
  });
  await page.goto(list.path);
  expect(await page.getByLabel(list.field, { exact: true }).isVisible()).toBe(true);
  expect(await page.getByText('Filters', { exact: true }).isVisible()).toBe(false);
  // It takes the focus, although it is inside a closed <details>.
  await page.getByLabel(list.field, { exact: true }).focus();
  await focused(page.getByLabel(list.field, { exact: true }));
});
