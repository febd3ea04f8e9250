import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type ViewportSize,
} from 'playwright-core';
import { BROWSER_REMEDY, findBrowser, findHeadlessShell } from '../../../scripts/programs.mjs';
import { sharedUrl } from '../runner/shared.ts';

/** Flags without which Chromium sends requests to its vendor at every start. */
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * A flag that turns off V8's optimizing compilers. Test pages are open only briefly, so compiling takes longer than the faster
 * code saves.
 */
const WITHOUT_OPTIMIZATION = '--js-flags=--no-opt --no-maglev';

/**
 * A flag that lets pages share two renderers. Test pages need no isolation, and starting a renderer takes longer than most pages.
 */
const FEW_RENDERERS = '--renderer-process-limit=2';

/**
 * Returns the launch options for the Chromium of this machine. The sandbox of Chromium is off only for root, because it does not
 * work for root.
 */
export function launchOptions(executablePath = findHeadlessShell() ?? findBrowser()) {
  if (executablePath === null) throw new Error(`There is no Chromium. ${BROWSER_REMEDY}`);
  return {
    executablePath,
    args: [...QUIET, WITHOUT_OPTIMIZATION, FEW_RENDERERS],
    headless: true,
    chromiumSandbox: process.getuid?.() !== 0,
  };
}

/** Connects to the Chromium of this run. Closing the returned browser closes only its own contexts. */
export async function connectBrowser(): Promise<Browser> {
  return chromium.connect(await sharedUrl('browser'));
}

export type ContextOptions = Pick<BrowserContextOptions, 'javaScriptEnabled' | 'colorScheme' | 'timezoneId'> & {
  readonly viewport?: ViewportSize;
};

/** Opens a browser context with its own cookies. Adds to `problems` each event that must never happen, such as a script error. */
export async function openContext(
  browser: Browser,
  {
    baseURL,
    origins = [baseURL],
    problems,
    script,
    ...options
  }: ContextOptions & {
    baseURL: string;
    /** The origins that pages may send requests to; by default, that of `baseURL`. */
    origins?: readonly string[];
    problems: string[];
    script?: string | undefined;
  },
): Promise<BrowserContext> {
  // Saves the tests the time that animations take.
  const context = await browser.newContext({ baseURL, reducedMotion: 'reduce', locale: 'en-GB', ...options });
  guard(context, origins, problems);
  if (script !== undefined) await context.addInitScript({ path: script });
  return context;
}

/** The message that Chromium logs for every 4xx page. Tests request such pages on purpose. */
const REFUSED_PAGE = /^Failed to load resource: the server responded with a status of 4\d\d/;

/** Waits until the element has the focus. Autofocus takes effect only with the first frame. */
export async function untilFocused(target: Locator): Promise<void> {
  await target.and(target.page().locator(':focus')).waitFor();
}

/** The time limit of a step. It is shorter than the time limit of a test, so that a failure names the step. */
const STEP_MS = 300_000;

/**
 * Gives each step enough time for a busy machine, and makes each click and key press on an element wait until the page has
 * loaded. Playwright's own functions return when the next document begins. Chromium parses a document in parts, so a check at
 * that moment sometimes misses the last parts.
 */
export function makePatient(context: BrowserContext): void {
  context.setDefaultTimeout(STEP_MS);
  context.once('page', (page) => {
    const locator: Pick<Locator, 'click' | 'press'> = Object.getPrototypeOf(page.locator('html'));
    if (locator.click === clickAndLoad) return;
    ({ click, press } = locator);
    Object.assign(locator, { click: clickAndLoad, press: pressAndLoad });
  });
}

/** Playwright's original functions. */
let [click, press]: Partial<[Locator['click'], Locator['press']]> = [];

async function clickAndLoad(this: Locator, ...parameters: Parameters<Locator['click']>): Promise<void> {
  await click?.apply(this, parameters);
  await this.page().waitForLoadState();
}

async function pressAndLoad(this: Locator, ...parameters: Parameters<Locator['press']>): Promise<void> {
  await press?.apply(this, parameters);
  await this.page().waitForLoadState();
}

/**
 * Adds to `problems` every request to an origin that is not in `origins`, every failed asset, every script error, and every
 * console error, such as a CSP violation.
 */
export function guard(context: BrowserContext, origins: readonly string[], problems: string[]): void {
  makePatient(context);
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (/^https?:$/.test(url.protocol) && !origins.includes(url.origin)) problems.push(`a request to ${url.href}`);
  });
  context.on('response', (response) => {
    const isPage = response.request().isNavigationRequest();
    if (response.status() >= (isPage ? 500 : 400)) problems.push(`${response.status()} from ${response.url()}`);
  });
  context.on('console', (message) => {
    const isOurs = REFUSED_PAGE.test(message.text()) && origins.some((each) => message.location().url.startsWith(each));
    if (['error', 'warning'].includes(message.type()) && !isOurs) problems.push(`the console: ${message.text()}`);
  });
  context.on('weberror', (error) => problems.push(`a script's error: ${error.error().message}`));
}
