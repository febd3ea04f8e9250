import type { Page } from 'playwright-core';
import { openContext } from '../support/browser/browser.ts';
import { useSite } from '../support/browser/site.ts';

const site = await useSite();

/** Runs in the page. */
const STATE = `(async () => ({
  history: history.length,
  cookies: document.cookie,
  stored: [localStorage.length, sessionStorage.length, (await indexedDB.databases()).length, (await caches.keys()).length],
  size: [innerWidth, innerHeight, screen.width, screen.height],
  media: ['print', '(prefers-color-scheme: dark)', '(prefers-reduced-motion)', '(forced-colors)', '(prefers-contrast)']
    .map((query) => matchMedia(query).matches),
  permission: (await navigator.permissions.query({ name: 'clipboard-read' })).state,
}))()`;

const LEAVE_TRACES = `(async () => {
  document.cookie = 'a=b';
  localStorage.a = 'b';
  sessionStorage.a = 'b';
  await new Promise((resolve) => Object.assign(indexedDB.open('a'), { onsuccess: resolve }));
  await caches.open('a');
  for (const each of ['#a', '#b', '#c']) history.pushState(null, '', each);
})()`;

async function stateOf(page: Page): Promise<unknown> {
  const before = page.url();
  await page.goto('/sign-in');
  return { before, pages: page.context().pages().length, state: await page.evaluate(STATE) };
}

test.each(['one', 'another'])('%s test finds its page as it finds a new one', async () => {
  const { browser, server, problems } = site;
  const context = await openContext(browser, { baseURL: server.url, problems });
  const page = await site.visit();
  expect(await stateOf(page)).toEqual(await stateOf(await context.newPage()));
  await context.close();
  await page.evaluate(LEAVE_TRACES);
  await page.setViewportSize({ width: 375, height: 667 });
  await page.emulateMedia({
    media: 'print',
    colorScheme: 'dark',
    reducedMotion: 'no-preference',
    forcedColors: 'active',
    contrast: 'more',
  });
  await page.context().grantPermissions(['clipboard-read'], { origin: server.url });
  await page.context().newPage();
  await page.route('**/sign-in', (route) => route.abort());
  await page.context().route('**/sign-in', (route) => route.abort());
});
