import { writeFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { connectBrowser, openContext, untilFocused } from '../support/browser/browser.ts';
import { AXE_SCRIPT, look } from '../support/browser/look.ts';
import { cellOf, useDomainsFile } from '../support/data/cells.ts';
import { freePort } from '../support/servers/port.ts';
import { startServer } from '../support/servers/server.ts';

// The common address and a cell's address, which lead to the same server, as behind HAProxy. Browsers resolve names below
// localhost themselves.

const port = await freePort('127.0.0.1');
const [commonUrl, cellUrl] = [`http://charter.localhost:${port}`, `http://eu1.localhost:${port}`];
const domainsFile = await useDomainsFile();
const cells = [
  cellOf('eu1', 'Europe', cellUrl),
  cellOf('us1', 'United States', 'https://us1.charter.example.org'),
  cellOf('ap1', 'Asia and the Pacific', 'https://asia-pacific-southeast.charter.example.org'),
];
const server = await startServer({
  port,
  cell: 'eu1',
  cells,
  commonUrl,
  publicUrl: cellUrl,
  cellDomainsFile: domainsFile,
});
await writeFile(domainsFile, 'acme.example eu1\n');
const browser = await connectBrowser();
const problems: string[] = [];
afterAll(async () => {
  await browser.close();
  await server.close();
});
afterEach(() => expect(problems.splice(0)).toEqual([]));

async function visit(work: (page: Page) => Promise<void>): Promise<void> {
  const origins = [commonUrl, cellUrl];
  await using context = await openContext(browser, {
    baseURL: commonUrl,
    origins,
    problems,
    script: AXE_SCRIPT,
  });
  await work(await context.newPage());
}

test('a person whose domain the map has is led to the cell by the keyboard alone, and types the e-mail once', async () => {
  await visit(async (page) => {
    await page.goto('/organization/audit-log');
    await untilFocused(page.getByLabel('E-mail'));
    await page.keyboard.type('mei@acme.example');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${cellUrl}/sign-in?next=%2Forganization%2Faudit-log`);
    expect(await page.getByLabel('E-mail').inputValue()).toBe('mei@acme.example');
    await untilFocused(page.getByLabel('Password'));
    // The fragment passes the e-mail address on, because servers never see fragments. The page removes the fragment, so that the
    // browser's history does not contain the address.
    expect(await page.evaluate('location.hash')).toBe('');
  });
});

test('the pages of the common address are accessible at every width and in both themes', async () => {
  await visit(async (page) => {
    await page.goto('/sign-in');
    expect(await look(page, 'common-sign-in')).toEqual([]);
    await page.getByLabel('E-mail').fill('mei');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('alert').waitFor();
    expect(await look(page, 'common-sign-in-refused')).toEqual([]);
    await page.getByLabel('E-mail').fill('mei@nowhere.example');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Where is your organization?' }).waitFor();
    expect(await look(page, 'common-cells')).toEqual([]);
    await page.goto(`${cellUrl}/sign-in`);
    expect(await look(page, 'cell-sign-in')).toEqual([]);
  });
});
