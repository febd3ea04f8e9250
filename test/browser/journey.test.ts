import {
  apiStatus,
  backToList,
  chooseFromMenu,
  createKey,
  openOwnKeys,
  readKey,
  rowOf,
} from '../support/browser/key-steps.ts';
import { signIn, useSite } from '../support/browser/site.ts';

// The path through the dashboard that every `npm test` takes in Chromium. All other paths are in *.soak.ts.

const site = await useSite();

test('a person signs in, creates a key, copies it, rotates it and revokes it', async () => {
  const { member } = await site.team();
  const page = await site.visit();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.server.url });
  await page.goto('/profile/api-keys');
  await signIn(page, member);
  await openOwnKeys(page);
  const old = await createKey(page, 'Nightly import');
  expect(await apiStatus(site.server, old)).toBe(200);
  const told = page.getByRole('status').first();
  expect(await told.getAttribute('aria-live')).toBe('polite');
  await page.getByRole('button', { name: 'Copy API key' }).click();
  await told.filter({ hasText: 'Copied.' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(old);
  await backToList(page);

  await chooseFromMenu(page, 'Nightly import', 'Rotate');
  expect(await apiStatus(site.server, old)).toBe(200);
  await page.getByRole('button', { name: 'Rotate' }).click();
  const key = await readKey(page);
  expect([await apiStatus(site.server, old), await apiStatus(site.server, key)]).toEqual([401, 200]);
  await backToList(page);
  expect(await page.content()).not.toContain(key);

  await chooseFromMenu(page, 'Nightly import', 'Revoke');
  await page.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke the key in use' }).click();
  await page.getByText('was revoked. It is refused from now on.').waitFor();
  expect(await apiStatus(site.server, key)).toBe(401);
  await page.getByRole('link', { name: 'Ended (2)' }).click();
  expect(await rowOf(page, key.slice(0, 17)).innerText()).toContain('Revoked');
});
