import { safeNext } from '../../../src/dashboard/http/addresses.ts';
import { Browser } from '../../support/dashboard/dashboard.ts';
import { browserOf, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createAccount, PASSWORD } from '../../support/data/accounts.ts';

const dashboard = await useDashboard();

const ELSEWHERE = [
  ...[
    '//evil.example',
    'https://evil.example',
    '\\\\evil.example',
    '/\\evil.example',
    '\\/evil.example',
    '///evil.example',
  ],
  ...['http:evil.example', 'https:/evil.example', 'javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,x'],
  ...['/\t/evil.example', '/\n/evil.example', '\u0001//evil.example', ' //evil.example', '//evil.example/profile'],
  ...[
    'https://evil.example/profile',
    'https://user@ours.invalid/profile',
    '//ours.invalid:8080/profile',
    '//evil.example/people/users',
  ],
  ...['/profile/..//evil.example', '/profile/../..//evil.example', '/people/%2e%2e//evil.example', '/profileevil'],
  ...['/sign-in', '/sign-out', '/api/parent_programs', '/', '', 'profile@evil.example', '/%0d%0aSet-Cookie:x=1'],
];

/** Resolves Location as a browser does on one of our pages. */
function follow(location: string | undefined): URL {
  return new URL(location ?? '', 'https://charter.example.org/sign-in');
}

// The attack: a link to our sign-in page that redirects to a copy of our pages on another host.
test.each(ELSEWHERE)('next=%j leads to the profile', (next) => {
  expect(safeNext(next)).toBe('/profile');
});

test('the sign-in leads to the profile in place of another host, by a link, by a form and if somebody is signed in', async () => {
  const next = '/profile/..//evil.example';
  const account = await createAccount(dashboard.db);
  const guest = new Browser(dashboard.url);
  const byLink = await guest.signIn(account.email, PASSWORD, next);
  const link = `/sign-in?next=${encodeURIComponent(next)}`;
  const forged = new Browser(dashboard.url);
  const fields = new Map((await forged.form(link, '/sign-in')).fields);
  expect(fields.get('next')).toBe('/profile');
  const form_token = fields.get('form_token');
  const byForm = await forged.post('/sign-in', { form_token, email: account.email, password: PASSWORD, next });
  const signedIn = await guest.get(link);
  for (const response of [byLink, byForm, signedIn]) {
    expect([response.status, response.headers['location']]).toEqual([303, '/profile']);
  }
});

test.each(['/profile\r\nSet-Cookie: planted=1', '/profile?x=\u2028\n\nbody'])(
  'line breaks in next=%j add no header',
  async (next) => {
    // The attack: a value that ends the header, so that the rest becomes a header or a body of the attacker’s choice.
    const response = await new Browser(dashboard.url).signIn((await createAccount(dashboard.db)).email, PASSWORD, next);
    expect(response.status).toBe(303);
    expect(response.headers['location']).toMatch(/^\/(profile|people)[\x21-\x7e]*$/);
    expect([response.headers['x-planted'], response.setCookies.length, response.text]).toEqual([undefined, 1, '']);
  },
);

test('after sign-in, a person returns to the requested page on our own host', async () => {
  // The attack: a path that, after the redirect, resolves to another host.
  const account = await createAccount(dashboard.db, { role: 'administrator' });
  for (const path of [
    '/people/users?search=%22%3E&after=x',
    '/profile/api-keys',
    '/organization/audit-log?from=2026-01-01',
  ]) {
    const guest = new Browser(dashboard.url);
    const asked = await guest.get(path);
    expect(asked.status).toBe(303);
    const form = await guest.form(asked.headers['location'] ?? '', '/sign-in');
    const response = await guest.post('/sign-in', {
      ...Object.fromEntries(form.fields),
      email: account.email,
      password: PASSWORD,
    });
    const to = follow(response.headers['location']);
    expect([to.origin, to.pathname]).toEqual(['https://charter.example.org', path.split('?')[0]]);
    expect((await guest.get(response.headers['location'] ?? '')).status).toBe(200);
  }
});

test('no page links to a host that the request names', async () => {
  // The attack: a cached page or an e-mail with a link whose host came from Host or X-Forwarded-Host.
  const browser = await browserOf(dashboard, await createAccount(dashboard.db, { role: 'administrator' }));
  for (const path of dashboard.paths.filter((each) => !each.includes(':'))) {
    const page = await browser.get(path, {
      Host: 'evil.example',
      'X-Forwarded-Host': 'evil.example',
      Forwarded: 'host=evil.example',
    });
    expect([path, JSON.stringify(page).includes('evil.example')]).toEqual([path, false]);
  }
});
