import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** The folder for the screenshots, which `npm run soak` takes; git ignores it. */
const FOLDER = join(import.meta.dirname, '../../../generated/screenshots');

type Sight = { readonly width: number; readonly colorScheme: 'light' | 'dark'; readonly isSearched: boolean };

/**
 * From 320 px on, no horizontal scrolling: WCAG 2.2, success criterion 1.4.10. Axe searches at 320 and 1280 px: between these
 * widths, and beyond, no layout occurs that one of them does not have.
 */
const SIGHTS: readonly Sight[] = [
  { width: 1600, colorScheme: 'light', isSearched: false },
  { width: 768, colorScheme: 'light', isSearched: false },
  { width: 320, colorScheme: 'light', isSearched: true },
  { width: 320, colorScheme: 'dark', isSearched: true },
  { width: 1280, colorScheme: 'dark', isSearched: true },
  { width: 1280, colorScheme: 'light', isSearched: true },
];

/** Loads axe with each page, in a fraction of the time that injecting it afterwards takes. */
export const AXE_SCRIPT = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));

type Violation = {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
};

export type LookOptions = {
  /** False: only the visible part, for a very long page. */
  readonly fullPage?: boolean;
  /** Runs after each change of the theme, for a page that reads the theme only while it loads. */
  readonly again?: () => Promise<void>;
};

/**
 * The problems of the page, which must have loaded `AXE_SCRIPT`, in all widths and themes. Expects it light, and ends with it wide
 * and light, without another call of `again`.
 */
export async function look(
  page: Page,
  name: string,
  { fullPage = true, again = async () => {} }: LookOptions = {},
): Promise<string[]> {
  // A click returns as soon as the next document begins.
  await page.waitForLoadState();
  const wrong: string[] = [];
  let shown: Sight['colorScheme'] = 'light';
  for (const { width, colorScheme, isSearched } of SIGHTS) {
    await page.setViewportSize({ width, height: 800 });
    if (shown !== colorScheme) {
      await page.emulateMedia({ colorScheme });
      await again();
      shown = colorScheme;
    }
    const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
    if (beyond > 0) wrong.push(`${name}: scrolls sideways by ${beyond} px at ${width} px`);
    await page.screenshot({ path: join(FOLDER, `${name}-${width}-${colorScheme}.png`), fullPage });
    if (!isSearched) continue;
    const found = await violationsIn(page);
    wrong.push(...found.map((each) => `${name}, ${width} px, ${colorScheme}: ${each}`));
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: 'light', media: 'print' });
  const [errors, printed] = await page.evaluate<[string[], string[]]>(`[${UNNAMED_ERRORS}, ${UNPRINTED}]`);
  await page.emulateMedia({ media: null });
  return [...wrong, ...[...errors, ...printed].map((each) => `${name}: ${each}`)];
}

/** Runs in the page. An error that a screen reader does not read with its field, and a wrong field without an error. */
const UNNAMED_ERRORS = `(() => {
  const described = (field) => (field.getAttribute('aria-describedby') ?? '').split(' ');
  const fields = [...document.querySelectorAll('[aria-describedby], [aria-invalid="true"]')];
  const errors = [...document.querySelectorAll('.field-error')];
  return [
    ...errors
      .filter(({ id }) => !fields.some((field) => field.ariaInvalid === 'true' && described(field).includes(id)))
      .map(({ textContent }) => 'no field is described by the error: ' + textContent),
    ...fields
      .filter((field) => field.ariaInvalid === 'true' && !errors.some(({ id }) => described(field).includes(id)))
      .map(({ outerHTML }) => 'no error describes the field: ' + outerHTML),
  ];
})()`;

/** Runs in the page while it is as printed: what it is about is on paper, and what only a screen can use is not. */
const UNPRINTED = `(() => {
  const isShown = (each) => each.checkVisibility({ visibilityProperty: true }) && each.getClientRects().length > 0;
  const lost = [...document.querySelectorAll('main h1, h1')].filter((each) => !isShown(each));
  const kept = [...document.querySelectorAll('.side, .skip, nav .menu')].filter(isShown);
  const sideways = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  return [
    ...lost.map(({ textContent }) => 'not printed: ' + textContent),
    ...kept.map(({ className }) => 'printed, though nobody can use it on paper: ' + className),
    ...(sideways > 0 ? ['printed wider than the page by ' + sideways + ' px'] : []),
  ];
})()`;

/** The only rule of WCAG 2.2 AA that axe does not run by default. */
const WCAG_22_AA = { 'target-size': { enabled: true } };

/** The findings of axe, of any impact. The page must have loaded `AXE_SCRIPT`. */
export async function violationsIn(page: Page): Promise<string[]> {
  const options = {
    // The passes and the selectors of the elements are not needed, and on a long page they take longest to report.
    resultTypes: ['violations'],
    selectors: false,
    // No rule that runs reads the style sheets, which axe would parse again.
    preload: { assets: ['media'] },
    rules: WCAG_22_AA,
  };
  const source = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const found = await page.evaluate<Violation[]>(source);
  return found.map(({ id, help, nodes }) => `${id} (${help}): ${nodes.map(({ html }) => html).join(' | ')}`);
}
