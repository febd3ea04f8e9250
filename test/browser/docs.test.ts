import type { Page } from 'playwright-core';
import { guidePlace, operationPlace } from '../../scripts/docs/places.ts';
import { samplesOf } from '../../scripts/docs/samples/languages.ts';
import { BUILT, contract, guides } from '../support/browser/docs.ts';
import { AXE_SCRIPT, look, violationsIn } from '../support/browser/look.ts';
import { useSite } from '../support/browser/site.ts';
import { length } from '../support/length.ts';

// The documentation page, from the server and as a file. A test fails on any request to another host, and on any
// console message about a script or style that the policy blocks.

const site = await useSite({ script: AXE_SCRIPT });

function section(page: Page, place: string) {
  return page.locator(`[data-section-id="${place}"]`);
}

async function open(page: Page, place: string, title: string): Promise<void> {
  await page.goto(`/docs#${place}`);
  await section(page, place).getByRole('heading', { name: title }).first().waitFor();
}

/** The text of a sample, without the markup of its colours. */
async function sampleIn(page: Page, place: string): Promise<string> {
  const lines = await section(page, place).locator('.panel-request-samples pre .line').allTextContents();
  return lines.map((line) => line.replace(/\n$/, '')).join('\n');
}

/** In short: every fourth guide, and two operations. Each anchor and each sample takes a part of a second. */
const visited = {
  guides: length({ short: guides.all.filter((_, i) => i % 4 === 0), full: guides.all }),
  operations: length({ short: contract.operations.slice(0, 2), full: contract.operations }),
};

// Redoc takes seconds to render, so the tests that do not depend on a new page share one.
const shared = await site.sharedPage();
await shared.goto('/docs');

test('every guide is shown, and the anchor of each heading works', async () => {
  expect(visited.guides.length).toBeGreaterThan(1);
  const places = visited.guides.flatMap(({ slug, headings }) => [
    guidePlace(slug),
    ...headings.map(({ anchor }) => guidePlace(slug, anchor)),
  ]);
  expect((await headingsShown()).map(({ place }) => place)).toEqual(places);
});

test('a picture in SVG is shown', async () => {
  await open(shared, guidePlace('scaling', 'how-requests-grow'), 'How requests grow');
  const picture = shared.getByRole('img', { name: 'How the latency of each request grows' });
  expect(await picture.evaluate((image) => Reflect.get(image, 'naturalWidth'))).toBe(480);
});

test('every operation is shown with samples in four languages', async () => {
  const page = shared;
  for (const operation of visited.operations) {
    const place = operationPlace(operation);
    await open(page, place, operation.summary);
    for (const { label, source } of samplesOf(operation)) {
      const choice = section(page, place)
        .locator('.panel-request-samples [data-component-name="Panel/PanelHeader"] [aria-haspopup]')
        .last();
      // Redoc may still render guides above, which moves the panel to the end of the window, with no room for the menu.
      await choice.evaluate((element) => element.scrollIntoView({ block: 'center' }));
      await choice.click();
      await page.getByRole('menuitem', { name: label, exact: true }).click();
      expect(await sampleIn(page, place)).toBe(source);
    }
  }
});

type Shown = { readonly place: string; readonly level: number };

let shownHeadings: Promise<readonly Shown[]> | undefined;

/** Opens the address of every title and every heading below it, once for both tests, and waits until it is shown. */
function headingsShown(): Promise<readonly Shown[]> {
  shownHeadings ??= openHeadings();
  return shownHeadings;
}

async function openHeadings(): Promise<readonly Shown[]> {
  const shown: Shown[] = [];
  for (const { slug, title, headings } of visited.guides) {
    for (const { anchor, text } of [{ anchor: null, text: title }, ...headings]) {
      const place = guidePlace(slug, anchor);
      const words = text.replaceAll('`', '');
      await open(shared, place, words);
      shown.push({ place, level: await levelOf(shared, place, words) });
    }
    expect(await shared.locator('h1:not([aria-level])').allTextContents()).toEqual([contract.info.title]);
  }
  return shown;
}

/** The accessible name; Playwright’s locators match the element name alone. */
async function levelOf(page: Page, place: string, title: string): Promise<number> {
  const heading = section(page, place).getByRole('heading', { name: title }).first();
  return Number(await heading.evaluate((element) => element.getAttribute('aria-level') ?? element.tagName.slice(1)));
}

test('heading navigation finds one title, the guides below it, and their sections below them', async () => {
  const levels = (await headingsShown()).map(({ level }) => level);
  expect(levels).toEqual(visited.guides.flatMap(({ headings }) => [2, ...headings.map(({ level }) => level + 1)]));
});

test('the server URL can be called, and no Markdown syntax is visible', async () => {
  const page = shared;
  await page.getByText(site.server.url, { exact: true }).last().waitFor();
  expect(await page.getByText('http://127.0.0.1:3000').count()).toBe(0);
  await open(page, '/parent-programs/listparentprograms', 'List parent programs');
  // A guide quotes the placeholder.
  expect(await section(page, '/parent-programs/listparentprograms').getByText('{base_url}').count()).toBe(0);
  await page.getByText('The next_cursor of the previous page').first().waitFor();
});

test('every webhook is shown with its headers and the example of its event', async () => {
  expect(contract.webhooks).not.toEqual([]);
  for (const webhook of contract.webhooks) {
    const place = operationPlace(webhook);
    await open(shared, place, webhook.summary);
    await section(shared, place).getByText('webhook-signature').first().waitFor();
    await section(shared, place).getByText(`"${webhook.name}"`).first().waitFor();
  }
});

test('the first page leads to a key, the first call and the guides, and names no licence', async () => {
  const page = shared;
  await open(page, '/', contract.info.title);
  const start = section(page, '/').first();
  expect(await start.locator('pre').first().innerText()).toMatch(
    new RegExp(`^curl -H "Authorization: Bearer <API_KEY>"[\\s\\\\]+"${site.server.url}/api/key"\\s*$`),
  );
  expect(await start.innerText()).not.toMatch(/licen[cs]e|\bMIT\b/i);
  for (const { slug, title } of guides.all) {
    expect(await start.locator(`a[href$="#${guidePlace(slug)}"]`, { hasText: title }).count()).toBeGreaterThan(0);
  }
  // The bug: the summary said what the introduction says, and two guides were linked twice.
  const words = await start.innerText();
  expect(
    [contract.info.summary, 'Getting started', 'Issuing a key'].map((text) => words.split(text).length - 1),
  ).toEqual([0, 1, 1]);
  await start.getByRole('link', { name: 'Issuing a key' }).first().click();
  await page.waitForURL(/#\/issuing-a-key$/);
});

test('a link leads to the dashboard', async () => {
  const plain = await site.visit();
  await plain.goto('/docs/plain.html');
  const link = (page: Page) => page.getByRole('banner').getByRole('link', { name: 'Dashboard' });
  await link(plain).click();
  await plain.waitForURL('**/sign-in');
  // In a new tab, so that the shared page stays where it is.
  const [opened] = await Promise.all([
    shared.context().waitForEvent('page'),
    link(shared).click({ modifiers: ['ControlOrMeta'] }),
  ]);
  await opened.waitForURL('**/sign-in');
  await opened.close();
});

// The bug: the header moved the menu down, and its last 33 pixels out of the window.
test('the menu ends where the window ends, whether the header is in view or not', async () => {
  const page = shared;
  await open(page, '/', contract.info.title);
  await page.setViewportSize({ width: 1280, height: 800 });
  const menu = page.getByRole('navigation', { name: 'Contents' });
  await menu.waitFor();
  await page.evaluate('scrollTo(0, 0)');
  await page.waitForFunction('scrollY === 0');
  const bottom = () => menu.evaluate((element) => Math.round(element.getBoundingClientRect().bottom));
  await expect(bottom()).resolves.toBe(800);
  await page.evaluate('scrollTo(0, 500)');
  await page.waitForFunction('scrollY === 500');
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
  await expect(bottom()).resolves.toBe(800);
});

async function findByWord(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Search' }).press('Enter');
  await page.keyboard.type('If-Match');
  const dialog = page.getByRole('dialog', { name: 'Search' });
  await dialog.getByText('Update a parent program').last().click();
  await page.waitForURL(/#\/parent-programs\/updateparentprogram/);
  await dialog.waitFor({ state: 'detached' });
  // Redoc closes a search that is opened before it has followed the new address.
  await menuMarks(page, 'Update a parent program');
}

/** Waits until the menu marks the section of this title as the one that is read. */
async function menuMarks(page: Page, title: string): Promise<void> {
  const menu = page.getByRole('navigation', { name: 'Contents' });
  await menu.locator('[data-active="true"]', { hasText: title }).waitFor();
}

test('the search finds an operation, in workers that the policy allows', async () => {
  await findByWord(shared);
});

test('after a search, the menu marks what was found, also for a part of an operation', async () => {
  const page = await site.visit();
  await page.goto('/docs');
  await page.getByRole('button', { name: 'Search' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Search' });
  await dialog.getByLabel('Search the documentation').fill('weak tag');
  await dialog.getByText('Update a parent program').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await menuMarks(page, 'Update a parent program');
  await section(page, '/parent-programs/updateparentprogram').first().waitFor();
});

test('on a phone, the bar above the text names the document', async () => {
  const page = await site.visit({ viewport: { width: 375, height: 667 } });
  await page.goto('/docs');
  await page.getByRole('button', { name: 'Open navigation menu' }).waitFor();
  const shown = () => page.evaluate<string>('getComputedStyle(document.body, "::before").content');
  expect(await shown()).toContain(contract.info.title);
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(shown()).resolves.toBe('none');
});

// The attack on the keyboard: an element that takes the focus and never gives it back (WCAG 2.1.2).
test('Tab goes through the page, and the search is a dialog that gives the focus back', async () => {
  const page = await site.visit();
  await page.goto('/docs');
  await page.getByRole('button', { name: 'Search' }).waitFor();
  const order: string[] = [];
  for (let i = 0; i < 30; i += 1) {
    await page.keyboard.press('Tab');
    order.push(await page.evaluate<string>('document.activeElement.outerHTML'));
  }
  expect(new Set(order).size).toBeGreaterThan(25);
  await page.getByRole('button', { name: 'Search' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Search' });
  await dialog.getByLabel('Search the documentation').fill('If-Match');
  await dialog.getByText('Update a parent program').first().waitFor();
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Tab');
  expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Clear the search');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await page.locator(':focus').getAttribute('data-testid')).toBe('search-trigger');
});

test('the search for two words finds exactly the sections that have both', async () => {
  const page = shared;
  await page.getByRole('button', { name: 'Search' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Search' });
  const words = dialog.getByLabel('Search the documentation');
  await words.fill('merge 412');
  await dialog.getByText('Update a parent program').first().waitFor();
  expect(await dialog.getByText('Delete a parent program').count()).toBe(0);
  // A section has each of these words, and none has both.
  for (const text of ['arazzo', 'leaked']) {
    await words.fill(text);
    await dialog.getByText(new RegExp(text, 'i')).first().waitFor();
  }
  await words.fill('arazzo leaked');
  await dialog.getByText('No results').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('the search for an idempotency key finds the section of the guide first', async () => {
  const page = shared;
  await page.getByRole('button', { name: 'Search' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Search' });
  await dialog.getByLabel('Search the documentation').fill('idempotency key');
  await dialog.getByText('Get the current key').first().waitFor();
  const first = await dialog.getByRole('link').first().getAttribute('href');
  expect(first).toContain('/retries-and-idempotency/create-once-with-an-idempotency-key');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('opened as a file without a network, the page is complete and its search works', async () => {
  const page = await site.visit();
  await page.context().route(/^(?!file:|data:|blob:)/, (route) => route.abort());
  await page.goto(`${BUILT}index.html`);
  await page.getByRole('heading', { name: contract.info.title }).first().waitFor();
  await findByWord(page);
});

test('the page passes the layout and accessibility checks', async () => {
  const page = shared;
  const wrong: string[] = [];
  const places = [
    { name: 'docs', place: '/', title: contract.info.title },
    { name: 'docs-guide', place: '/getting-started', title: 'Getting started' },
    { name: 'docs-operation', place: '/parent-programs/createparentprogram', title: 'Create a parent program' },
  ];
  // Each takes seconds to search.
  for (const { name, place, title } of length({ short: places.slice(-1), full: places })) {
    await open(page, place, title);
    const again = async () => {
      await page.reload();
      await open(page, place, title);
    };
    wrong.push(...(await look(page, name, { fullPage: false, again })));
  }
  expect(wrong).toEqual([]);
});
