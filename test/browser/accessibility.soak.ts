import type { Page } from 'playwright-core';
import { untilFocused } from '../support/browser/browser.ts';
import { useSite } from '../support/browser/site.ts';
import { addRealisticWebhooks, createRealisticTeam } from '../support/data/team.ts';

const site = await useSite();
const team = await createRealisticTeam(site.server.db);
const webhooks = await addRealisticWebhooks(site.server.db, team);

const paths = () => [
  '/profile',
  '/profile/api-keys',
  '/profile/api-keys/new',
  `/profile/api-keys/${team.keyId}`,
  `/profile/api-keys/${team.keyId}/rotate`,
  `/profile/api-keys/${team.keyId}/restrict`,
  '/organization/api-keys/requests',
  '/people/users',
  `/people/users/${team.manager.userId}`,
  '/organization',
  '/organization/webhooks',
  '/organization/webhooks/new',
  `/organization/webhooks/${webhooks.endpointId}`,
  `/organization/webhooks/${webhooks.endpointId}/deliveries/${webhooks.retriedId}`,
  '/organization/audit-log',
];

test('text at twice the size is not clipped and needs no horizontal scrolling', async () => {
  const page = await site.visitAs(team.administrator);
  const wrong: string[] = [];
  for (const width of [1280, 640]) {
    await page.setViewportSize({ width, height: 800 });
    for (const path of paths()) {
      await page.goto(path);
      await page.evaluate("document.documentElement.style.fontSize = '200%'");
      const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
      if (beyond > 0) wrong.push(`${path}, ${width} px: ${beyond} px to scroll sideways`);
      wrong.push(...(await cutTexts(page)).map((text) => `${path}, ${width} px: "${text}" is cut`));
    }
  }
  expect(wrong).toEqual([]);
});

/** Returns the texts of elements, such as buttons, labels and headings, that are too narrow for their text. */
function cutTexts(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('.button, label, h1, h2, h3, .badge, dd, th, .hint')]
    .filter((each) => each.checkVisibility() && each.clientWidth > 1 && each.scrollWidth > each.clientWidth + 1)
    .map((each) => each.textContent.trim().slice(0, 40))`);
}

test('in forced colours the current tab and section stand out, and every badge has a border', async () => {
  const page = await site.visitAs(team.administrator);
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('/profile/api-keys');
  const edge = (name: string) =>
    page.evaluate<string>(
      `getComputedStyle([...document.querySelectorAll('.tabs a')].find((link) => link.textContent === '${name}')).borderBottomColor`,
    );
  const ground = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  expect(await edge('Details')).toBe(ground);
  expect(await edge('API keys')).not.toBe(ground);
  const widths = await page.evaluate<string[]>(
    "[...document.querySelectorAll('.badge, .side-rest .rooms a[aria-current]')].map((each) => getComputedStyle(each).borderTopWidth)",
  );
  expect(widths.length).toBeGreaterThan(4);
  expect(new Set(widths)).toEqual(new Set(['1px']));
});

test('with reduced motion, nothing is animated', async () => {
  const page = await site.visitAs(team.administrator);
  await page.goto('/profile/api-keys');
  const moving = `[...document.querySelectorAll('*')].filter((each) => {
    const { transitionDuration, animationName } = getComputedStyle(each);
    return transitionDuration !== '0s' || animationName !== 'none';
  }).length`;
  expect(await page.evaluate<number>(moving)).toBe(0);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  expect(await page.evaluate<number>(moving)).toBeGreaterThan(0);
});

test('after each refused form, the focus is on the error summary at the top of the page', async () => {
  const page = await site.visitAs(team.administrator);
  const forms = [
    { path: '/profile/api-keys/new', button: 'Create API Key' },
    { path: `/profile/api-keys/${team.keyId}/rename`, button: 'Rename', empty: 'Name' },
    { path: `/profile/api-keys/${team.keyId}/restrict`, button: 'Save', wrong: 'Allowed addresses' },
    { path: '/people/users/invite', button: 'Invite' },
    { path: '/profile/password', button: 'Change password' },
    { path: '/organization/webhooks/new', button: 'Add the endpoint' },
    { path: '/organization', button: 'Save policy', empty: 'Longest life of a key' },
    { path: '/organization/audit-log?person=nobody', button: 'Filter' },
  ];
  for (const { path, button, empty, wrong } of forms) {
    await page.goto(path);
    if (wrong !== undefined) await page.getByLabel(wrong).fill('x');
    if (empty !== undefined) await page.getByLabel(empty).fill('');
    await page.getByRole('main').getByRole('button', { name: button }).click();
    await untilFocused(page.getByRole('alert'));
    // The next Tab moves the focus to the link to the first invalid field.
    await page.keyboard.press('Tab');
    const href = await page.evaluate<string | null>('document.activeElement.getAttribute("href")');
    expect([path, href?.startsWith('#')]).toEqual([path, true]);
    await page.keyboard.press('Enter');
    await untilFocused(page.locator(`[id="${href?.slice(1)}"]`));
  }
});

test('each key menu is named after its key, and each copy button after what it copies', async () => {
  const page = await site.visitAs(team.administrator);
  await page.goto('/profile/api-keys');
  expect(await page.locator('tbody summary').allInnerTexts()).toEqual(
    ['Nightly import, staging', 'Nightly import, production', 'Reporting'].map((name) => `Actions for key ${name}`),
  );
  await page.goto('/profile/api-keys/new');
  await page.getByLabel('Name').fill('Spoken');
  await page.getByRole('button', { name: 'Create API Key' }).click();
  for (const name of ['Copy API key', 'Copy command']) {
    const copy = page.getByRole('button', { name, exact: true });
    const status = page.locator('.copy', { has: copy }).getByRole('status');
    // An empty live region takes no space, but must be in the document so that screen readers announce its first text.
    expect([name, (await status.boundingBox())?.height ?? 0, await status.getAttribute('aria-live')]).toEqual([
      name,
      0,
      'polite',
    ]);
    await copy.click();
    await status.filter({ hasText: /\S/ }).waitFor();
  }
});
