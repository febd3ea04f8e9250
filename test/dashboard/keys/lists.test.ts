import type { Actor } from '../../../src/domain/audit/actor.ts';
import { formatKey, hashKey } from '../../../src/domain/keys/api-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { type Browser, expectToSay, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { textOf } from '../../support/dashboard/forms.ts';
import { createActor, createPeople, giveKey, type People, READ } from '../../support/data/actors.ts';

const dashboard = await useDashboard();
const { db } = dashboard;

const KEYS = '/organization/api-keys';
const DAY_MS = 86_400_000;

const namesOn = ({ text }: Page) => [...text.matchAll(/class="key-name">([^<]*)</g)].map(([, name = '']) => name);

async function usedAgo(id: string, ms: number) {
  await db.prisma.apiKey.updateMany({ where: { id }, data: { lastUsedAt: new Date(Date.now() - ms) } });
}

function search(browser: Browser, change: Record<string, string>) {
  return browser.submit(KEYS, change);
}

/** Returns the names that the list shows for the filters, after the redirect. */
async function found(browser: Browser, change: Record<string, string>): Promise<string[]> {
  const { status, headers } = await search(browser, change);
  expect([change, status]).toEqual([change, 303]);
  return namesOn(await browser.get(headers['location'] ?? ''));
}

async function withKeys() {
  const people = await createPeople(db);
  const { administrator, member, viewer } = people;
  const keys = {
    nightly: await giveKey(db, administrator, { name: 'Nightly import' }),
    reports: await giveKey(db, viewer, { name: 'Reports', permissions: READ }),
    soon: await giveKey(db, member, { name: 'Ends soon', lifeDays: 2 }),
    gone: await giveKey(db, member, { name: 'Gone' }),
  };
  orThrow(await revokeKey(db, administrator, { keyId: keys.gone.id, userId: member.userId }));
  await db.prisma.apiKey.updateMany({
    where: { id: keys.soon.id },
    data: { createdAt: new Date(Date.now() - 100 * DAY_MS) },
  });
  await usedAgo(keys.reports.id, 5 * DAY_MS);
  await usedAgo(keys.nightly.id, 60_000);
  return { people, keys };
}

const { people, keys } = await withKeys();
const browsers = {
  administrator: await browserOf(dashboard, people.administrator),
  manager: await browserOf(dashboard, people.manager),
};
const other = await withKeys();

test.each(['administrator', 'manager'] as const)(
  'the %s sees every active key of the organization with its user, the last used first, and the counts',
  async (role) => {
    const page = await browsers[role].get(KEYS);
    expect([page.status, namesOn(page)]).toEqual([200, ['Nightly import', 'Reports', 'Ends soon']]);
    const words = wordsOf(page);
    for (const text of ['Active (3)', 'Ended (1)', people.viewer.email, 'No use recorded yet', '5 days ago'])
      expect(words).toContain(text);
    expect(namesOn(await browsers[role].get(`${KEYS}?state=ended`))).toEqual(['Gone']);
    expect(page.text).toContain(`href="/people/users/${people.viewer.userId}/api-keys/${keys.reports.id}?back=%3F"`);
    for (const { key } of Object.values(keys)) expect(page.text).not.toContain(key.slice(17));
  },
);

test('the list is searched by name or prefix, and filtered by user, permission, use, expiry and state', async () => {
  const browser = browsers.manager;
  expect(await found(browser, { search: 'NIGHTLY' })).toEqual(['Nightly import']);
  expect(await found(browser, { search: keys.reports.key.slice(0, 17) })).toEqual(['Reports']);
  expect(await found(browser, { search: keys.reports.key.slice(13, 17) })).toEqual(['Reports']);
  expect(await found(browser, { search: '%' })).toEqual([]);
  expect(await found(browser, { holder: people.viewer.email.toUpperCase() })).toEqual(['Reports']);
  expect(await found(browser, { holder: 'the administrator' })).toEqual(['Nightly import']);
  // A domain in full-width letters is equal to the domain in ASCII letters.
  const [local, domain = ''] = people.viewer.email.split('@');
  expect(await found(browser, { holder: `${local}@${domain.replace('e', '\uff45')}` })).toEqual(['Reports']);
  expect(await found(browser, { permission: 'parent_programs:write' })).toEqual(['Nightly import', 'Ends soon']);
  expect(await found(browser, { use: 'never' })).toEqual(['Ends soon']);
  expect(await found(browser, { expiry: 'soon' })).toEqual(['Ends soon']);
  expect(await found(browser, { order: 'oldest' })).toEqual(['Ends soon', 'Reports', 'Nightly import']);
  expect(await found(browser, { state: 'ended', use: 'never', holder: 'member' })).toEqual(['Gone']);
});

test('a whole key leads to its own page, wherever it is pasted, and appears in no URL, page or log', async () => {
  // The attack: reading a leaked key in the history, in a proxy or in a log, after somebody searched for it.
  for (const [path, back] of [
    [KEYS, '?back=%3F'],
    ['/people/users', ''],
  ] as const) {
    for (const pasted of [
      keys.nightly.key,
      `  Authorization: Bearer ${keys.nightly.key}\n`,
      keys.nightly.key.slice('charter_live_'.length),
    ]) {
      const response = await browsers.manager.submit(path, { search: pasted });
      expect([path, response.status, response.headers['location']]).toEqual([
        path,
        303,
        `/people/users/${people.administrator.userId}/api-keys/${keys.nightly.id}${back}`,
      ]);
    }
  }
  // The risk: somebody types the key into the URL by hand.
  const secret = keys.nightly.key.slice(17);
  for (const query of ['search', 'holder']) {
    const page = await browsers.manager.get(`${KEYS}?${query}=${keys.nightly.key}`);
    expect(page.text).not.toContain(secret);
  }
  expect((await browsers.manager.get(`/people/users?search=${keys.nightly.key}`)).text).not.toContain(secret);
  expect(dashboard.logged.length).toBeGreaterThan(5);
  for (const line of dashboard.logged) {
    expect(line).not.toContain(secret);
    expect(line).not.toContain(hashKey(keys.nightly.key));
  }
});

test('an ended key is found by the whole key, too', async () => {
  const { headers } = await search(browsers.manager, { search: keys.gone.key });
  expect(wordsOf(await browsers.manager.get(headers['location'] ?? ''))).toContain('was revoked by The administrator');
});

test('a key that the organization does not have leads to the keys with its prefix, and says so', async () => {
  const prefix = keys.nightly.key.slice(0, 17);
  const similar = formatKey('live', keys.nightly.key.slice(13, 17).padEnd(40, '0'));
  const mistyped = `${keys.nightly.key.slice(0, -1)}${keys.nightly.key.endsWith('0') ? '1' : '0'}`;
  for (const [text, notice] of [
    [similar, 'No API key of your organization is exactly this key.'],
    [mistyped, 'This key is mistyped or incomplete'],
    [keys.nightly.key.slice(0, 30), ''],
  ] as const) {
    const location = (await search(browsers.manager, { search: text })).headers['location'] ?? '';
    expect(location).toContain(`search=${prefix}`);
    expect(location).not.toContain(text.slice(0, 18));
    const page = await browsers.manager.get(location);
    expect([text, namesOn(page), wordsOf(page)]).toEqual([text, ['Nightly import'], expect.stringContaining(notice)]);
  }
});

test('a key of another organization gets the same response as a key that does not exist', async () => {
  // The attack: finding out whether a key that was found somewhere works, and whose key it is.
  const theirs = other.keys.nightly.key;
  const [known, unknown] = [
    (await search(browsers.administrator, { search: theirs })).headers['location'] ?? '',
    (await search(browsers.administrator, { search: formatKey('live', theirs.slice(13, 17).padEnd(40, '0')) })).headers[
      'location'
    ],
  ];
  expect(known).toBe(unknown);
  const page = await browsers.administrator.get(known);
  expect(namesOn(page)).toEqual([]);
});

const linksOn = ({ text }: Page) => [...text.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => textOf(href));

test('each key has the menu of what the role may do with it', async () => {
  for (const [role, own] of [
    ['administrator', ['rotate', 'rename', 'restrict', 'move', 'revoke']],
    ['manager', ['revoke']],
  ] as const) {
    const links = linksOn(await browsers[role].get(`${KEYS}?search=Nightly`));
    const start = `/people/users/${people.administrator.userId}/api-keys/${keys.nightly.id}/`;
    const actions = links
      .filter((link) => link.startsWith(start))
      .map((link) => link.slice(start.length).split('?')[0]);
    expect([role, actions]).toEqual([role, own]);
  }
  const members = linksOn(await browsers.manager.get(`${KEYS}?search=Ends`)).filter((link) => /\/rotate/.test(link));
  expect(members).toHaveLength(1);
  const ended = await browsers.administrator.get(`${KEYS}?state=ended`);
  expect([namesOn(ended), wordsOf(ended).includes('Actions for key')]).toEqual([['Gone'], false]);
});

test('a key that is opened from the list leads back to it, with its filters, from each of its pages', async () => {
  const browser = browsers.administrator;
  const list = `${KEYS}?search=Reports&order=oldest`;
  const page = linksOn(await browser.get(list)).find((link) => link.includes(`${keys.reports.id}?`)) ?? '';
  const from = (action: string) => page.replace('?', `/${action}?`);
  for (const path of [page, from('rotate'), from('rename'), from('move'), from('revoke')])
    expect([path, linksOn(await browser.get(path))]).toEqual([path, expect.arrayContaining([list])]);
  const renamed = await browser.submit(from('rename'), { name: 'Reports, monthly' });
  expect(renamed.headers['location']).toMatch(`${list}&done=renamed&key=${keys.reports.id}`);
  const shown = await browser.get(renamed.headers['location'] ?? '');
  expect([namesOn(shown), wordsOf(shown)]).toEqual([
    ['Reports, monthly'],
    expect.stringContaining('The key is now named Reports, monthly.'),
  ]);
  const refused = await browser.submit(from('rename'), { name: '' });
  expect([refused.status, linksOn(refused)]).toEqual([422, expect.arrayContaining([list])]);
  await browser.submit(from('rename'), { name: 'Reports' });
});

test('the parameter "back" leads nowhere but to the list', async () => {
  // The attack: a link to our page whose "back" leads to a page of the attacker.
  const path = `/people/users/${people.viewer.userId}/api-keys/${keys.reports.id}`;
  const outside = (page: Page) => linksOn(page).filter((link) => /evil|^(?!\/|#)|^\/\//.test(link));
  for (const back of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '?@evil.example',
    '?next=//evil.example',
  ]) {
    const page = await browsers.administrator.get(`${path}?back=${encodeURIComponent(back)}`);
    expect([back, page.status, outside(page)]).toEqual([back, 200, []]);
  }
  // A whole key in the parameter is truncated to its prefix.
  const leaked = await browsers.administrator.get(`${path}?back=${encodeURIComponent(`?search=${keys.nightly.key}`)}`);
  expect(leaked.text).not.toContain(keys.nightly.key.slice(17));
});

type Filled = { readonly browser: Browser; readonly names: readonly string[]; readonly byExpiry: readonly string[] };

/**
 * Creates an organization with 120 active keys of twelve users. All keys expire soon. 60 keys were used, in pairs with the same
 * time of use, and 60 keys were never used.
 */
async function manyKeys(): Promise<Filled> {
  const many: People = await createPeople(db);
  for (let i = 0; i < 12; i += 1) {
    const { userId } = await createActor(db, many.scope, 'member', `Person ${i}`);
    await db.pool.query(
      `insert into api_keys (organization_id, id, user_id, name, name_key, key_hash, key_prefix, permissions, last_used_at,
                             created_at, expires_at)
       select $1::uuid, gen_random_uuid(), $2::uuid, 'Key ' || $3::int || ' ' || i, sha256(('Key ' || i)::bytea),
              sha256(($2::uuid::text || i)::bytea), 'charter_live_Abcd', '{parent_programs:read}',
              case when i <= 5 then timestamptz '2026-01-01' + (($3::int * 5 + i) / 2) * interval '1 minute' end,
              now() - interval '100 days', date_trunc('hour', now()) + (1 + (i * 7 + $3::int) % 30) * interval '10 hours'
       from generate_series(1, 10) i`,
      [many.scope.organizationId, userId, i],
    );
  }
  const namesBy = async (order: string) => {
    const text = `select name from api_keys where organization_id = $1 order by ${order}`;
    return (await db.pool.query<{ name: string }>(text, [many.scope.organizationId])).rows.map(({ name }) => name);
  };
  return {
    browser: await browserOf(dashboard, many.manager),
    names: await namesBy('last_used_at desc nulls last, id desc'),
    byExpiry: await namesBy('expires_at, id'),
  };
}

function linkOn({ text }: Page, name: string): string | undefined {
  const [, href] = new RegExp(`<a [^>]*href="([^"]*)"[^>]*>(?:<svg.*?</svg>)?${name}<`).exec(text) ?? [];
  return href === undefined ? undefined : textOf(href);
}

test('Next page and Previous page lead through all 120 keys in both directions, each once', async () => {
  const { browser, names, byExpiry } = await manyKeys();
  for (const [start, expected] of [
    [KEYS, names],
    [`${KEYS}?order=oldest`, names.toReversed()],
    [`${KEYS}?expiry=soon`, byExpiry],
    [`${KEYS}?expiry=soon&order=latest`, names],
    [`${KEYS}?expiry=soon&order=oldest`, names.toReversed()],
  ] as const) {
    const pages: Page[] = [];
    for (let path: string | undefined = start; path !== undefined && pages.length < 9; ) {
      const page = await browser.get(path);
      expect(wordsOf(page)).toContain('Active (120)');
      expect(wordsOf(page)).toContain(`${namesOn(page).length} of 120`);
      pages.push(page);
      path = linkOn(page, 'Next page');
    }
    const forwards = pages.map(namesOn);
    expect(forwards.map(({ length }) => length)).toEqual([50, 50, 20]);
    expect(forwards.flat()).toEqual(expected);
    const backwards: string[][] = [];
    for (let page = pages.at(-1); page !== undefined; ) {
      backwards.unshift(namesOn(page));
      const previous = linkOn(page, 'Previous page');
      page = previous === undefined ? undefined : await browser.get(previous);
    }
    expect(backwards).toEqual(forwards);
  }
});

test.each([
  ['manager', 'the keys', '/organization', KEYS],
  ['administrator', 'the people', '/people', '/people/users'],
] as const)('a %s ends a leaked key with four or five clicks, by a search of %s', async (role, _, section, list) => {
  const { people: team, keys: given } = await withKeys();
  const browser = await browserOf(dashboard, team[role]);
  const start = await browser.get('/profile');
  // The first click opens the section, which shows the list.
  const first = linksOn(start).find((link) => link.startsWith(section)) ?? '';
  expect(first).toBe(list);
  // The second click sends the search.
  const found = (await browser.submit(first, { search: given.nightly.key }, list)).headers['location'] ?? '';
  const page = await browser.get(found);
  expect(wordsOf(page)).toContain(team.administrator.email);
  // The third click opens the confirmation page, and the fourth confirms. The administrator needs a fifth click, because the key
  // is their own and in use.
  const revoke = linksOn(page).find((link) => link.includes('/revoke')) ?? '';
  const confirmation = role === 'manager' ? { key_name: 'Nightly import' } : { confirmed: 'yes' };
  const revoked = await browser.submit(revoke, confirmation);
  expect(wordsOf(await browser.get(revoked.headers['location'] ?? ''))).toContain('It is refused from now on.');
  expect(await dashboard.statusOf(given.nightly.key)).toBe(401);
});

type Rows = { count: number; createdBy: Actor; isActive: boolean };

/** Inserts keys that were created one minute apart. Revokes the keys unless `isActive`. */
async function insertKeys({ scope, userId }: Actor, { count, createdBy, isActive }: Rows): Promise<void> {
  await db.pool.query(
    `insert into api_keys (organization_id, id, user_id, created_by_user_id, name, name_key, key_hash, key_prefix, permissions, created_at, revoked_at)
     select $1::uuid, gen_random_uuid(), $2::uuid, $3, 'Key ' || i || '.', sha256(('Key ' || i)::bytea),
            sha256(($2::uuid::text || i)::bytea),
            'charter_live_Abcd', '{parent_programs:read}', now() - i * interval '1 minute', case when $4 then null else now() end
     from generate_series(1, $5::int) i`,
    [scope.organizationId, userId, createdBy.userId, isActive, count],
  );
}

test('the tabs of a user’s keys have their totals, and the list links to the pages beside', async () => {
  const { administrator, member, other: crowded } = await createPeople(db);
  const browser = await browserOf(dashboard, administrator);
  await insertKeys(member, { count: 120, createdBy: member, isActive: false });
  await giveKey(db, member, { name: 'Active' });
  const path = `/people/users/${member.userId}/api-keys`;
  const active = await browser.get(path);
  expect([namesOn(active), wordsOf(active)]).toEqual([['Active'], expect.stringContaining('Active (1) Ended (120)')]);
  const first = await browser.get(`${path}?state=ended`);
  const second = await browser.get(linkOn(first, 'Next page') ?? '');
  expect([namesOn(second)[0], wordsOf(second)]).toEqual(['Key 51.', expect.stringContaining('50 of 120')]);
  expect(namesOn(await browser.get(linkOn(second, 'Previous page') ?? ''))).toEqual(namesOn(first));
  await insertKeys(crowded, { count: 1001, createdBy: member, isActive: false });
  await db.prisma.apiKey.updateMany({ where: { userId: crowded.userId, name: 'Key 1.' }, data: { refusedUses: 1234 } });
  const ended = wordsOf(await browser.get(`/people/users/${crowded.userId}/api-keys?state=ended`));
  for (const words of ['Ended (1,000+)', 'Refused 1,234 times since']) expect(ended).toContain(words);
  expect(wordsOf(await browser.get(`${KEYS}?state=ended`))).toContain('Ended (1,121)');
});

test('a list page past the end says so, links back, and does not say that there are no keys', async () => {
  // The bug: after the only key on the second page had ended, a reload said that no active key matched, below "Active (50)".
  const { administrator, member, viewer, other: maker } = await createPeople(db);
  await insertKeys(member, { count: 51, createdBy: maker, isActive: true });
  await insertKeys(viewer, { count: 51, createdBy: viewer, isActive: false });
  const reading = await browserOf(dashboard, administrator);
  const lists = [KEYS, `/people/users/${maker.userId}`, `/people/users/${viewer.userId}/api-keys?state=ended`];
  const second = await Promise.all(lists.map(async (path) => linkOn(await reading.get(path), 'Next page') ?? ''));
  await db.prisma.apiKey.deleteMany({ where: { userId: member.userId } });
  await db.prisma.apiKey.deleteMany({ where: { userId: viewer.userId, name: 'Key 51.' } });
  for (const [i, path] of second.entries()) {
    const page = await reading.get(path);
    expectToSay(page, 200, i === 1 ? 'There are no more keys. First page' : 'There are no more API keys');
    expect(page.text).toContain(`href="${lists[i]}"`);
    expect(page.text).not.toMatch(/No active API key|No API keys yet|<table/);
  }
});
