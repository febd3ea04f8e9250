import type { BrowserContext, Page } from 'playwright-core';
import { type ContextOptions, MEDIA, VIEWPORT } from './browser.ts';

export type PagePool = {
  /** A page in a browser context of its own, without a trace of earlier tests. */
  take(options?: ContextOptions): Promise<Page>;
  /** Cleans the pages that were taken, for the next test. */
  reset(): Promise<void>;
};

/**
 * Reuses pages, because Chromium starts a process for each new one, which takes three times as long as loading a page of
 * the dashboard. `origin`: the server that the pages show.
 */
export function createPagePool(
  origin: string,
  openContext: (options: ContextOptions) => Promise<BrowserContext>,
): PagePool {
  /** By the options that cannot change after the creation of a page. */
  const unusedPages = new Map<string, Page[]>();
  const taken: { readonly page: Page; readonly unused: Page[] }[] = [];
  return {
    async take({ viewport = VIEWPORT, colorScheme = MEDIA.colorScheme, ...fixed } = {}) {
      const key = JSON.stringify([fixed.javaScriptEnabled, fixed.timezoneId]);
      const unused = unusedPages.get(key) ?? [];
      unusedPages.set(key, unused);
      const page = unused.pop() ?? (await (await openContext(fixed)).newPage());
      taken.push({ page, unused });
      await page.setViewportSize(viewport);
      await page.emulateMedia({ ...MEDIA, colorScheme });
      return page;
    },
    async reset() {
      await Promise.all(
        taken.splice(0).map(async ({ page, unused }) => {
          await clean(page, origin);
          unused.push(page);
        }),
      );
    },
  };
}

/** Leaves one empty page in the context, with an empty history. */
async function clean(page: Page, origin: string): Promise<void> {
  const context = page.context();
  await Promise.all(context.pages().map((each) => (each === page ? undefined : each.close())));
  await page.unrouteAll();
  await context.unrouteAll();
  await page.evaluate(CLEAR_SESSION_STORAGE);
  await page.goto('about:blank');
  await context.clearCookies();
  await context.clearPermissions();
  const devTools = await context.newCDPSession(page);
  await devTools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await devTools.send('Page.resetNavigationHistory');
  await devTools.detach();
}

/** Runs in the page. Chromium's own pages, such as that of an error, have no storage. */
const CLEAR_SESSION_STORAGE = 'try { sessionStorage.clear() } catch {}';
