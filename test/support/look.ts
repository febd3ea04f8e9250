import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** Where every page is written to be looked at; git ignores it. */
const FOLDER = join(import.meta.dirname, '../../generated/screenshots');

/** From 320 px on nothing may have to be scrolled sideways: WCAG 2.2, success criterion 1.4.10. */
const SIGHTS = [
  { width: 1600, colorScheme: 'light' },
  { width: 768, colorScheme: 'light' },
  { width: 320, colorScheme: 'light' },
  { width: 320, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
] as const;

/** Between these two, and beyond, nothing is laid out that is not at one of them. */
const SEARCHED: readonly number[] = [320, 1280];

type Violation = {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
};

export type LookOptions = {
  /** False: what is to be seen first, of a page that is very long. */
  readonly fullPage?: boolean;
  /** Called in each theme before it is looked at: for a page that asks for the theme only while it loads. */
  readonly again?: () => Promise<void>;
};

/** Pictures of the page in each width and theme, and whatever is wrong with any of them. Leaves it wide and light. */
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

/** Nobody reads what is right, and on a long page it takes longest to tell. */
const AXE = { resultTypes: ['violations' as const] };

/** What axe finds, of whatever impact. */
async function violations(page: Page): Promise<readonly Violation[]> {
  // Bringing axe into the page takes longer than all that it does there.
  if (await page.evaluate<boolean>('"axe" in window'))
    return page.evaluate<Violation[]>(`axe.run(${JSON.stringify(AXE)}).then(({ violations }) => violations)`);
  // There are no frames, for which alone it would open another page.
  return (await new AxeBuilder({ page }).setLegacyMode(true).options(AXE).analyze()).violations;
}

function words({ id, help, nodes }: Violation): string {
  return `${id} (${help}): ${nodes.map(({ html }) => html).join(' | ')}`;
}
