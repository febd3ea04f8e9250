import { readdirSync, readFileSync } from 'node:fs';
import { Client } from '../../support/clients/client.ts';
import { Browser, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, fill, startDashboard, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createAccount, PASSWORD } from '../../support/data/accounts.ts';
import { giveKey, inParallel } from '../../support/data/actors.ts';
import { addRequests } from '../../support/data/key-uses.ts';

const dashboard = await useDashboard();
const actor = await createAccount(dashboard.db, { role: 'administrator' });
const browser = await browserOf(dashboard, actor);
const given = await giveKey(dashboard.db, actor);
const key = given.key;
// The page of a key has charts only if the key has been used.
await addRequests(dashboard.db, {
  organizationId: actor.scope.organizationId,
  keyId: given.id,
  at: dashboard.now(),
  successful: 1,
  refused: 1,
});
const ids = { userId: actor.userId, keyId: given.id, token: 'x'.repeat(43) };

const HEADERS = {
  'content-security-policy':
    "default-src 'none';style-src 'self';script-src 'self';connect-src 'self';img-src 'self' data:;form-action 'self';frame-ancestors 'none';base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

function expectHeaders(where: string, page: Page): void {
  expect([where, page.headers]).toEqual([where, expect.objectContaining({ ...HEADERS, 'cache-control': 'no-store' })]);
  for (const name of ['x-powered-by', 'server', 'etag', 'access-control-allow-origin']) {
    expect([where, name, page.headers[name]]).toEqual([where, name, undefined]);
  }
}

test('every response on every path, by every method, forbids framing, sniffing, caching and foreign sources', async () => {
  // The attack: a page without these headers is framed or cached, or runs an injected script.
  const guest = new Browser(dashboard.url);
  await inParallel([...dashboard.paths, '/profile/nothing', '/people/', '/nothing'], async (pattern) => {
    if (pattern.startsWith('/assets/')) return;
    const path = fill(pattern, ids);
    expectHeaders(`GET ${path}`, await browser.get(path));
    expectHeaders(`HEAD ${path}`, await guest.send('HEAD', path));
    if (pattern === '/' || pattern === '/nothing') return;
    expectHeaders(`POST ${path}`, await browser.post(path, { form_token: 'wrong' }));
    const put = await guest.send('PUT', path);
    expectHeaders(`PUT ${path}`, put);
    if (put.status === 405) expect([path, put.headers['allow']]).toEqual([path, expect.stringMatching(/GET|POST/)]);
  });
});

test('every asset may be cached for ever and has the same protective headers', async () => {
  // The attack: an image that contains a script and is opened on its own, or a file that is interpreted as another type.
  const files = readdirSync(new URL('../../../src/dashboard/assets', import.meta.url));
  const paths = dashboard.paths.filter((path) => path.startsWith('/assets/'));
  expect(paths).toHaveLength(files.length);
  for (const path of paths) {
    const file = await new Browser(dashboard.url).get(path);
    expect([path, file.status, file.headers]).toEqual([
      path,
      200,
      expect.objectContaining({ ...HEADERS, 'cache-control': 'public, max-age=31536000, immutable' }),
    ]);
    expect(file.setCookies).toEqual([]);
  }
  for (const path of [
    '/assets/',
    '/assets/../routes.ts',
    '/assets/%2e%2e/routes.ts',
    '/assets/dashboard.js',
    '/assets/..%2f..%2fapp.ts',
  ]) {
    const status = (await new Browser(dashboard.url).get(path)).status;
    expect([path, status]).toEqual([path, 404]);
  }
});

test('no page contains an inline script, style or event handler, or anything from another host', async () => {
  // The attack: running injected code, which a policy that allows inline code would allow.
  for (const pattern of dashboard.paths) {
    const page = await browser.get(fill(pattern, ids));
    if (page.headers['content-type']?.startsWith('text/html') !== true) continue;
    expect([pattern, page.text]).toEqual([
      pattern,
      expect.not.stringMatching(/<script(?! src="\/)|<style| style="| on[a-z]+="/),
    ]);
    expect([pattern, page.text]).toEqual([pattern, expect.not.stringMatching(/(href|src|action)="(https?:)?\/\//)]);
  }
});

test('the API accepts no session, and the dashboard accepts no key', async () => {
  // The attack: another site calls the API with the visitor’s cookie, or a stolen API key opens the dashboard.
  const cookie = `charter=${browser.cookies.get('charter')}`;
  for (const path of ['/api/key', '/api/parent_programs']) {
    const response = await new Client(dashboard.url).get(path, { headers: { Cookie: cookie } });
    expect([path, response.status, response.headers['set-cookie']]).toEqual([path, 401, undefined]);
  }
  const program = await browser.post('/api/parent_programs', { name: 'Forged' });
  expect([program.status, program.headers['content-type']]).toEqual([401, expect.stringContaining('application/json')]);
  const keyed = new Browser(dashboard.url, { headers: { Authorization: `Bearer ${key}` } });
  for (const token of [key, encodeURIComponent(key)]) keyed.cookies.set('charter', token);
  for (const path of dashboard.paths.filter((each) => /^\/(profile|people|organization)/.test(each))) {
    const response = await keyed.get(fill(path, ids));
    expect([path, response.status, response.headers['location']]).toEqual([
      path,
      303,
      expect.stringMatching(/^\/sign-in/),
    ]);
  }
});

test('the contract has no dashboard path, and the dashboard has no path of the contract', async () => {
  // The attack: creating keys with a leaked key, through an API operation that manages keys.
  const contract = readFileSync(new URL('../../../openapi/openapi.yaml', import.meta.url), 'utf8');
  const paths = [...contract.matchAll(/^ {2}(\/\S*):/gm)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(0);
  for (const path of paths) expect(path).toMatch(/^\/api\//);
  for (const path of dashboard.paths) expect(path).not.toMatch(/^\/api(\/|$)/);
});

test('the dashboard reports errors with the same HTML page whatever Accept asks for, and the API responds with JSON', async () => {
  // The attack: provoking errors to learn file paths.
  for (const [path, status] of [
    ['/profile/none', 404],
    ['/people/users/none', 404],
    ['/profile/api-keys/x/rotate', 404],
  ] as const) {
    const page = await browser.get(path);
    expect([path, page.status, page.headers['content-type']]).toEqual([path, status, 'text/html; charset=utf-8']);
    expect(wordsOf(page)).not.toMatch(/node_modules|\.ts\b|at \w+ \(|Prisma/);
    expect(page.headers['x-request-id']).toMatch(/^[\w-]{36}$/);
  }
  const api = await browser.get('/api/nothing');
  expect([api.status, api.headers['content-type']]).toEqual([404, expect.stringContaining('application/json')]);
  const wrong = await new Browser(dashboard.url).signIn(actor.email, `${PASSWORD}x`);
  expect(wrong.text).not.toContain(PASSWORD);
});

test('20 kB of cookies get a page that speaks of cookies, for every method, and nothing is done', async () => {
  const laden = await browserOf(dashboard, actor);
  for (let i = 0; i < 10; i += 1) laden.cookies.set(`other-${i}`, 'x'.repeat(2000));
  for (const page of [
    await laden.get('/sign-in'),
    await laden.get('/profile'),
    await laden.post('/profile/api-keys/new', {}),
  ]) {
    expectHeaders('cookies', page);
    expect([page.status, page.headers['content-type']]).toEqual([431, 'text/html; charset=utf-8']);
    expect(wordsOf(page)).toContain('Your browser sends too many cookies');
    expect(wordsOf(page)).toContain('Delete the cookies of this site');
  }
  // The page that asks the user to delete cookies needs its style sheet.
  const [, style = ''] = /href="(\/assets\/[^"]+\.css)"/.exec((await laden.get('/sign-in')).text) ?? [];
  expect((await laden.get(style)).status).toBe(200);
  for (let i = 0; i < 3; i += 1) laden.cookies.delete(`other-${i}`);
  expect((await laden.get('/profile')).status).toBe(200);
});

/** Returns the server's own URL, as the curl command beside a new key shows it. */
async function curlLineOf(options: { trustedProxies?: readonly string[]; publicUrl?: string }): Promise<string> {
  await using proxied = await startDashboard({ databaseUrl: dashboard.databaseUrl, ...options });
  const headers = { 'X-Forwarded-Proto': 'https', Host: 'charter.example.org' };
  const own = await browserOf(proxied, await createAccount(proxied.db), headers);
  const shown = await own.submit('/profile/api-keys/new', { name: 'Ours' }, '/profile/api-keys');
  return /"(https?:[^"]*)"/.exec(wordsOf(shown))?.[1] ?? '';
}

test.each([
  // The attack: a client sends X-Forwarded-Proto to change our links and cookies.
  ['nobody is trusted', {}, 'http://charter.example.org'],
  ['another address is trusted', { trustedProxies: ['192.0.2.1', '10.0.0.0/8'] }, 'http://charter.example.org'],
  ['the sender is trusted', { trustedProxies: ['127.0.0.1'] }, 'https://charter.example.org'],
  [
    'PUBLIC_URL says otherwise',
    { trustedProxies: ['127.0.0.1'], publicUrl: 'http://public.example.org' },
    'http://public.example.org',
  ],
])('X-Forwarded-Proto counts only from a trusted address: %s', async (_, options, origin) => {
  expect(await curlLineOf(options)).toBe(`${origin}/api/parent_programs?limit=2`);
});
