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
  /** Problems that occur in pages. A test fails if there are any when it ends. */
  readonly problems: string[];
  /** Opens a page in its own browser context, which is closed at the end of the test. */
  visit(options?: ContextOptions): Promise<Page>;
  /** Opens a page for all tests of the file, for pages that take long to load. */
  sharedPage(options?: ContextOptions): Promise<Page>;
  /** Opens the profile page of a user, with a session that was created without a sign-in. */
  visitAs(actor: Actor, options?: ContextOptions): Promise<Page>;
  /**
   * Replaces the session cookie of the page's context with one of this user. The open page stays as it is until the next
   * navigation.
   */
  switchTo(actor: Actor, page: Page): Promise<void>;
  team(): Promise<Team>;
};

/**
 * Starts a server and connects to Chromium for the tests of a file. `script` is a file that each page runs first. `host` is the
 * host in the URL of the pages; passkeys need a name there, not an IP address.
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

/** Fills in and submits the sign-in page. Does not check which page follows. */
export async function signIn(page: Page, { email, password = PASSWORD }: { email: string; password?: string }) {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/**
 * Reloads the page or navigates the history, and returns the text. Going back to the response to a form leads to an error page of
 * Chromium, which is not a failure.
 */
export async function step(page: Page, act: () => Promise<unknown>): Promise<string> {
  await act().catch((error: unknown) => {
    if (!String(error).includes('ERR_CACHE_MISS')) throw error;
  });
  // Between two pages, there is no document to read.
  return until('a page to read', () => page.content().catch(() => null));
}
