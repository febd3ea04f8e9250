import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { chromium } from 'playwright-core';
import type { Actor } from '../../src/domain/audit/actor.ts';
import { guard, launchOptions } from '../support/browser/browser.ts';
import { apiStatus, backToList, createKey, openOwnKeys, readKey, rotateKey } from '../support/browser/key-steps.ts';
import { signIn, step, useSite } from '../support/browser/site.ts';
import { codeAt } from '../support/data/accounts.ts';
import { openFolder } from '../support/folder.ts';

const site = await useSite();

const keysOf = ({ userId, scope }: Actor) =>
  site.server.db.prisma.apiKey.count({ where: { organizationId: scope.organizationId, userId } });

test.each([
  ['create', true],
  ['create', false],
  ['rotate', true],
] as const)(
  '%s: reload, back and forward neither show the key again nor create a second one (JavaScript: %s)',
  async (action, javaScriptEnabled) => {
    const { member } = await site.team();
    const page = await site.visitAs(member, { javaScriptEnabled });
    await openOwnKeys(page);
    let key = await createKey(page, 'Once');
    if (action === 'rotate') {
      await backToList(page);
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

test('back from the list and a second tab do not show the key, and a double click on Create makes one', async () => {
  const { member } = await site.team();
  const page = await site.visitAs(member);
  await openOwnKeys(page);
  const key = await createKey(page, 'Once');
  const second = await page.context().newPage();
  await second.goto(page.url());
  expect(await second.getByText(`${key.slice(0, 17)}…`).count()).toBe(1);
  expect(await second.content()).not.toContain(key);
  await second.close();
  await backToList(page);
  expect(await step(page, () => page.goBack())).not.toContain(key);
  expect(await keysOf(member)).toBe(1);
  await page.goto('/profile/api-keys/new');
  await page.getByLabel('Name').fill('Twice');
  await page.getByRole('button', { name: 'Create API Key' }).dblclick();
  await page.getByRole('heading', { level: 1, name: /API key created|This form was sent already/ }).waitFor();
  expect(await keysOf(member)).toBe(2);
});

test("no file of the browser's profile contains the key", async () => {
  const { member } = await site.team();
  await using folder = await openFolder();
  const key = await createKeyInProfile(folder.path, member);
  const files = (await readdir(folder.path, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  expect(files.length).toBeGreaterThan(10);
  const secret = key.slice('charter_live_'.length);
  for (const { parentPath, name } of files) {
    const bytes = await readFile(join(parentPath, name));
    const holds = bytes.includes(secret) || bytes.includes(Buffer.from(secret, 'utf16le'));
    expect({ file: name, holds }).toEqual({ file: name, holds: false });
  }
});

/** Creates a key in a browser that keeps its profile in the folder, closes the browser, and returns the key. */
async function createKeyInProfile(folder: string, actor: Actor): Promise<string> {
  await using context = await chromium.launchPersistentContext(folder, {
    ...launchOptions(),
    baseURL: site.server.url,
  });
  guard(context, [site.server.url], site.problems);
  const page = await context.newPage();
  await page.goto('/sign-in');
  await signIn(page, actor);
  await openOwnKeys(page);
  const key = await createKey(page, 'Once');
  expect(await readKey(page)).toBe(key);
  await page.getByRole('link', { name: 'I have copied it' }).click();
  return key;
}

test('the recovery codes can be downloaded as a text file, which asks the server for nothing', async () => {
  // The attack: downloading a file with the codes a second time, or reading them in a proxy or a log.
  const { member } = await site.team();
  const page = await site.visitAs(member, { javaScriptEnabled: false });
  await page.goto('/profile/second-factor');
  await page.getByRole('button', { name: 'Set up' }).click();
  const uri = (await page.getByRole('link', { name: 'open it in the app' }).getAttribute('href')) ?? '';
  await page.getByLabel('Code').fill(codeAt(uri, new Date()));
  await page.getByRole('button', { name: 'Turn on' }).click();
  const shown = await page.getByLabel('Recovery codes').inputValue();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download as a text file' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('charter-recovery-codes.txt');
  const file = await text(await download.createReadStream());
  expect(file.trim().split('\n').slice(-10)).toEqual(shown.split('\n'));
  expect(file).toContain(member.email);
  expect(asked.filter((url) => !url.startsWith('data:'))).toEqual([]);
  expect(await page.getByLabel('Recovery codes').inputValue()).toBe(shown);
});
