import {
  apiStatus,
  backToList,
  chooseFromMenu,
  createKey,
  openKeysOf,
  openOwnKeys,
  readKey,
  rotateKey,
  rowOf,
} from '../support/browser/key-steps.ts';
import { useSite } from '../support/browser/site.ts';
import { step } from '../support/data/history.ts';

const site = await useSite();
const WITHOUT = { javaScriptEnabled: false };

test('with JavaScript off a key can be created, rotated, renamed and revoked, its menu opens, and its text can be selected', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member, WITHOUT);
  await openOwnKeys(page);
  const first = await createKey(page, 'Staging');
  expect(await page.getByRole('button', { name: /Copy/ }).count()).toBe(0);
  expect(await apiStatus(site.server, first)).toBe(200);
  await backToList(page);

  const second = await rotateKey(page, 'Staging');
  expect(await apiStatus(site.server, first)).toBe(401);
  expect(await apiStatus(site.server, second)).toBe(200);
  await backToList(page);

  const active = rowOf(page, second.slice(0, 17));
  await active.locator('summary').click();
  await active.getByRole('link', { name: 'Rename' }).click();
  await page.getByLabel('Name').fill('Production');
  await page.getByRole('button', { name: 'Rename' }).click();
  await chooseFromMenu(page, 'Production', 'Revoke');
  await page.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('was revoked. It is refused from now on.').waitFor();
  expect(await apiStatus(site.server, second)).toBe(401);
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

test("with JavaScript off a manager can create and rotate a member's key", async () => {
  const { manager } = await site.team();
  const page = await site.visitAs(manager, WITHOUT);
  await openKeysOf(page, 'Mei Tanaka');
  const first = await createKey(page, 'For Mei');
  await backToList(page);
  const second = await rotateKey(page, 'For Mei');
  expect(await apiStatus(site.server, first)).toBe(401);
  expect(await apiStatus(site.server, second)).toBe(200);
});

test('with JavaScript off, reload, back and forward neither show the key again nor create a second one', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member, WITHOUT);
  await openOwnKeys(page);
  const key = await createKey(page, 'Once');
  for (const act of [() => page.reload(), () => page.goBack(), () => page.goForward()]) {
    expect(await step(page, act)).not.toContain(key);
  }
  await page.goto('/profile/api-keys');
  expect(await page.getByRole('rowheader').count()).toBe(1);
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

test('with JavaScript off an endpoint can be added, tried, disabled, enabled and deleted', async () => {
  const { administrator } = await site.team();
  const page = await site.visitAs(administrator, WITHOUT);
  const press = (name: string) => page.getByRole('main').getByRole('button', { name }).click();
  const open = (name: string) => page.getByRole('main').getByRole('link', { name }).click();
  await page.goto('/organization');
  await open('Webhooks');
  await open('Add an endpoint');
  await page.getByLabel('URL').fill('https://example.org/webhooks');
  await press('Add the endpoint');
  const secret = await page.getByLabel('Secret').inputValue();
  for (const act of [() => page.reload(), () => page.goBack(), () => page.goForward()])
    expect(await step(page, act)).not.toContain(secret);
  await page.goto('/organization/webhooks');
  await open('example.org');
  await press('Send a test event');
  await page.getByText('The test event is on its way.').waitFor();
  await open('example.org');
  await open('Disable');
  await press('Disable');
  await page.getByText('The endpoint is disabled.').waitFor();
  await press('Enable');
  await page.getByText('The endpoint is enabled.').waitFor();
  await open('Delete');
  await press('Delete');
  await page.getByText('No webhook endpoints yet').waitFor();
});
