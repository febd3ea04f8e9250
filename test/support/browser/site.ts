import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Actor } from '../../../src/domain/audit/actor.ts';
import { openSession, PASSWORD } from '../data/accounts.ts';
import { createTeam, type Team } from '../data/team.ts';
import { type TestServer, useServer } from '../servers/server.ts';
import { until } from '../wait.ts';
import { type ContextOptions, connectBrowser, openContext } from './browser.ts';

type Site = {
  readonly server: TestServer;
  readonly browser: Browser;
  /** Problems found in the background; a test that ends with any of them fails. */
  readonly problems: string[];
  /** A page in a browser context of its own, which ends with the test. */
  visit(options?: ContextOptions): Promise<Page>;
  /** A page for all tests of the file, where a new one would take long to load. */
  sharedPage(options?: ContextOptions): Promise<Page>;
  /** The profile page of a signed-in user, through a session that needed no password. */
  visitAs(actor: Actor, options?: ContextOptions): Promise<Page>;
  /** Replaces the cookie of the page's context by one of the user. The next page that it loads is theirs. */
  switchTo(actor: Actor, page: Page): Promise<void>;
  team(): Promise<Team>;
};

/**
 * One server and one Chromium for the tests of a file. `script`: a file that each page runs first. `host`: the name by which the
 * pages are opened; there are no passkeys at an IP address.
 */
export async function useSite({ script, host }: { script?: string; host?: string } = {}): Promise<Site> {
  const server = await useServer();
  const origin = host === undefined ? server.url : server.url.replace('127.0.0.1', host);
  const browser = await connectBrowser();
  afterAll(() => browser.close());
  const problems: string[] = [];
  const open = (options: ContextOptions = {}) =>
    openContext(browser, { baseURL: origin, problems, script, ...options });
  const visited: BrowserContext[] = [];
  afterEach(async () => {
    for (const context of visited.splice(0)) await context.close();
    expect(problems.splice(0)).toEqual([]);
  });
  const visit = async (options?: ContextOptions) => {
    const context = await open(options);
    visited.push(context);
    return context.newPage();
  };
  const switchTo = async (actor: Actor, page: Page) => {
    const token = await openSession(server.db, actor);
    await page.context().clearCookies();
    await page.context().addCookies([{ name: 'charter', value: token, url: origin }]);
  };
  return {
    server,
    browser,
    problems,
    visit,
    async sharedPage(options) {
      const context = await open(options);
      afterAll(() => context.close());
      return context.newPage();
    },
    async visitAs(actor, options) {
      const page = await visit(options);
      await switchTo(actor, page);
      await page.goto('/profile');
      return page;
    },
    switchTo,
    team: () => createTeam(server.db),
  };
}

/** Fills in the sign-in page, wherever it leads afterwards. */
export async function signIn(page: Page, { email, password = PASSWORD }: { email: string; password?: string }) {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/**
 * Reloads or navigates the history, and returns the text. Going back to a form's response ends in Chromium's own page.
 */
export async function step(page: Page, act: () => Promise<unknown>): Promise<string> {
  await act().catch((error: unknown) => {
    if (!String(error).includes('ERR_CACHE_MISS')) throw error;
  });
  // There is no document to read between two pages.
  return until('a page to read', () => page.content().catch(() => null));
}
