import { createPeople, NOBODY } from '../../support/data/actors.ts';
import { Browser, type Page } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();
const { administrator } = await createPeople(dashboard.db);
const browser = await browserOf(dashboard, administrator);

/** Expects one of our pages, without internal details. */
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
])('the URL %s gets a page with 400 or 404', async (path) => {
  // The attack: Express throws while it decodes the path, and its own error page shows a stack.
  for (const page of [await browser.get(path), await browser.post(path, { form_token: 'wrong' })]) {
    expect([400, 404]).toContain(page.status);
    expectPage(page);
  }
});

/** A position as the links of a list encode it. */
const position = (...parts: string[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');

test('no malformed query causes a server error', async () => {
  // The attack: positions, dates and searches that the database cannot accept.
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
    position('ended', '-271821-04-20T00:00:00.000Z', NOBODY),
    position('ended', '0000-01-01T00:00:00.000Z', NOBODY),
    position('\0', NOBODY),
  ];
  const queries = odd.flatMap((text) => [
    ...['search', 'after', 'done', 'next'].map((name) => `/people/users?${name}=${text}`),
    ...['action', 'person', 'from', 'to', 'after'].map((name) => `/organization/audit-log?${name}=${text}`),
    `/organization/audit-log.csv?from=${text}&to=${text}`,
    `/sign-in?next=${text}&done=${text}`,
    ...['after', 'done'].map((name) => `/profile/api-keys?${name}=${text}`),
    `/people/users/${administrator.userId}?after=${text}`,
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

test('an unknown URL keeps the navigation for signed-in people, and for nobody else', async () => {
  for (const path of ['/profile/nowhere', '/people/', '/nowhere']) {
    const [member, guest] = [await browser.get(path), await new Browser(dashboard.url).get(path)];
    expect([path, member.status, guest.status]).toEqual([path, 404, 404]);
    expect([path, member.text.includes('aria-label="Main"')]).toEqual([path, true]);
    expect([path, guest.text.includes('aria-label="Main"')]).toEqual([path, false]);
  }
});
