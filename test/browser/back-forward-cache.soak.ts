import { chromium, type Page } from 'playwright-core';
import { findBrowser } from '../../scripts/programs.mjs';
import type { Actor } from '../../src/domain/audit/actor.ts';
import { launchOptions, openContext } from '../support/browser/browser.ts';
import { createKey, openOwnKeys } from '../support/browser/key-steps.ts';
import { step, useSite } from '../support/browser/site.ts';
import { codeAt } from '../support/data/accounts.ts';
import { until } from '../support/wait.ts';

// The attack: at an unattended machine, somebody goes back and the browser shows the page from its back/forward cache. Chromium
// caches neither no-store pages nor responses to forms, but other browsers do, and Chromium may start to. So this test changes
// such responses into ones that Chromium caches.

const site = await useSite();
// Chromium's headless shell has no back/forward cache, so this is the full browser.
const browser = await chromium.launch({
  ...launchOptions(findBrowser()),
  ignoreDefaultArgs: ['--disable-back-forward-cache'],
});
afterAll(() => browser.close());
// In the full browser, each context gets a profile, which takes longer to create than its pages take to load.
const context = await openContext(browser, { baseURL: site.server.url, problems: site.problems });

async function visitAs(actor: Actor): Promise<Page> {
  const page = await context.newPage();
  await site.switchTo(actor, page);
  await page.goto('/profile');
  return page;
}

const KEPT = '/kept';
/** A script that logs what a page contains when it is shown, before any of our scripts handle the event. */
const PROBE = `addEventListener('pageshow', ({ persisted, timeStamp }) => console.info(JSON.stringify({
  at: performance.timeOrigin + timeStamp,
  persisted,
  path: location.pathname,
  holds: document.documentElement.outerHTML + Array.from(document.querySelectorAll('textarea'), ({ value }) => value),
  pictures: document.querySelectorAll('img').length,
})))`;

type Sight = { readonly persisted: boolean; readonly path: string; readonly holds: string; readonly pictures: number };

/** Functions that each open a page with secrets and return the secrets. */
const SECRETS: Record<string, (page: Page) => Promise<string[]>> = {
  'a key': async (page) => {
    await openOwnKeys(page);
    return [await createKey(page, 'Once')];
  },
  'the QR code and the secret of a second factor': async (page) => [(await beginSecondFactor(page)).secret],
  'the recovery codes': turnOnSecondFactor,
  'new recovery codes': async (page) => {
    await turnOnSecondFactor(page);
    await page.getByRole('link', { name: 'I have kept them' }).click();
    await page.getByRole('link', { name: 'Regenerate recovery codes' }).click();
    await page.getByRole('button', { name: 'Regenerate codes' }).click();
    await page.getByRole('heading', { name: 'Your new recovery codes' }).waitFor();
    return recoveryCodesOn(page);
  },
  'an invitation link': async (page) => {
    await page.goto('/people/users/invite');
    await page.getByLabel('Name').fill('Noor Haddad');
    await page.getByLabel('E-mail').fill(`noor.${crypto.randomUUID()}@northwind.example`);
    await page.getByRole('button', { name: 'Invite' }).click();
    return [await page.getByLabel('Link', { exact: true }).inputValue()];
  },
};

async function turnOnSecondFactor(page: Page): Promise<string[]> {
  await page.getByLabel('Code').fill(codeAt((await beginSecondFactor(page)).uri, new Date()));
  await page.getByRole('button', { name: 'Turn on' }).click();
  return recoveryCodesOn(page);
}

async function recoveryCodesOn(page: Page): Promise<string[]> {
  return (await page.getByLabel('Recovery codes').inputValue()).split('\n');
}

async function beginSecondFactor(page: Page): Promise<{ uri: string; secret: string }> {
  await page.getByRole('link', { name: 'Set up the second factor' }).click();
  await page.getByRole('button', { name: 'Set up' }).click();
  const uri = (await page.getByRole('link', { name: 'open it in the app' }).getAttribute('href')) ?? '';
  return { uri, secret: new URL(uri).searchParams.get('secret') ?? '' };
}

test.each(Object.keys(SECRETS))('%s: a page restored from the back/forward cache no longer shows it', async (what) => {
  const { manager } = await site.team();
  const page = await visitAs(manager);
  const secrets = (await SECRETS[what]?.(page)) ?? [];
  const body = await page.content();
  for (const secret of secrets) expect(body).toContain(secret);
  await page.goto('/profile');
  const back = await step(page, () => page.goBack());
  for (const secret of secrets) expect(back).not.toContain(secret);

  // A restored page repeats its earlier console messages, so equal messages count once.
  const told = new Set<string>();
  page.on('console', (message) => told.add(message.text()));
  const sights = () => [...told].map((text): Sight => JSON.parse(text));
  await page.addInitScript(PROBE);
  await page.route(KEPT, (route) => route.fulfill({ contentType: 'text/html', body }));
  const tellsOf = (count: number) => until(`${count} pages to be told of`, () => sights().length >= count);
  // A page may report after its load event. The next page is opened after the report, so that reports stay in order.
  await page.goto(KEPT);
  await tellsOf(1);
  await page.goto('/profile');
  await tellsOf(2);
  await page.goBack();
  await tellsOf(4);
  const [shown, , kept, instead] = sights();
  expect(shown).toMatchObject({ path: KEPT, persisted: false, holds: expect.stringContaining(secrets[0] ?? '') });
  expect(kept).toMatchObject({ path: KEPT, persisted: true, pictures: 0 });
  expect(instead?.path).toMatch(/^\/(profile|people\/users)\b/);
  await page.goForward({ waitUntil: 'commit' });
  await page.goBack({ waitUntil: 'commit' });
  await tellsOf(6);
  for (const { holds } of sights().slice(1)) for (const secret of secrets) expect(holds).not.toContain(secret);
  await page.close();
});

test('after signing out, the back button shows nothing from the back/forward cache', async () => {
  const { administrator } = await site.team();
  const page = await visitAs(administrator);
  await page.getByRole('link', { name: 'People' }).click();
  await page.getByRole('link', { name: 'Mei Tanaka' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
  await page.goBack({ waitUntil: 'commit' });
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.content()).not.toContain('Mei Tanaka');
  await page.close();
});
