import type { ResultCounts } from '../../../src/domain/keys/key-usage.ts';
import { renameKey } from '../../../src/service/keys/rename-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { expectToSay, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createPeople, giveKey, type People } from '../../support/data/actors.ts';
import { addRequests } from '../../support/data/key-uses.ts';

const dashboard = await useDashboard();
const { db } = dashboard;
const people = await createPeople(db);
const { administrator, manager, member } = people;
const { userId } = member;
// Revokes all keys before each test, because the tests together create more keys than one user may have.
beforeEach(() =>
  db.prisma.apiKey.updateMany({ where: { userId, revokedAt: null, rotatedAt: null }, data: { revokedAt: new Date() } }),
);

const pageOf = (id: string) => `/people/users/${userId}/api-keys/${id}`;
const linksOn = ({ text }: Page) => [...text.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);

/** Creates a key of the member and rotates it `rotations` times. Returns the ids of all keys, the oldest first. */
async function rotatedKey(name: string, rotations: number): Promise<string[]> {
  const ids = [(await giveKey(db, member, { name })).id];
  for (let i = 0; i < rotations; i += 1) {
    const keyId = ids.at(-1) ?? '';
    ids.push(orThrow(await rotateKey(db, manager, { keyId, userId, environment: 'live' })).id);
  }
  return ids;
}

test('a key’s page shows its user, creator, permissions, life, prefix and what can be done with it', async () => {
  const { id, key } = await giveKey(db, member, { name: 'Nightly import' });
  const browser = await browserOf(dashboard, manager);
  const page = await browser.get(pageOf(id));
  const words = wordsOf(page);
  expect(page.status).toBe(200);
  for (const text of [
    ...['Nightly import', key.slice(0, 17), 'The member', member.email, 'Member', 'by an operator'],
    ...['parent_programs:read', 'parent_programs:write', 'No use recorded yet', 'Active', 'Expires'],
  ])
    expect(words).toContain(text);
  expect(page.text).not.toContain(key.slice(17));
  expect(linksOn(page)).toEqual(
    expect.arrayContaining([`${pageOf(id)}/rotate`, `${pageOf(id)}/rename`, `${pageOf(id)}/revoke`]),
  );
});

test('the rotations of a key are linked in both directions', async () => {
  const [first = '', second = '', third = ''] = await rotatedKey('Rotated', 2);
  const browser = await browserOf(dashboard, manager);
  for (const [id, others] of [
    [first, [second, third]],
    [second, [first, third]],
    [third, [first, second]],
  ] as const) {
    const page = await browser.get(pageOf(id));
    expect(linksOn(page)).toEqual(expect.arrayContaining(others.map(pageOf)));
    expect(page.text.match(/<tr role="row"/g)).toHaveLength(4);
  }
  const [before, after] = [wordsOf(await browser.get(pageOf(first))), wordsOf(await browser.get(pageOf(third)))];
  expect(before).toMatch(/was rotated by The manager, .* Replaced by charter_live_/);
  expect(after).toMatch(/by The manager, who rotated charter_live_/);
});

test('the page of an ended key says when and how it ended, and not that it expires', async () => {
  // The risk: a revoked key looks active, because its page shows an expiry in the future.
  const browser = await browserOf(dashboard, manager);
  const [rotated = ''] = await rotatedKey('Ended', 1);
  const { id: revoked } = await giveKey(db, member);
  orThrow(await revokeKey(db, manager, { keyId: revoked, userId }));
  const { id: expired } = await giveKey(db, member);
  await db.prisma.apiKey.updateMany({ where: { id: expired }, data: { expiresAt: new Date('2026-02-03T04:05:06Z') } });
  for (const [id, how, when] of [
    [rotated, 'was rotated by The manager, ', /Would have expired \d+ \w{3} \d{4}, \d\d:\d\d UTC/],
    [revoked, 'was revoked by The manager, ', /Would have expired \d+ \w{3} \d{4}, \d\d:\d\d UTC/],
    [expired, 'has expired, 3 Feb 2026, 04:05 UTC', /Expired 3 Feb 2026, 04:05 UTC/],
  ] as const) {
    const page = await browser.get(pageOf(id));
    expect(wordsOf(page)).toContain(`This key ${how}`);
    // Looks at one section only, because the table of rotations says when the successor expires.
    const [about = ''] = /<section[^>]* aria-labelledby="about"[\s\S]*?<\/section>/.exec(page.text) ?? [];
    expect(wordsOf({ text: about })).toMatch(when);
    expect(wordsOf({ text: about })).not.toMatch(/\bExpires\b/);
  }
  const revoking = wordsOf(await browser.get(`${pageOf(expired)}/revoke`));
  expect(revoking).toContain('Expired 3 Feb 2026, 04:05 UTC');
  expect(revoking).not.toMatch(/\bExpires\b/);
  const { id: active } = await giveKey(db, member);
  expect(wordsOf(await browser.get(pageOf(active)))).not.toMatch(/This key (was|has)/);
});

test('the page of a key says once when the key expires, and once when it ended', async () => {
  const browser = await browserOf(dashboard, manager);
  const { id } = await giveKey(db, manager);
  const path = `/profile/api-keys/${id}`;
  const dates = async (date: string) => wordsOf(await browser.get(path)).split(date).length - 1;
  await db.prisma.apiKey.updateMany({ where: { id }, data: { expiresAt: new Date('2999-02-03T04:05:06Z') } });
  expect(await dates('3 Feb 2999')).toBe(1);
  const revokedAt = new Date('2020-05-06T07:08:09Z');
  await db.prisma.apiKey.updateMany({ where: { id }, data: { revokedAt, revokedByUserId: manager.userId } });
  expect(await dates('6 May 2020')).toBe(1);
});

test('the page of a key without events says so, and links to the key whose rotation created it', async () => {
  const browser = await browserOf(dashboard, administrator);
  const [first = '', second = ''] = await rotatedKey('Successor', 1);
  const page = await browser.get(pageOf(second));
  expect(wordsOf(page)).toMatch(/Nothing was changed since this key replaced charter_live_\w{4}… \. The rotation/);
  expect(linksOn(page)).toContain(pageOf(first));
  // The demonstration creates keys with SQL, and therefore without events.
  const { rows } = await db.pool.query<{ id: string }>(
    `insert into api_keys (organization_id, id, user_id, name, name_key, key_hash, key_prefix, permissions)
     select organization_id, gen_random_uuid(), user_id, 'Demonstration', sha256('Demonstration'), sha256(id::text::bytea),
            key_prefix, permissions
     from api_keys where id = $1 returning id`,
    [second],
  );
  expect(wordsOf(await browser.get(pageOf(rows[0]?.id ?? '')))).toContain('No events are recorded for this key.');
});

test('the page of a key shows at most ten of its predecessors and ten of its successors', async () => {
  // A key that is rotated daily has thousands of predecessors.
  const ids = await rotatedKey('Daily', 22);
  const browser = await browserOf(dashboard, manager);
  const page = await browser.get(pageOf(ids[11] ?? ''));
  expect(page.text.match(/<tr role="row"/g)).toHaveLength(1 + 21);
  expect(linksOn(page)).toEqual(expect.arrayContaining([ids[1], ids[21]].map((id) => pageOf(id ?? ''))));
  expect(wordsOf(page)).toContain('At most 10 keys before and after this one are shown');
});

test('an administrator sees the events of the key; a manager, who may not read the audit log, does not', async () => {
  const { id } = await giveKey(db, member, { name: 'Watched' });
  await giveKey(db, member, { name: 'Not watched' });
  orThrow(await renameKey(db, member, { keyId: id, userId, name: 'Seen' }));
  orThrow(await revokeKey(db, manager, { keyId: id, userId }));
  const page = await (await browserOf(dashboard, administrator)).get(pageOf(id));
  const words = wordsOf(page);
  for (const text of ['API key created', 'API key renamed', 'API key revoked', 'From “Watched” to “Seen”'])
    expect(words).toContain(text);
  expect(words).not.toContain('Not watched');
  const told = wordsOf(await (await browserOf(dashboard, manager)).get(pageOf(id)));
  expect(told).toContain('was revoked by The manager');
  expect(told).not.toContain('API key renamed');
});

test('every list of keys, and the audit log, link to the page of the key', async () => {
  const { id } = await giveKey(db, member, { name: 'Linked' });
  await db.prisma.apiKey.updateMany({ where: { id }, data: { createdByUserId: manager.userId } });
  const browser = await browserOf(dashboard, administrator);
  for (const path of [
    `/people/users/${userId}/api-keys`,
    `/people/users/${manager.userId}`,
    '/organization/audit-log',
    '/organization/api-keys?search=Linked',
  ]) {
    const links = linksOn(await browser.get(path)).map((link) => link.split('?')[0]);
    expect([path, links]).toEqual([path, expect.arrayContaining([pageOf(id)])]);
  }
  const own = await (await browserOf(dashboard, member)).get('/profile/api-keys');
  expect(linksOn(own)).toContain(`/profile/api-keys/${id}`);
});

// Sets the clock to half past an hour, so that no hour ends during the tests.
dashboard.passMinutes((90 - dashboard.now().getUTCMinutes()) % 60);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Adds requests to the hour that began `agoMs` milliseconds ago. */
async function count(
  keyId: string,
  agoMs: number,
  counts: Partial<ResultCounts> & { readonly limited?: number },
): Promise<void> {
  const { organizationId } = people.scope;
  await addRequests(db, { organizationId, keyId, at: new Date(dashboard.now().getTime() - agoMs), ...counts });
}

function figuresOf({ text }: Page): { days: string; hours: string } {
  const [days = '', hours = ''] = text.match(/<figure>.*?<\/figure>/gs) ?? [];
  return { days, hours };
}

const rowsOf = (figure: string) =>
  [...figure.matchAll(/<tr role="row">(?:(?!<\/tr>).)*role="rowheader"(?:(?!<\/tr>).)*<\/tr>/gs)].map(([row]) =>
    wordsOf({ text: row }).trim(),
  );

test('a request with a key appears on its page at once, with what became of it', async () => {
  const { id, key } = await giveKey(db, member, { name: 'Counted' });
  const browser = await browserOf(dashboard, member);
  const path = `/profile/api-keys/${id}`;
  expect(wordsOf(await browser.get(path))).toContain('No requests in the last 30 days.');
  for (let i = 0; i < 3; i += 1) await dashboard.statusOf(key);
  const page = await browser.get(path);
  expect(wordsOf(page)).toContain('You, The member');
  const { days, hours } = figuresOf(page);
  for (const figure of [days, hours]) expect(figure).toContain('3 successful, 0 refused, 0 failed');
  expect(wordsOf(page).replace(/\d+ seconds/, '10 seconds')).toContain(
    'Requests of the last 10 seconds may be missing. A batch counts as its changes. Requests to a path or with a method that the API does not have are not counted.',
  );
  expect(wordsOf(page)).toMatch(/Last used (just now|\d+ minutes? ago) from 127\.0\.0\.1 /);
});

test('the page shows 30 days and 48 hours, with totals, and a table of the same numbers', async () => {
  const { id } = await giveKey(db, member, { name: 'Shown' });
  await count(id, 0, { successful: 1234, refused: 5, failed: 1 });
  await count(id, 47 * HOUR_MS, { successful: 10 });
  await count(id, 48 * HOUR_MS, { refused: 20 });
  await count(id, 29 * DAY_MS, { failed: 300 });
  await count(id, 30 * DAY_MS, { failed: 4000 });
  const { days, hours } = figuresOf(await (await browserOf(dashboard, manager)).get(pageOf(id)));
  expect(days).toContain('aria-label="Last 30 days: 1,244 successful, 25 refused, 301 failed; at most');
  expect(hours).toContain(
    'aria-label="Last 48 hours: 1,244 successful, 5 refused, 1 failed; at most 1,240 in one hour.',
  );
  expect(days.match(/<g>/g)).toHaveLength(30);
  expect(hours.match(/<g>/g)).toHaveLength(48);
  const [latest = '', earliest = ''] = rowsOf(hours);
  expect(rowsOf(hours)).toHaveLength(2);
  expect(latest).toMatch(/^\d+ \w+ 20\d\d, \d\d:00 UTC 1,234 5 1$/);
  expect(earliest).toMatch(/UTC 10 0 0$/);
  expect(rowsOf(days).at(-1)).toMatch(/^\d+ \w+ 20\d\d 0 0 300$/);
});

test('the page says how many requests of the last 48 hours were refused by a rate limit, if there were any', async () => {
  const { id } = await giveKey(db, member, { name: 'Limited' });
  const browser = await browserOf(dashboard, manager);
  await count(id, 0, { successful: 7, refused: 1 });
  expect(wordsOf(await browser.get(pageOf(id)))).not.toContain('429 in these hours');
  await count(id, 0, { refused: 144, limited: 144 });
  await count(id, 47 * HOUR_MS, { refused: 1000, limited: 900 });
  await count(id, 48 * HOUR_MS, { refused: 5000, limited: 5000 });
  expect(wordsOf(await browser.get(pageOf(id)))).toMatch(
    /Most in an hour of the last 48: 1,000 requests \(.*% of the limit\) ?Refused with 429 in these hours: 1,044 requests /,
  );
});

test('the axes have at most seven dates, the days a week apart, and a round number of requests at the top', async () => {
  const { id } = await giveKey(db, member, { name: 'Scaled' });
  await count(id, 0, { successful: 3 });
  const { days, hours } = figuresOf(await (await browserOf(dashboard, manager)).get(pageOf(id)));
  const labelsOf = (figure: string) => [...figure.matchAll(/<text [^>]*>([^<]*)</g)].map(([, text]) => text);
  expect(labelsOf(days)).toEqual([...Array(4).fill(expect.stringMatching(/^\d+ \w{3}$/)), 'Today']);
  expect(labelsOf(hours)).toHaveLength(4);
  expect(labelsOf(hours).filter((text) => text === '12:00')).toHaveLength(2);
  for (const figure of [days, hours]) expect(figure).toContain('<span>4</span><span>2</span><span>0</span>');
});

test('a single refused and a single failed request are visible beside a million successes', async () => {
  const { id } = await giveKey(db, member, { name: 'Mostly good' });
  await count(id, 0, { successful: 1_000_000, refused: 1, failed: 1 });
  const { days } = figuresOf(await (await browserOf(dashboard, manager)).get(pageOf(id)));
  const [chart = ''] = days.match(/<svg class="use-chart".*?<\/svg>/s) ?? [];
  const bars = [
    ...chart.matchAll(/<rect class="use-(successful|refused|failed)"[^>]* y="([\d.]+)"[^>]* height="([\d.]+)"/g),
  ];
  expect(bars.map(([, outcome]) => outcome)).toEqual(['successful', 'refused', 'failed']);
  for (const [, , y = '', height = ''] of bars) {
    expect(Number(height)).toBeGreaterThanOrEqual(2);
    expect(Number(y)).toBeGreaterThanOrEqual(0);
    expect(Number(y) + Number(height)).toBeLessThanOrEqual(100);
  }
});

test('the requests of a key are on its own page only, not on that of its successor or of another key', async () => {
  const [one, two] = [await giveKey(db, member, { name: 'One' }), await giveKey(db, member, { name: 'Two' })];
  await count(one.id, 0, { successful: 77 });
  const rotation = { keyId: one.id, userId: member.userId, environment: 'live' } as const;
  const successor = orThrow(await rotateKey(db, manager, rotation));
  const browser = await browserOf(dashboard, manager);
  expect((await browser.get(pageOf(one.id))).text).toContain('77 successful');
  for (const { id } of [two, successor]) expect((await browser.get(pageOf(id))).text).not.toContain('77 successful');
});

const REQUESTS = '/organization/api-keys/requests';

/** Creates a key of the member with `successful` successful requests and one refused request in the current hour. */
async function usedKey({ member, scope }: People, name: string, successful: number): Promise<string> {
  const { id } = await giveKey(db, member, { name });
  const { organizationId } = scope;
  await addRequests(db, { organizationId, keyId: id, at: dashboard.now(), successful, refused: 1 });
  return id;
}

test.each(['administrator', 'manager'] as const)(
  'the %s sees the requests with all keys of the organization, and the most used keys, linked',
  async (role) => {
    const [ours, theirs] = [await createPeople(db), await createPeople(db)];
    // The attack: reading the numbers or the names of another organization's keys.
    await usedKey(theirs, 'Theirs', 5000);
    const few = await usedKey(ours, 'Few', 10);
    const many = await usedKey(ours, 'Many', 2000);
    const browser = await browserOf(dashboard, ours[role]);
    const page = await browser.get(REQUESTS);
    expect(page.status).toBe(200);
    for (const title of ['Last 30 days', 'Last 48 hours'])
      expect(page.text).toContain(`aria-label="${title}: 2,010 successful, 2 refused, 0 failed; at most 2,012 in one`);
    const words = wordsOf(page);
    expect(words).not.toContain('Theirs');
    expect(words).toMatch(/Many charter_live_\w+… The member 2,000 1 0 .*Few/);
    for (const id of [few, many])
      expect(page.text).toContain(`href="/people/users/${ours.member.userId}/api-keys/${id}"`);
    expect((await browser.get('/organization/api-keys')).text).toContain(`href="${REQUESTS}"`);
  },
);

test('the requests by operation are listed and exported, for all keys or for those that match, and link to the refused ones', async () => {
  const [ours, theirs] = [await createPeople(db), await createPeople(db)];
  // The attack: reading the numbers of another organization's keys.
  await usedKey(theirs, 'Theirs', 5000);
  const id = await usedKey(ours, 'Import', 10);
  await usedKey(ours, 'Other', 1);
  const { organizationId } = ours.scope;
  const now = dashboard.now();
  const written = { organizationId, keyId: id, operation: 'createParentProgram' };
  await addRequests(db, { ...written, at: now, successful: 2000, refused: 3 });
  await addRequests(db, { ...written, at: new Date(now.getTime() - 30 * DAY_MS), failed: 7 });
  const browser = await browserOf(dashboard, ours.manager);
  const page = await browser.get(REQUESTS);
  expect(wordsOf(page)).toContain('createParentProgram 2,000 3 0 getKey 11 2 0');
  expect(page.text).toContain(`href="${REQUESTS}/list?operation=createParentProgram&amp;status=refused"`);
  expect(wordsOf(await browser.get(`${REQUESTS}?key=Import`))).toContain('createParentProgram 2,000 3 0 getKey 10 1 0');
  const own = await (await browserOf(dashboard, ours.member)).get(`/profile/api-keys/${id}`);
  expect(wordsOf(own)).toContain('createParentProgram 2,000 3 0 getKey 10 1 0');
  expect(own.text).toContain(`href="/profile/api-keys/${id}/requests?status=refused&amp;operation=getKey"`);
  const [heading, ...rows] = (await browser.get(`${REQUESTS}/operations.csv?key=Import`)).text.trimEnd().split('\r\n');
  expect(heading?.replace('\uFEFF', '')).toBe(
    'starts_at,key_id,key_name,key_prefix,operation,successful,refused,failed',
  );
  const day = `${now.toISOString().slice(0, 10)}T00:00:00.000Z`;
  const prefix = (await db.prisma.apiKey.findFirstOrThrow({ where: { id } })).keyPrefix;
  expect(rows).toEqual([
    `${day},${id},Import,${prefix},createParentProgram,2000,3,0`,
    `${day},${id},Import,${prefix},getKey,10,1,0`,
  ]);
});

test('the usage is filtered by operation and days, in the charts, the tables and the files', async () => {
  const people = await createPeople(db);
  const { organizationId } = people.scope;
  const now = dashboard.now();
  const id = await usedKey(people, 'Import', 10);
  const [today, threeDaysAgo] = [now, new Date(now.getTime() - 3 * DAY_MS)].map((at) => at.toISOString().slice(0, 10));
  const written = { organizationId, keyId: id, operation: 'createParentProgram' };
  await addRequests(db, { ...written, at: now, successful: 2000 });
  await addRequests(db, { ...written, at: new Date(now.getTime() - 3 * DAY_MS), successful: 7, refused: 3 });
  const browser = await browserOf(dashboard, people.manager);
  const byOperation = await browser.get(`${REQUESTS}?operation=createParentProgram`);
  expect(byOperation.text).toContain('aria-label="Last 30 days: 2,007 successful, 3 refused, 0 failed;');
  expect(byOperation.text).not.toContain('Last 48 hours');
  expect(wordsOf(byOperation)).toContain('createParentProgram 2,007 3 0 See the requests Export the operations as CSV');
  expect(byOperation.text).toContain(`${REQUESTS}/list?operation=createParentProgram&amp;status=refused`);
  expect(wordsOf(byOperation)).toMatch(/Import charter_live_\w+… The member 2,007 3 0/);
  const past = `from=${threeDaysAgo}&to=${threeDaysAgo}`;
  const byDay = await browser.get(`${REQUESTS}?${past}`);
  expect(byDay.text).toMatch(/aria-label="\d+ \w+ 20\d\d: 7 successful, 3 refused, 0 failed;/);
  expect(wordsOf(byDay)).toContain('createParentProgram 7 3 0 See the requests');
  expect(byDay.text).not.toMatch(/<text [^>]*>Today</);
  expect(byDay.text).toContain(`from=${threeDaysAgo}T00%3A00&amp;to=${threeDaysAgo}T23%3A59`);
  expect(byDay.text).toContain(
    `/api-keys/${id}/requests?status=refused&amp;from=${threeDaysAgo}T00%3A00&amp;to=${threeDaysAgo}T23%3A59">3</a>`,
  );
  expect((await browser.get(`${REQUESTS}?from=${today}`)).text).toContain(
    'aria-label="Today: 2,010 successful, 1 refused',
  );
  const rowsIn = async (file: string) =>
    (await browser.get(`${REQUESTS}${file}`)).text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((row) => row.replace(/charter_live_\w+/, ''));
  const day = `${threeDaysAgo}T00:00:00.000Z`;
  expect(await rowsIn(`/operations.csv?${past}`)).toEqual([`${day},${id},Import,,createParentProgram,7,3,0`]);
  expect((await rowsIn(`.csv?${past}`)).filter((row) => row.startsWith('day'))).toEqual([
    `day,${day},${id},Import,,7,3,0,0`,
  ]);
  expect(await rowsIn('/operations.csv?operation=getKey')).toHaveLength(1);
});

test('a filter of the usage that is wrong gets a message, and no file', async () => {
  const browser = await browserOf(dashboard, manager);
  for (const [query, message] of [
    ['from=yesterday', 'From, UTC must be a day such as 2026-01-31.'],
    ['from=2999-01-01', 'From, UTC must not be in the future.'],
    ['to=2020-01-31', 'To, UTC must not be before'],
  ] as const) {
    expectToSay(await browser.get(`${REQUESTS}?${query}`), 422, message);
    expect((await browser.get(`${REQUESTS}.csv?${query}`)).headers['location']).toBe(`${REQUESTS}?${query}`);
  }
});

test('the page says so if an organization has sent no requests', async () => {
  const { manager } = await createPeople(db);
  const page = await (await browserOf(dashboard, manager)).get(REQUESTS);
  expectToSay(page, 200, 'No requests in the last 30 days.');
  expect(page.text).not.toContain('Most used');
});

test('ten keys are listed as the most used, however many there are', async () => {
  const people = await createPeople(db);
  for (let i = 1; i <= 8; i += 1) await usedKey(people, `Key ${i}`, i);
  for (let i = 9; i <= 12; i += 1) await usedKey({ ...people, member: people.manager }, `Key ${i}`, i);
  const { text } = await (await browserOf(dashboard, people.administrator)).get(REQUESTS);
  const names = [...text.matchAll(/class="key-name">([^<]*)</g)].map(([, name]) => name);
  expect(names).toEqual(Array.from({ length: 10 }, (_, i) => `Key ${12 - i}`));
});
