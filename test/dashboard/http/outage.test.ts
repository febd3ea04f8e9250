import { Browser, fillForm, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, fill, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createAccount } from '../../support/data/accounts.ts';
import { proxyDatabase } from '../../support/postgres/database-proxy.ts';
import { useScratchDatabase } from '../../support/postgres/postgres.ts';
import { until } from '../../support/wait.ts';

const scratch = await useScratchDatabase();
const proxy = await proxyDatabase(scratch.url);
afterAll(() => proxy.stop());
const dashboard = await useDashboard({ databaseUrl: proxy.url, publicUrl: 'http://charter.example.org' });

test('without the database every page gets 503, nobody is signed out, and service resumes with the database', async () => {
  // The risk: during an outage, a page has status 200, asks signed-in people for their password, or reveals the cause.
  const account = await createAccount(dashboard.db, { role: 'administrator' });
  const [browser, guest] = [await browserOf(dashboard, account), new Browser(dashboard.url)];
  const create = fillForm(await browser.form('/profile/api-keys/new', '/profile/api-keys'), { name: 'Outage' });
  const enter = fillForm(await guest.form('/sign-in'), { email: account.email, password: 'wrong' });
  await proxy.stop();
  const { organizationId } = account.scope;
  const ids = { organizationId, userId: account.userId, keyId: account.userId, token: 'x'.repeat(43) };
  // The excluded paths are assets, and paths that accept only forms.
  for (const pattern of dashboard.paths.filter((each) => !/^\/(assets|sign-in\/passkey)(\/|$)|\/logout$/.test(each))) {
    const path = fill(pattern, ids);
    const page = await browser.get(path);
    const isStatic = /^\/(forgotten-password|report-key|sign-in\/second-factor)$/.test(path);
    // Static pages need no database.
    expect([path, page.status]).toEqual([path, isStatic ? 200 : 503]);
    if (isStatic) continue;
    expect([path, page.headers]).toEqual([
      path,
      expect.objectContaining({ 'retry-after': '5', 'cache-control': 'no-store', 'x-request-id': expect.any(String) }),
    ]);
    expect([path, page.setCookies.filter((line) => /^charter=/.test(line))]).toEqual([path, []]);
    expect(wordsOf(page)).toMatch(/cannot answer at the moment/);
    expect(page.text).not.toMatch(/ECONN|127\.0\.0\.1|postgres|Prisma|select |Connection|\.ts:/i);
  }
  const posts = [await browser.post('/profile/api-keys', create), await guest.post('/sign-in', enter)];
  expect(posts.map(({ status }) => status)).toEqual([503, 503]);
  await proxy.start();
  await until('the database to be reached again', async () => (await browser.get('/profile')).status === 200);
  expect((await browser.post('/profile/api-keys', create)).status).toBe(200);
  expect((await guest.post('/sign-in', enter)).status).toBe(422);
});
