import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** The folder for the screenshots; git ignores it. */
const FOLDER = join(import.meta.dirname, '../../generated/screenshots');

/** From 320 px on, no horizontal scrolling: WCAG 2.2, success criterion 1.4.10. */
const SIGHTS = [
  { width: 1600, colorScheme: 'light' },
  { width: 768, colorScheme: 'light' },
  { width: 320, colorScheme: 'light' },
  { width: 320, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
] as const;

/** Between these widths, and beyond, no layout occurs that one of them does not have. */
const SEARCHED: readonly number[] = [320, 1280];

type Violation = {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
};

export type LookOptions = {
  /** False: only the visible part, for a very long page. */
  readonly fullPage?: boolean;
  /** Runs before each theme is checked, for a page that reads the theme only while it loads. */
  readonly again?: () => Promise<void>;
};

/**
 * Takes pictures of the page in each width and theme, and returns the problems of all. Ends with the wide, light page.
 */
export async function look(
  page: Page,
  name: string,
  { fullPage = true, again = async () => {} }: LookOptions = {},
): Promise<string[]> {
  await mkdir(FOLDER, { recursive: true });
  const wrong: string[] = [];
  for (const { width, colorScheme } of SIGHTS) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await again();
    const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
    if (beyond > 0) wrong.push(`${name}: scrolls sideways by ${beyond} px at ${width} px`);
    const path = join(FOLDER, `${name}-${width}-${colorScheme}.png`);
    await page.screenshot({ path, fullPage });
    if (!SEARCHED.includes(width)) continue;
    const found = await violations(page);
    wrong.push(...found.map((each) => `${name}, ${width} px, ${colorScheme}: ${words(each)}`));
  }
  return wrong;
}

/** The passes are not needed, and on a long page they take longest to report. */
const AXE = { resultTypes: ['violations' as const] };

/** The findings of axe, of any impact. */
async function violations(page: Page): Promise<readonly Violation[]> {
  // Injecting axe takes longer than its analysis.
  if (await page.evaluate<boolean>('"axe" in window'))
    return page.evaluate<Violation[]>(`axe.run(${JSON.stringify(AXE)}).then(({ violations }) => violations)`);
  // The pages have no frames, so the mode for frames, which opens another page, is not needed.
  return (await new AxeBuilder({ page }).setLegacyMode(true).options(AXE).analyze()).violations;
}

function words({ id, help, nodes }: Violation): string {
  return `${id} (${help}): ${nodes.map(({ html }) => html).join(' | ')}`;
}
