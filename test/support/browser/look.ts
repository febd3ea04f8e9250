import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/**
 * The folder for screenshots, which git ignores. Screenshots are taken only if LOOK_PICTURES is set, because they double the time
 * of the tests.
 */
const FOLDER = join(import.meta.dirname, '../../../generated/screenshots');
const takesPictures = process.env['LOOK_PICTURES'] !== undefined;

type Sight = {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
  readonly rules: 'all' | 'colours' | 'none';
};

/**
 * The widths and themes to look at. From 320 px on, a page must not scroll horizontally (WCAG 2.2, success criterion 1.4.10). Axe
 * runs at 320 and 1280 px only, because every layout occurs at one of these widths. In the other theme only the rules for colours
 * run, because a theme changes only colours.
 */
const SIGHTS: readonly Sight[] = [
  { width: 1600, colorScheme: 'light', rules: 'none' },
  { width: 768, colorScheme: 'light', rules: 'none' },
  { width: 320, colorScheme: 'light', rules: 'all' },
  { width: 320, colorScheme: 'dark', rules: 'colours' },
  { width: 1280, colorScheme: 'dark', rules: 'colours' },
  { width: 1280, colorScheme: 'light', rules: 'all' },
];

/** The script that loads axe with each page, which takes a fraction of the time of injecting axe later. */
export const AXE_SCRIPT = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));

type Violation = {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
};

type LookOptions = {
  /** Whether screenshots show the whole page. If false, for a very long page, they show only the visible part. */
  readonly fullPage?: boolean;
  /** Runs after each change of the theme, for a page that reads the theme only while it loads. */
  readonly again?: () => Promise<void>;
};

/**
 * Returns the problems of the page in all widths and themes. The page must have loaded `AXE_SCRIPT`, and be in the light theme.
 * Afterwards, the page is wide and in the light theme, but `again` has not run for this last change.
 */
export async function look(
  page: Page,
  name: string,
  { fullPage = true, again = async () => {} }: LookOptions = {},
): Promise<string[]> {
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

/** An expression to evaluate in the page: by how many pixels the page is wider than the window. */
export const BEYOND = 'document.documentElement.scrollWidth - window.innerWidth';

/**
 * An expression to evaluate in the page. Returns the errors that no invalid field refers to, and the invalid fields without an
 * error. A screen reader does not read an error that no field refers to.
 */
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

/**
 * An expression to evaluate in the page while it is rendered for print. Returns the missing headings, the controls that nobody
 * can use on paper, and the excess width.
 */
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

/** The rules whose result depends on the theme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** Returns the violations that axe finds, whatever their impact. The page must have loaded `AXE_SCRIPT`. */
export async function violationsIn(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  const options = {
    // Leaves out the rules that pass and the selectors of elements, which take longest to report on a long page.
    resultTypes: ['violations'],
    selectors: false,
    // Keeps axe from loading and parsing the style sheets again. No rule that runs reads them.
    preload: { assets: ['media'] },
    // This is the only rule of WCAG 2.2 AA that axe does not run by default.
    ...(rules === 'all' ? { rules: { 'target-size': { enabled: true } } } : { runOnly: COLOUR_RULES }),
  };
  const source = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const found = await page.evaluate<Violation[]>(source);
  return found.map(({ id, help, nodes }) => `${id} (${help}): ${nodes.map(({ html }) => html).join(' | ')}`);
}
