import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPeople } from '../support/actors.ts';
import type { Browser, Page } from '../support/dashboard.ts';
import { browserOf, startDashboard, type TestDashboard } from '../support/dashboard-server.ts';

let dashboard: TestDashboard;
let browser: Browser;
beforeAll(async () => {
  dashboard = await startDashboard();
  browser = await browserOf(dashboard, (await createPeople(dashboard.db)).administrator);
});
afterAll(() => dashboard.close());

/** A page of ours with nothing of the inside in it. */
function expectPage({ headers, text }: Page): void {
  expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  expect(text).not.toMatch(/node_modules|\.ts:\d|\bat (async )?\S+ \(|prisma/i);
}

test.each([
  '/people/users/%E0%A4%A',
  '/welcome/%',
  '/profile/%zz',
  '/people/users/%ff/role',
  '/profile/api-keys/%/rotate',
])('the address %s gets a page, 400 or 404', async (path) => {
  // The attack: Express throws at the path itself, and answers with its own page, which shows a stack.
  for (const page of [await browser.get(path), await browser.post(path, { form_token: 'wrong' })]) {
    expect([400, 404]).toContain(page.status);
    expectPage(page);
  }
});

test('every odd query is answered with a page that is no fault', async () => {
  // The attack: positions, days and searches that the database cannot take.
  const odd = [
    '%00',
    '%',
    '%ff',
    '0000-01-01',
    '9999-12-31',
    '0001-01-01',
    '2026-02-30',
    "'",
    '%25',
    '_',
    '\\',
    'WyJhIiwiYiJd',
  ];
  const queries = odd.flatMap((text) => [
    ...['search', 'after', 'done', 'next'].map((name) => `/people/users?${name}=${text}`),
    ...['act', 'person', 'from', 'to', 'after'].map((name) => `/organization/audit-log?${name}=${text}`),
    `/organization/audit-log.csv?from=${text}&to=${text}`,
    `/sign-in?next=${text}&done=${text}`,
    `/profile/api-keys?done=${text}`,
  ]);
  for (const path of [
    ...queries,
    '/people/users?search=a&search=b&after[x]=1',
    `/people/users?search=${'x'.repeat(7000)}`,
  ]) {
    const { status } = await browser.get(path);
    expect([path, status < 500]).toEqual([path, true]);
  }
});
