import type { Actor } from '../../../src/domain/actor.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';
import { type Browser, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';
import { textOf } from '../../support/http/forms.ts';

const dashboard = await useDashboard();
const people = await createPeople(dashboard.db);
const browser = await browserOf(dashboard, people.administrator);

type Rows = { count: number; createdBy: Actor; isActive: boolean };

/** Inserts keys one minute apart; those that are not active are revoked. */
async function insertKeys({ scope, userId }: Actor, { count, createdBy, isActive }: Rows): Promise<void> {
  await dashboard.db.pool.query(
    `insert into api_keys (organization_id, id, user_id, created_by_user_id, name, name_key, key_hash, key_prefix, permissions, created_at, revoked_at)
     select $1::uuid, gen_random_uuid(), $2::uuid, $3, 'Key ' || i || '.', sha256(('Key ' || i)::bytea),
            sha256(($2::uuid::text || i)::bytea),
            'charter_live_Abcd', '{parent_programs:read}', now() - i * interval '1 minute', case when $4 then null else now() end
     from generate_series(1, $5::int) i`,
    [scope.organizationId, userId, createdBy.userId, isActive, count],
  );
}

/** The key names on each list page, found by following the link to the next page. */
async function walk(browser: Browser, start: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let path: string | undefined = start; path !== undefined && pages.length < 20; ) {
    const page = await browser.get(path);
    expect(page.status).toBe(200);
    pages.push([...page.text.matchAll(/class="key-name">([^<]*)</g)].map(([, name = '']) => name));
    const [, next] = /<a [^>]*href="([^"]*)"[^>]*>Next page</.exec(page.text) ?? [];
    path = next === undefined ? undefined : textOf(next).replace(/#.*/, '');
  }
  return pages;
}

test('the list pages reach all of 600 ended keys, in both directions, and the tabs have their totals', async () => {
  // The bug: the list stopped at 500 without saying so, and the oldest keys could not be found.
  const { member } = people;
  await insertKeys(member, { count: 600, createdBy: member, isActive: false });
  await giveKey(dashboard.db, member, { name: 'Active' });
  const path = `/people/users/${member.userId}/api-keys`;
  expect(await walk(browser, path)).toEqual([['Active']]);
  expect(wordsOf(await browser.get(path))).toContain('Active (1) Ended (600)');
  const pages = await walk(browser, `${path}?state=ended`);
  expect(pages.flat()).toEqual(Array.from({ length: 600 }, (_, i) => `Key ${i + 1}.`));
  expect(pages.length).toBe(12);
  const [, second = ''] =
    /<a [^>]*href="([^"]*)"[^>]*>Next page</.exec((await browser.get(`${path}?state=ended`)).text) ?? [];
  const page = await browser.get(textOf(second));
  expect(wordsOf(page)).toContain('50 of 600');
  const [, previous = ''] = /<a [^>]*href="([^"]*)" rel="prev"/.exec(page.text) ?? [];
  expect((await walk(browser, textOf(previous)))[0]).toEqual(pages[0]);
  await insertKeys(people.other, { count: 1001, createdBy: member, isActive: false });
  expect(wordsOf(await browser.get(`/people/users/${people.other.userId}/api-keys`))).toContain('Ended (1,000+)');
});

test('a list page past the end says so and links back', async () => {
  const { viewer } = people;
  const path = `/people/users/${viewer.userId}/api-keys?state=ended`;
  await insertKeys(viewer, { count: 51, createdBy: viewer, isActive: false });
  const [, next = ''] = /<a [^>]*href="([^"]*)"[^>]*>Next page</.exec((await browser.get(path)).text) ?? [];
  await dashboard.db.prisma.apiKey.deleteMany({ where: { userId: viewer.userId, name: 'Key 51.' } });
  const page = await browser.get(textOf(next));
  expect([page.status, wordsOf(page)]).toEqual([200, expect.stringContaining('There are no more API keys')]);
  expect(page.text).toContain(`href="${path}"`);
  expect(wordsOf(page)).not.toContain('No API keys yet');
});

test('a list page past the end does not say that no key matches, and does not show an empty table', async () => {
  // The bug: the only key of the second page ended, and a reload said that no active key matched, below "Active (50)".
  const { administrator, member, other } = await createPeople(dashboard.db);
  await insertKeys(member, { count: 51, createdBy: other, isActive: true });
  const reading = await browserOf(dashboard, administrator);
  const lists = ['/organization/api-keys', `/people/users/${other.userId}`];
  const second = await Promise.all(
    lists.map(async (path) => {
      const [, next = ''] = /<a [^>]*href="([^"#]*)[^"]*"[^>]*>Next page</.exec((await reading.get(path)).text) ?? [];
      return textOf(next);
    }),
  );
  await dashboard.db.prisma.apiKey.deleteMany({ where: { userId: member.userId } });
  const pages = await Promise.all(second.map((path) => reading.get(path)));
  expect(pages.map(({ status }) => status)).toEqual([200, 200]);
  expect(pages.map(wordsOf)).toEqual([
    expect.stringContaining('There are no more API keys. First page'),
    expect.stringContaining('There are no more keys. First page'),
  ]);
  for (const { text } of pages) expect(text).not.toMatch(/No active API key|<table/);
});

test('numbers of keys and of refused uses have thousands separators', async () => {
  const { administrator, member } = await createPeople(dashboard.db);
  await insertKeys(member, { count: 1200, createdBy: member, isActive: false });
  const { prisma } = dashboard.db;
  await prisma.apiKey.updateMany({
    where: { userId: member.userId, name: 'Key 1.' },
    data: { refusedUses: 1_234_567 },
  });
  await prisma.apiKey.updateMany({ where: { userId: member.userId, name: 'Key 2.' }, data: { refusedUses: 1 } });
  const reading = await browserOf(dashboard, administrator);
  expect(wordsOf(await reading.get('/organization/api-keys?state=ended'))).toContain('Active (0) Ended (1,200)');
  const keys = wordsOf(await reading.get(`/people/users/${member.userId}/api-keys?state=ended`));
  for (const words of ['Refused 1,234,567 times since', 'Refused 1 time since']) expect(keys).toContain(words);
});

test('a key’s own page offers its actions, however deep the key is in the list', async () => {
  const { manager } = people;
  await insertKeys(manager, { count: 120, createdBy: manager, isActive: false });
  const { id } = await giveKey(dashboard.db, manager, { name: 'Deep' });
  const data = { expiresAt: new Date(1000), createdAt: new Date(0) };
  await dashboard.db.prisma.apiKey.updateMany({ where: { id }, data });
  const keys = `/people/users/${manager.userId}/api-keys`;
  expect((await walk(browser, `${keys}?state=ended`)).at(-1)?.at(-1)).toBe('Deep');
  expect((await browser.submit(`${keys}/${id}/revoke`)).status).toBe(303);
});

test('all 120 keys that a deactivated user made for others are listed for review, page by page', async () => {
  // The bug: a person who leaves knows all of these keys, and the review left some out.
  const { administrator, other, member } = await createPeople(dashboard.db);
  await insertKeys(member, { count: 120, createdBy: other, isActive: true });
  await dashboard.db.prisma.user.updateMany({ where: { id: other.userId }, data: { deactivatedAt: new Date() } });
  const pages = await walk(await browserOf(dashboard, administrator), `/people/users/${other.userId}`);
  expect(pages.map((page) => page.length)).toEqual([50, 50, 20]);
  expect(pages.flat()).toEqual(Array.from({ length: 120 }, (_, i) => `Key ${i + 1}.`));
});
