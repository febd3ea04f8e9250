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
