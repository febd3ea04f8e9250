import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Actor } from '../../src/domain/actor.ts';
import { openSession, PASSWORD } from './accounts.ts';
import { type ContextOptions, connectBrowser, openContext } from './browser.ts';
import { startServer, type TestServer } from './server.ts';
import { createTeam, type Team } from './team.ts';

export type Stage = {
  readonly server: TestServer;
  readonly browser: Browser;
  /** Problems found in the background; a test that ends with any of them fails. */
  readonly problems: string[];
  /** A page in a new browser context. */
  visit(options?: ContextOptions): Promise<Page>;
  /** The profile page of a signed-in user, through a session that needed no password. */
  visitAs(actor: Actor, options?: ContextOptions): Promise<Page>;
  team(): Promise<Team>;
};

/** One server for the tests of a file; each test's browser contexts close with it. `script`: a file that each page runs first. */
export function useStage({ script }: { script?: string } = {}): Stage {
  let server: TestServer | undefined;
  let browser: Browser | undefined;
  let contexts: BrowserContext[] = [];
  const problems: string[] = [];
  beforeAll(async () => {
    server = await startServer();
    browser = await connectBrowser();
  });
  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    contexts = [];
    expect(problems.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  const stage: Stage = {
    get server() {
      return given(server);
    },
    get browser() {
      return given(browser);
    },
    problems,
    async visit(options = {}) {
      const context = await openContext(stage.browser, { baseURL: stage.server.url, problems, script, ...options });
      contexts.push(context);
      return context.newPage();
    },
    async visitAs(actor, options) {
      const page = await stage.visit(options);
      const token = await openSession(stage.server.db, actor);
      await page.context().addCookies([{ name: 'charter', value: token, url: stage.server.url }]);
      await page.goto('/profile');
      return page;
    },
    team: () => createTeam(stage.server.db),
  };
  return stage;
}

/** Fills in the sign-in page, wherever it leads afterwards. */
export async function signIn(page: Page, { email, password = PASSWORD }: { email: string; password?: string }) {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The stage is set up only while the tests run.');
  return value;
}
