import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { apiStatus, openMenu, openOwnKeys } from '../support/browser/key-steps.ts';
import { useSite } from '../support/browser/site.ts';
import { stepsOf } from '../support/contract/guides.ts';
import { addRealisticWebhooks, createRealisticTeam, NAMES } from '../support/data/team.ts';

// The tests click the buttons and pages that the guides name, with exactly the words of the guides and in their order.
// `GUIDE_PICTURES=1 npm test -- test/browser/guides.soak.ts` also takes the guides' pictures.

const PICTURES = join(import.meta.dirname, '../../openapi/guides/images');
const WIDTH = 1280;
const WIDE = { viewport: { width: WIDTH, height: 800 }, colorScheme: 'light' } as const;

const site = await useSite();

/** Clicks the element with each label in turn, and fills in each form on the way. */
async function follow(page: Page, words: readonly string[]): Promise<void> {
  expect(words.length).toBeGreaterThan(0);
  for (const word of words) {
    const name = page.getByLabel('Name', { exact: true });
    if (await name.isVisible()) await name.fill('Nightly import, test');
    const role = { name: word, exact: true };
    await page.getByRole('link', role).or(page.getByRole('button', role)).click();
  }
}

async function shownKey(page: Page): Promise<string> {
  return page.getByLabel('API key', { exact: true }).inputValue();
}

/** A script for the page that hides keys and everything that is specific to the test. */
const TIDY = `
  for (const field of document.querySelectorAll('textarea')) {
    field.value = field.value
      .replace(/(charter_live_.{4})\\w+/, (_, start) => start + '•'.repeat(42))
      .replace(location.origin, 'https://charter.example.org');
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replace(/northwind-\\d+/, 'northwind');
  document.activeElement.blur();`;

/** Returns a script that computes the lowest edge of the elements, in pixels. */
const bottomOf = (parts: string) =>
  `Math.max(...[...document.querySelectorAll('${parts}')].map((part) => part.getBoundingClientRect().bottom))`;

/** Takes a picture of the page from its top to the last of `parts`. */
async function takePicture(page: Page, name: string, parts = 'main > *'): Promise<void> {
  if (process.env['GUIDE_PICTURES'] === undefined) return;
  await page.evaluate(TIDY);
  await page.mouse.move(0, 0);
  const height = Math.ceil(await page.evaluate<number>(bottomOf(parts))) + 24;
  await page.setViewportSize({ width: WIDTH, height });
  await mkdir(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
  await page.setViewportSize(WIDE.viewport);
}

test('"Issuing a key, for yourself" leads to a working key of one\'s own', async () => {
  const { administrator } = await createRealisticTeam(site.server.db);
  const page = await site.visitAs(administrator, WIDE);
  const [profile = '', keys = '', ...create] = stepsOf('issuing-a-key.md', 'For yourself');
  await follow(page, [profile, keys]);
  await takePicture(page, 'api-keys');
  await follow(page, create.slice(0, 1));
  await takePicture(page, 'create-api-key');
  await follow(page, create.slice(1));
  expect(await apiStatus(site.server, await shownKey(page))).toBe(200);
  await takePicture(page, 'api-key-created');
});

test('"Issuing a key, for a user, as a Manager" leads to a key that acts for the user', async () => {
  const { manager, member } = await createRealisticTeam(site.server.db);
  const page = await site.visitAs(manager, WIDE);
  const [people = '', users = '', ...create] = stepsOf('issuing-a-key.md', 'For a user, as a Manager');
  await follow(page, [people, users]);
  await takePicture(page, 'users');
  await page.getByRole('link', { name: NAMES.member, exact: true }).click();
  await follow(page, create);
  expect(await page.getByRole('main').innerText()).toContain(`${NAMES.member}, ${member.email}`);
  expect(await apiStatus(site.server, await shownKey(page))).toBe(200);
});

test('"Create an integration" leads to its keys, and "Move a key" to the same key there', async () => {
  const { administrator, keyId } = await createRealisticTeam(site.server.db);
  const page = await site.visitAs(administrator, WIDE);
  await follow(page, stepsOf('integrations.md', 'Create an integration'));
  await page.getByRole('heading', { name: 'No API keys yet' }).waitFor();
  await openOwnKeys(page);
  await openMenu(page, 'Nightly import, production');
  await follow(page, stepsOf('integrations.md', 'Move a key to an integration'));
  await page.getByText('was moved here from').waitFor();
  expect(page.url()).toContain(`key=${keyId}`);
});

test('"Rotate a key" leads to a successor', async () => {
  const { administrator } = await createRealisticTeam(site.server.db);
  const page = await site.visitAs(administrator, WIDE);
  const [profile = '', keys = '', ...rotate] = stepsOf('rotating-and-revoking.md', 'Rotate a key');
  await follow(page, [profile, keys]);
  await openMenu(page, 'Nightly import, production');
  await takePicture(page, 'key-menu', 'main details[open] > ul');
  await follow(page, rotate.slice(0, 1));
  await takePicture(page, 'rotate');
  await follow(page, rotate.slice(1));
  expect(await page.getByRole('main').innerText()).toContain('has stopped working');
  expect(await apiStatus(site.server, await shownKey(page))).toBe(200);
});

test('"Revoke a key" leads to a list that shows the key as revoked', async () => {
  const { administrator } = await createRealisticTeam(site.server.db);
  const page = await site.visitAs(administrator, WIDE);
  await openOwnKeys(page);
  await openMenu(page, 'Nightly import, production');
  await follow(page, stepsOf('rotating-and-revoking.md', 'Revoke a key'));
  await page.getByText('was revoked. It is refused from now on.').waitFor();
});

test('"Add an endpoint", "Send an event again" and "Rotate the secret" lead where they say', async () => {
  const team = await createRealisticTeam(site.server.db);
  const { endpointId, failedId } = await addRealisticWebhooks(site.server.db, team);
  const page = await site.visitAs(team.administrator, WIDE);
  const [organization = '', webhooks = '', add = '', confirm = ''] = stepsOf('managing-webhooks.md', 'Add an endpoint');
  await follow(page, [organization, webhooks, add]);
  await page.getByLabel('URL').fill('https://example.org/webhooks');
  await follow(page, [confirm]);
  expect(await page.getByLabel('Secret').inputValue()).toMatch(/^whsec_/);
  await page.goto(`/organization/webhooks/${endpointId}`);
  await takePicture(page, 'webhook-endpoint', 'main > .head, main > section.card, main tbody tr:nth-child(4)');
  await page.goto(`/organization/webhooks/${endpointId}/deliveries/${failedId}`);
  await follow(page, stepsOf('managing-webhooks.md', 'Send an event again'));
  await page.getByText('The event is sent again.').waitFor();
  await page.goto(`/organization/webhooks/${endpointId}`);
  await follow(page, stepsOf('managing-webhooks.md', 'Rotate the secret'));
  expect(await page.getByLabel('Secret').inputValue()).toMatch(/^whsec_/);
});
