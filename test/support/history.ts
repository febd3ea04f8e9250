import type { Page } from 'playwright-core';
import { until } from './wait.ts';

/** Reloads or goes through the history, and what is shown then. A way back to a form's answer ends in Chromium's own page. */
export async function step(page: Page, act: () => Promise<unknown>): Promise<string> {
  await act().catch((error: unknown) => {
    if (!String(error).includes('ERR_CACHE_MISS')) throw error;
  });
  // While one page makes room for the next, there is none to read.
  return until('a page to read', () => page.content().catch(() => null));
}
