import type { BrowserContext, Page } from 'playwright-core';
import { connectBrowser, openContext } from '../support/browser/browser.ts';
import { AXE_SCRIPT, look } from '../support/browser/look.ts';
import { startTestMock, useMock } from '../support/servers/mock.ts';

const mock = await useMock({ isStateful: true });
const browser = await connectBrowser();
afterAll(() => browser.close());

const problems: string[] = [];
let context: BrowserContext;
afterEach(async () => {
  await context.close();
  await fetch(`${mock.url}/__mock/overrides`, { method: 'DELETE' });
  expect(problems.splice(0)).toEqual([]);
});

async function open(javaScriptEnabled: boolean): Promise<Page> {
  const script = javaScriptEnabled ? AXE_SCRIPT : undefined;
  context = await openContext(browser, { baseURL: mock.url, problems, script, javaScriptEnabled });
  const page = await context.newPage();
  await page.goto('/__mock');
  return page;
}

const statusOf = async (url: string) => (await mock.client.get(url)).status;

test('without JavaScript, the page forces responses, shows them and clears them', async () => {
  const page = await open(false);
  await page.getByText('None. Every request gets its usual response.').waitFor();
  await page.getByLabel('Response', { exact: true }).selectOption('getKey: 401 missing_key');
  await page.getByLabel('Number of requests').fill('2');
  await page.getByRole('button', { name: 'Force the response' }).click();
  await page.getByText('2 more requests').waitFor();
  expect(await statusOf('/api/key')).toBe(401);
  await page.reload();
  await page.getByText('1 more request').waitFor();
  await page.getByLabel('Response', { exact: true }).selectOption('Every operation: 503');
  await page.getByLabel('Number of requests').fill('');
  await page.getByRole('button', { name: 'Force the response' }).click();
  await page.getByText('503, until cleared').waitFor();
  await page.getByRole('button', { name: 'Clear getKey 401 missing_key' }).click();
  expect(await statusOf('/api/key')).toBe(503);
  await page.getByRole('button', { name: 'Clear all' }).click();
  await page.getByText('None. Every request gets its usual response.').waitFor();
  expect(await statusOf('/api/key')).toBe(200);
});

test('the page shows what was wrong with a request, and forces a body of its user', async () => {
  await mock.client.get('/api/parent_programs?limit=0');
  const page = await open(false);
  await page.getByText('limit must be an integer from 1 to 100.').waitFor();
  await page.getByLabel('Response', { exact: true }).selectOption('getKey: 200 read_only');
  await page.getByText('A body of your own').click();
  await page.getByLabel('Body in JSON').fill('{"name": 3}');
  await page.getByLabel('Send it although the contract forbids it').check();
  await page.getByRole('button', { name: 'Force the response' }).click();
  await page.getByText('200 with a body of your own, 1 more request').waitFor();
  const response = await fetch(`${mock.url}/api/key`);
  expect(await response.text()).toBe('{"name":3}');
});

test('the page begins again with nothing, or with the examples', async () => {
  const page = await open(false);
  const items = async () => (await mock.client.get('/api/parent_programs')).body.data.length;
  await page.getByRole('button', { name: 'Begin again with nothing' }).click();
  await page.waitForURL('**/__mock');
  expect(await items()).toBe(0);
  await page.getByRole('button', { name: 'Begin again with the examples' }).click();
  await page.waitForURL('**/__mock');
  expect(await items()).toBe(25);
});

test('a mock with a seed begins again with the data of the start', async () => {
  await using seeded = await startTestMock({ isStateful: true, seed: { parent_programs: [{ name: 'First' }] } });
  context = await openContext(browser, { baseURL: seeded.url, problems, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto('/__mock');
  const items = async () => (await seeded.client.get('/api/parent_programs')).body.data.length;
  await page.getByRole('button', { name: 'Begin again with nothing' }).click();
  await page.waitForURL('**/__mock');
  expect(await items()).toBe(0);
  await page.getByRole('button', { name: 'Begin again with the data of the start' }).click();
  await page.waitForURL('**/__mock');
  expect(await items()).toBe(1);
});

test('the page passes the layout and accessibility checks', async () => {
  for (const example of ['external_id_taken', null]) {
    const body = JSON.stringify({ operation: 'createParentProgram', status: 409, example, times: null, delay_ms: 500 });
    await fetch(`${mock.url}/__mock/overrides`, { method: 'POST', body });
  }
  const page = await open(true);
  expect(await look(page, 'mock-control')).toEqual([]);
});
