import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Actor } from '../../src/domain/actor.ts';
import { guard, launchOptions } from '../support/browser/browser.ts';
import { apiStatus, createKey, openOwnKeys, readKey, rotateKey } from '../support/browser/key-steps.ts';
import { signIn, useSite } from '../support/browser/site.ts';
import { step } from '../support/data/history.ts';

const site = await useSite();

const keysOf = ({ userId, scope }: Actor) =>
  site.server.db.prisma.apiKey.count({ where: { organizationId: scope.organizationId, userId } });

test.each(['create', 'rotate'])(
  '%s: reload, back and forward neither show the key again nor create a second one',
  async (action) => {
    const { member } = await site.team();
    const page = await site.visitAs(member);
    await openOwnKeys(page);
    let key = await createKey(page, 'Once');
    if (action === 'rotate') {
      await page.getByRole('link', { name: 'I have copied it' }).click();
      key = await rotateKey(page, 'Once');
    }
    const made = await keysOf(member);
    const seen = [
      await step(page, () => page.reload()),
      await step(page, () => page.goBack()),
      await step(page, () => page.goForward()),
      await step(page, () => page.reload()),
    ];
    for (const html of seen) expect(html).not.toContain(key);
    expect(seen[0]).toMatch(/<h1[^>]*>This form was sent already</);
    expect(await keysOf(member)).toBe(made);
    expect(await apiStatus(site.server, key)).toBe(200);
  },
);

test('back from the list does not show the key', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  await openOwnKeys(page);
  const key = await createKey(page, 'Once');
  await page.getByRole('link', { name: 'I have copied it' }).click();
  expect(await step(page, () => page.goBack())).not.toContain(key);
  expect(await keysOf(member)).toBe(1);
});

test('a second tab at the same URL shows the list without the key', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  await openOwnKeys(page);
  const key = await createKey(page, 'Once');
  const second = await page.context().newPage();
  await second.goto(page.url());
  expect(await second.getByText(`${key.slice(0, 17)}…`).count()).toBe(1);
  expect(await second.content()).not.toContain(key);
  expect(await keysOf(member)).toBe(1);
});

test('a double click on Create makes one key', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  await page.goto('/profile/api-keys/new');
  await page.getByLabel('Name').fill('Twice');
  await page.getByRole('button', { name: 'Create API Key' }).dblclick();
  await page.getByRole('heading', { level: 1, name: /API key created|This form was sent already/ }).waitFor();
  expect(await keysOf(member)).toBe(1);
});

test("no file of the browser's profile contains the key", async () => {
  const { member } = await site.team();
  const folder = await mkdtemp(join(tmpdir(), 'charter-profile-'));
  try {
    const key = await createKeyInProfile(folder, member);
    const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(10);
    const secret = key.slice('charter_live_'.length);
    for (const { parentPath, name } of files) {
      const bytes = await readFile(join(parentPath, name));
      const holds = bytes.includes(secret) || bytes.includes(Buffer.from(secret, 'utf16le'));
      expect({ file: name, holds }).toEqual({ file: name, holds: false });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** Creates a key in a browser whose profile is in the folder, closes the browser, and returns the key. */
async function createKeyInProfile(folder: string, actor: Actor): Promise<string> {
  const context = await chromium.launchPersistentContext(folder, { ...launchOptions(), baseURL: site.server.url });
  try {
    guard(context, [site.server.url], site.problems);
    const page = await context.newPage();
    await page.goto('/sign-in');
    await signIn(page, actor);
    await openOwnKeys(page);
    const key = await createKey(page, 'Once');
    expect(await readKey(page)).toBe(key);
    await page.getByRole('link', { name: 'I have copied it' }).click();
    return key;
  } finally {
    await context.close();
  }
}

test('the copy button copies the key to the clipboard and announces it', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.server.url });
  await openOwnKeys(page);
  const key = await createKey(page, 'Copied');
  const told = page.getByRole('status').first();
  expect(await told.getAttribute('aria-live')).toBe('polite');
  await page.getByRole('button', { name: 'Copy API key' }).click();
  await told.filter({ hasText: 'Copied.' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
});
