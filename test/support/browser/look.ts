import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** The folder for the screenshots, which git ignores. They take as long as everything else, so only LOOK_PICTURES=1 takes them. */
const FOLDER = join(import.meta.dirname, '../../../generated/screenshots');
const takesPictures = process.env['LOOK_PICTURES'] !== undefined;

type Sight = {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
  readonly rules: 'all' | 'colours' | 'none';
};

/**
 * From 320 px on, no horizontal scrolling: WCAG 2.2, success criterion 1.4.10. Axe searches at 320 and 1280 px: between these
 * widths, and beyond, no layout occurs that one of them does not have. A theme changes nothing but colours.
 */
const SIGHTS: readonly Sight[] = [
  { width: 1600, colorScheme: 'light', rules: 'none' },
  { width: 768, colorScheme: 'light', rules: 'none' },
  { width: 320, colorScheme: 'light', rules: 'all' },
  { width: 320, colorScheme: 'dark', rules: 'colours' },
  { width: 1280, colorScheme: 'dark', rules: 'colours' },
  { width: 1280, colorScheme: 'light', rules: 'all' },
];

/** Loads axe with each page, in a fraction of the time that injecting it afterwards takes. */
export const AXE_SCRIPT = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));

type Violation = {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
};

type LookOptions = {
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
  for (const { width, colorScheme, rules } of SIGHTS) {
    await page.setViewportSize({ width, height: 800 });
    if (shown !== colorScheme) {
      await page.emulateMedia({ colorScheme });
      await again();
      shown = colorScheme;
    }
    const beyond = await page.evaluate<number>(BEYOND);
    if (beyond > 0) wrong.push(`${name}: scrolls sideways by ${beyond} px at ${width} px`);
    if (takesPictures) await page.screenshot({ path: join(FOLDER, `${name}-${width}-${colorScheme}.png`), fullPage });
    if (rules === 'none') continue;
    const found = await violationsIn(page, rules);
    wrong.push(...found.map((each) => `${name}, ${width} px, ${colorScheme}: ${each}`));
  }
  await page.emulateMedia({ colorScheme: 'light', media: 'print' });
  const [errors, printed] = await page.evaluate<[string[], string[]]>(`[${UNNAMED_ERRORS}, ${UNPRINTED}]`);
  await page.emulateMedia({ media: null });
  return [...wrong, ...[...errors, ...printed].map((each) => `${name}: ${each}`)];
}

/** Runs in the page: by how many pixels it is wider than the window. */
export const BEYOND = 'document.documentElement.scrollWidth - window.innerWidth';

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
  const kept = [...document.querySelectorAll('.side, .skip, nav .menu, .contents, .toc, nav[aria-label="Site"]')].filter(isShown);
  const sideways = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  return [
    ...lost.map(({ textContent }) => 'not printed: ' + textContent),
    ...kept.map(({ className }) => 'printed, though nobody can use it on paper: ' + className),
    ...(sideways > 0 ? ['printed wider than the page by ' + sideways + ' px'] : []),
  ];
})()`;

/** The rules whose outcome depends on the theme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** The findings of axe, of any impact. The page must have loaded `AXE_SCRIPT`. */
export async function violationsIn(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  const options = {
    // The passes and the selectors of the elements are not needed, and on a long page they take longest to report.
    resultTypes: ['violations'],
    selectors: false,
    // No rule that runs reads the style sheets, which axe would parse again.
    preload: { assets: ['media'] },
    // The only rule of WCAG 2.2 AA that axe does not run by default.
    ...(rules === 'all' ? { rules: { 'target-size': { enabled: true } } } : { runOnly: COLOUR_RULES }),
  };
  const source = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const found = await page.evaluate<Violation[]>(source);
  return found.map(({ id, help, nodes }) => `${id} (${help}): ${nodes.map(({ html }) => html).join(' | ')}`);
}
