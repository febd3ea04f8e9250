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

/** Without these flags, Chromium calls hosts of its vendor at every start. */
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Test pages are too short-lived for V8's optimizing compilers: compiling takes longer than the faster code saves. */
const WITHOUT_OPTIMIZATION = '--js-flags=--no-opt --no-maglev';

/** Pages of tests need no isolation from one another, and the start of a renderer takes longer than most of them. */
const FEW_RENDERERS = '--renderer-process-limit=2';

/** The launch options for this machine's Chromium; its sandbox is off only for root, where it cannot work. */
export function launchOptions(executablePath = findHeadlessShell() ?? findBrowser()) {
  if (executablePath === null) throw new Error(`There is no Chromium. ${BROWSER_REMEDY}`);
  return {
    executablePath,
    args: [...QUIET, WITHOUT_OPTIMIZATION, FEW_RENDERERS],
    headless: true,
    chromiumSandbox: process.getuid?.() !== 0,
  };
}

/** The Chromium of this run. Closing it closes only the contexts opened through this call. */
export async function connectBrowser(): Promise<Browser> {
  return chromium.connect(await sharedUrl('browser'));
}

export type ContextOptions = Pick<BrowserContextOptions, 'javaScriptEnabled' | 'colorScheme' | 'timezoneId'> & {
  readonly viewport?: ViewportSize;
};

/** A browser context with its own cookies. Everything that must never happen in it is added to `problems`. */
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
    /** All that the pages may request; that of `baseURL` by default. */
    origins?: readonly string[];
    problems: string[];
    script?: string | undefined;
  },
): Promise<BrowserContext> {
  // Less motion spares the tests a wait.
  const context = await browser.newContext({ baseURL, reducedMotion: 'reduce', locale: 'en-GB', ...options });
  guard(context, origins, problems);
  if (script !== undefined) await context.addInitScript({ path: script });
  return context;
}

/** Chromium logs this for every 4xx page; our tests request such pages on purpose. */
const REFUSED_PAGE = /^Failed to load resource: the server responded with a status of 4\d\d/;

/** Waits until the element has the focus: autofocus takes effect only with the first frame. */
export async function untilFocused(target: Locator): Promise<void> {
  await target.and(target.page().locator(':focus')).waitFor();
}

/** Shorter than a test's time limit, so that the failure names the step that was awaited. */
const STEP_MS = 300_000;

/**
 * Gives each step the time that it takes on a busy machine, and has each click and each key that is pressed on an element wait until
 * the page is loaded. They return as soon as the next document begins, and Chromium parses it in parts: one look at it in a hundred
 * missed the last ones.
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

/** The functions of Playwright itself. */
let [click, press]: Partial<[Locator['click'], Locator['press']]> = [];

async function clickAndLoad(this: Locator, ...parameters: Parameters<Locator['click']>): Promise<void> {
  await click?.apply(this, parameters);
  await this.page().waitForLoadState();
}

async function pressAndLoad(this: Locator, ...parameters: Parameters<Locator['press']>): Promise<void> {
  await press?.apply(this, parameters);
  await this.page().waitForLoadState();
}

/** Requests to other hosts, failed assets, script errors, and console errors, such as violations of the CSP. */
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
