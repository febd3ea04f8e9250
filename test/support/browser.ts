import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Locator } from 'playwright-core';
import { findBrowser, findHeadlessShell, REMEDY } from '../../scripts/browser.mjs';
import { sharedUrl } from './shared.ts';

/** Without them, Chromium calls its maker's hosts at every start. */
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** How this machine's Chromium is started; its own sandbox is off only where it cannot work: for root. */
export function launchOptions(executablePath = findHeadlessShell() ?? findBrowser()) {
  if (executablePath === null) throw new Error(`There is no Chromium. ${REMEDY}`);
  return { executablePath, args: QUIET, headless: true, chromiumSandbox: process.getuid?.() !== 0 };
}

/** The Chromium of this run. To close it closes the visitors that came by this call, and nothing else. */
export async function connectBrowser(): Promise<Browser> {
  return chromium.connect(await sharedUrl('browser'));
}

export type ContextOptions = Pick<BrowserContextOptions, 'javaScriptEnabled' | 'colorScheme' | 'viewport'>;

/** A visitor of their own, with their own cookies. Whatever must never happen to one is added to `problems`. */
export async function openContext(
  browser: Browser,
  { baseURL, problems, ...options }: ContextOptions & { baseURL: string; problems: string[] },
): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL, reducedMotion: 'reduce', locale: 'en-GB', ...options });
  // Below the minutes that a test has, so that the failure names what was waited for.
  context.setDefaultTimeout(90_000);
  guard(context, baseURL, problems);
  return context;
}

/** What Chromium writes of every page that answers 4xx, as ours do on purpose. */
const REFUSED_PAGE = /^Failed to load resource: the server responded with a status of 4\d\d/;

/** Waits until it has the focus: what asks for it in the page has it with the first frame alone. */
export async function focused(target: Locator): Promise<void> {
  await target.and(target.page().locator(':focus')).waitFor();
}

/** Requests to other hosts, failed assets, script errors, and whatever the console calls an error, as it does breaches of the CSP. */
export function guard(context: BrowserContext, baseURL: string, problems: string[]): void {
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (/^https?:$/.test(url.protocol) && url.origin !== baseURL) problems.push(`a request to ${url.href}`);
  });
  context.on('response', (response) => {
    const isPage = response.request().isNavigationRequest();
    if (response.status() >= (isPage ? 500 : 400)) problems.push(`${response.status()} from ${response.url()}`);
  });
  context.on('console', (message) => {
    const isOurs = REFUSED_PAGE.test(message.text()) && message.location().url.startsWith(baseURL);
    if (['error', 'warning'].includes(message.type()) && !isOurs) problems.push(`the console: ${message.text()}`);
  });
  context.on('weberror', (error) => problems.push(`a script's error: ${error.error().message}`));
}
