import type { Page } from 'playwright-core';
import { until } from '../wait.ts';

/**
 * Reloads or navigates the history, and returns the text. Going back to a form's response ends in Chromium's own page.
 */
export async function step(page: Page, act: () => Promise<unknown>): Promise<string> {
  await act().catch((error: unknown) => {
    if (!String(error).includes('ERR_CACHE_MISS')) throw error;
  });
  // Between two pages there is no document to read.
  return until('a page to read', () => page.content().catch(() => null));
}
