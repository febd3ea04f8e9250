import type { Page } from 'playwright-core';
import { operationPlace } from '../../scripts/docs/places.ts';
import { samplesOf } from '../../scripts/docs/samples/languages.ts';
import { openContext } from '../support/browser/browser.ts';
import { contract, source } from '../support/browser/docs.ts';
import { AXE_SCRIPT, look, violationsIn } from '../support/browser/look.ts';
import { useSite } from '../support/browser/site.ts';

// The pages of the documentation. A test fails if a page sends a request to another host, or if the Content-Security-Policy
// blocks a script or a style.

const site = await useSite({ script: AXE_SCRIPT });

// Redoc takes a second to render, so all tests that do not need a new page share this page.
const reference = await site.sharedPage();
await reference.goto('/docs/reference');

function section(page: Page, place: string) {
  return page.locator(`[data-section-id="${place}"]`);
}

async function open(page: Page, place: string, title: string): Promise<void> {
  await page.goto(`/docs/reference#${place}`);
  await section(page, place).getByRole('heading', { name: title }).first().waitFor();
}

/** Returns the text of a sample without the markup of its colours. */
async function sampleIn(page: Page, place: string): Promise<string> {
  const lines = await section(page, place).locator('.panel-request-samples pre .line').allTextContents();
  return lines.map((line) => line.replace(/\n$/, '')).join('\n');
}

test('every operation is shown with its samples, the first in each language and every other in one of them', async () => {
  for (const [i, operation] of contract.operations.entries()) {
    const place = operationPlace(operation);
    await open(reference, place, operation.summary);
    const samples = samplesOf(operation);
    for (const { label, source: sample } of i === 0 ? samples : samples.slice(i % samples.length).slice(0, 1)) {
      const choice = section(reference, place)
        .locator('.panel-request-samples [data-component-name="Panel/PanelHeader"] [aria-haspopup]')
        .last();
      // Redoc may still be rendering the content above. That would move the panel to the bottom of the window, with no room for
      // the menu.
      await choice.evaluate((element) => element.scrollIntoView({ block: 'center' }));
      await choice.click();
      await reference.getByRole('menuitem', { name: label, exact: true }).click();
      expect(await sampleIn(reference, place)).toBe(sample);
    }
  }
});

test('every webhook is shown with its headers and the example of its event', async () => {
  expect(contract.webhooks).not.toEqual([]);
  for (const webhook of contract.webhooks) {
    const place = operationPlace(webhook);
    await open(reference, place, webhook.summary);
    await section(reference, place).getByText('webhook-signature').first().waitFor();
    await section(reference, place).getByText(`"${webhook.name}"`).first().waitFor();
  }
});

test('the reference shows the URL of the server, and neither a licence nor Markdown syntax', async () => {
  await open(reference, '/', contract.info.title);
  await reference.getByText(site.server.url, { exact: true }).last().waitFor();
  expect(await section(reference, '/').first().innerText()).not.toMatch(/licen[cs]e|\bMIT\b|\]\(/i);
  await open(reference, '/parent-programs/listparentprograms', 'List parent programs');
  await reference.getByText('The next_cursor of the previous page').first().waitFor();
});

test('the start page leads to a key, the first call, the dashboard and every guide', async () => {
  const page = await site.visit();
  await page.goto('/docs');
  const start = page.getByRole('main');
  expect(await start.locator('pre').first().innerText()).toBe(
    `curl -H "Authorization: Bearer <API_KEY>" \\\n  "${site.server.url}/api/key"`,
  );
  for (const { slug, title } of source.guides)
    expect([slug, await start.locator(`a[href="/docs/${slug}"]`, { hasText: title }).count()]).not.toEqual([slug, 0]);
  await page.getByRole('banner').getByRole('link', { name: 'Dashboard' }).click();
  await page.waitForURL('**/sign-in');
});

test.each([
  ['/docs#/limits/read-the-limits', '/docs/limits#read-the-limits'],
  ['/docs#/errors', '/docs/errors'],
  ['/docs#/key/getkey', '/docs/reference#/key/getkey'],
  ['/docs/plain.html#/limits/read-the-limits', '/docs/all#/limits/read-the-limits'],
  ['/docs/limits.html#read-the-limits', '/docs/limits#read-the-limits'],
])('the old address %s leads to %s', async (old, present) => {
  const page = await site.visit();
  await page.goto(old);
  await page.waitForURL(`**${present}`);
});

test('the search says that it loads, works by keyboard alone, and opens the address of a result', async () => {
  const page = await site.visit();
  let send = () => {};
  const isAsked = new Promise<void>((resolve) => {
    send = resolve;
  });
  await page.route('**/docs/search.js', async (route) => {
    await isAsked;
    await route.continue();
  });
  await page.goto('/docs/limits');
  await page.keyboard.press('/');
  const dialog = page.getByRole('dialog', { name: 'Search' });
  await page.keyboard.type('read the limits');
  await dialog.getByText('Loading').waitFor();
  send();
  await dialog.getByRole('link', { name: 'Read the limits Limits section' }).waitFor();
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Escape');
  expect(await dialog.isVisible()).toBe(false);
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('xyzzyx');
  await dialog.getByText('No results. Try fewer or other words').waitFor();
  await dialog.getByRole('link', { name: 'Getting started' }).waitFor();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('If-Match stale');
  await page.keyboard.press('ArrowDown');
  const second = dialog.getByRole('link').nth(1);
  await page.keyboard.press('ArrowDown');
  expect(await second.evaluate((link) => link.matches(':focus'))).toBe(true);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('429');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/errors#**');
  await reference.bringToFront();
  await reference.keyboard.press('ControlOrMeta+k');
  await reference.getByRole('dialog', { name: 'Search' }).waitFor();
  await reference.keyboard.press('Escape');
  expect(await reference.getByRole('dialog').count()).toBe(0);
});

test.each(['422-validationexception', '429-toomanyrequestsexception', '503-serviceunavailableexception'])(
  'the address of the section %s marks it under "On this page", and shows the page in the contents',
  async (anchor) => {
    const page = await site.visit({ viewport: { width: 1400, height: 700 } });
    await page.goto(`/docs/errors#${anchor}`);
    await page.locator(`.toc a[href="#${anchor}"][aria-current]`).waitFor();
    const contents = page.getByRole('navigation', { name: 'Contents' });
    const [outer, inner] = await Promise.all([
      contents.boundingBox(),
      contents.locator('[aria-current]').boundingBox(),
    ]);
    expect(inner?.y).toBeGreaterThanOrEqual(outer?.y ?? Number.NaN);
    expect((inner?.y ?? Number.NaN) + (inner?.height ?? 0)).toBeLessThanOrEqual(700);
  },
);

test('a theme that the reader chooses holds for all pages, also for those of Redoc', async () => {
  const page = await site.visit();
  await page.goto('/docs/limits');
  const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const light = await ground();
  await page.getByRole('button', { name: 'Dark theme' }).click();
  const dark = await ground();
  expect(dark).not.toBe(light);
  await page.goto('/docs/reference');
  await page.locator('.api-content').waitFor();
  await expect(ground()).resolves.toBe(dark);
  await page.getByRole('button', { name: 'Dark theme' }).click();
  expect(await ground()).toBe(light);
});

test('a language that the reader chooses holds for all samples, and arrow keys choose the next one', async () => {
  const page = await site.visit();
  await page.goto('/docs/receiving-events');
  await page.getByRole('tab', { name: 'JavaScript' }).click();
  await page.keyboard.press('ArrowRight');
  await page.reload();
  expect(await page.getByRole('tabpanel', { name: 'Python' }).isVisible()).toBe(true);
  expect(await page.getByRole('tabpanel').count()).toBe(1);
});

// The bug: in a browser that stores nothing for a site, accessing the storage throws an error, and this error ended the script.
test('the theme, the languages and the search work in a browser that stores nothing for the site', async () => {
  await using context = await openContext(site.browser, { baseURL: site.server.url, problems: site.problems });
  const page = await context.newPage();
  await page.addInitScript(`Object.defineProperty(window, 'localStorage', {
    get() { throw new DOMException('The site may store nothing.', 'SecurityError'); },
  })`);
  await page.goto('/docs/receiving-events');
  await page.getByRole('tab', { name: 'Python' }).click();
  await page.getByRole('tabpanel', { name: 'Python' }).waitFor();
  const theme = page.getByRole('button', { name: 'Dark theme' });
  await theme.click();
  expect(await theme.getAttribute('aria-pressed')).toBe('true');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('dialog', { name: 'Search' }).waitFor();
});

test('a search that could not be loaded says so, and can be opened again', async () => {
  const page = await site.visit();
  await page.goto('/docs');
  await page.route('**/search.js', (route) => route.abort(), { times: 1 });
  const open = page.getByRole('button', { name: 'Search' });
  await open.click();
  await page.getByText('The search could not be loaded.').waitFor();
  expect(site.problems.splice(0)).toEqual(['the console: Failed to load resource: net::ERR_FAILED']);
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await open.click();
  await page.getByRole('textbox', { name: 'Search the documentation' }).fill('rotate');
  await page.getByRole('dialog').getByRole('link').first().waitFor();
});

test('on a phone, the header opens and closes the menu of the reference', async () => {
  const page = await site.visit({ viewport: { width: 375, height: 667 } });
  await page.goto('/docs/reference');
  const menu = page.getByRole('navigation', { name: 'Operations' });
  await page.locator('.api-content').waitFor();
  const button = page.getByRole('button', { name: 'Contents' });
  await button.click();
  await menu.getByText('Events').waitFor();
  await button.click();
  await menu.waitFor({ state: 'hidden' });
});

test('without JavaScript, guides are readable, and the contents open on a phone', async () => {
  const page = await site.visit({ javaScriptEnabled: false, viewport: { width: 375, height: 667 } });
  await page.goto('/docs/limits');
  await page.getByRole('button', { name: 'Contents' }).click();
  await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'Issuing a key' }).click();
  await page.getByRole('heading', { level: 1, name: 'Issuing a key' }).waitFor();
  const picture = page.getByRole('main').getByRole('img').first();
  await picture.scrollIntoViewIfNeeded();
  expect(await page.getByRole('button', { name: 'Search' }).isVisible()).toBe(false);
  await page.goto('/docs/reference');
  await page.getByRole('link', { name: 'Everything on one page' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Get the current key' }).click();
  await page.waitForURL('**/docs/all#/key/getkey');
});

test('every kind of page passes the layout and accessibility checks', async () => {
  const wrong: string[] = [];
  const page = await site.visit();
  for (const [name, path] of [
    ['docs', '/docs'],
    ['docs-guide', '/docs/getting-started'],
    ['docs-all', '/docs/all'],
  ] as const) {
    await page.goto(path);
    wrong.push(...(await look(page, name, { fullPage: false })));
  }
  const place = '/parent-programs/createparentprogram';
  const again = async () => {
    await reference.reload();
    await open(reference, place, 'Create a parent program');
    // Redoc renders the fields of a nested object, which have other colours, only when the reader scrolls to them.
    const list = section(reference, '/parent-programs/listparentprograms');
    await list.locator('[data-schema-nested-open]').first().scrollIntoViewIfNeeded();
    await list.locator('.schema-name', { hasText: 'next_cursor' }).waitFor();
    // At other scroll positions, the fixed bar may cover half of a link, which axe reports as a target that is too small.
    await reference.evaluate('window.scrollTo(0, 0)');
  };
  await again();
  wrong.push(...(await look(reference, 'docs-operation', { fullPage: false, again })));
  expect(wrong).toEqual([]);
});
