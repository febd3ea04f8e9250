import { READ_PERMISSIONS } from '../../../src/domain/people/role.ts';
import { Browser, expectToSay, type Fields, keysIn, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, createSignedIn, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createPeople, giveKey, times } from '../../support/data/actors.ts';

const dashboard = await useDashboard();
const { db } = dashboard;

const KEYS = '/profile/api-keys';
const DAY_MS = 86_400_000;

test('the form selects reading and 90 days, or less where the organization allows less', async () => {
  for (const { maxKeyLifeDays, expiry } of [
    { maxKeyLifeDays: 3650, expiry: '90' },
    { maxKeyLifeDays: 45, expiry: '45' },
  ]) {
    const { administrator } = await createPeople(db, { maxKeyLifeDays });
    const { fields } = await (await browserOf(dashboard, administrator)).form(`${KEYS}/new`, KEYS);
    const selected = fields.filter(([name]) => name === 'permissions').map(([, permission]) => permission);
    expect(selected).toEqual(READ_PERMISSIONS);
    expect(new Map(fields).get('expiry')).toBe(expiry);
  }
});

test('a key with a chosen last day works until the end of that day', async () => {
  const { browser, member } = await createSignedIn(dashboard, 'member', { maxKeyLifeDays: 90 });
  for (const days of [0, 1, 88]) {
    const day = new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
    const name = `Until in ${days} days`;
    expect((await browser.submit(`${KEYS}/new`, { name, expiry: 'day', expiry_date: day }, KEYS)).status).toBe(200);
    const [key] = await db.prisma.apiKey.findMany({ where: { userId: member.userId, name } });
    expect(key?.expiresAt?.toISOString()).toBe(`${day}T23:59:59.999Z`);
  }
});

test('the day counts only if it is chosen, and must then be given', async () => {
  // The bug: a day in the date field was used even if another expiry was selected beside the field.
  const { browser, member } = await createSignedIn(dashboard, 'member', { maxKeyLifeDays: 90 });
  const expiry_date = new Date(Date.now() + 5 * DAY_MS).toISOString().slice(0, 10);
  expect((await browser.submit(`${KEYS}/new`, { name: 'Days', expiry: '30', expiry_date }, KEYS)).status).toBe(200);
  const [key] = await db.prisma.apiKey.findMany({ where: { userId: member.userId } });
  expect(Math.round(((key?.expiresAt?.getTime() ?? 0) - Date.now()) / DAY_MS)).toBe(30);
  const refused = await browser.submit(`${KEYS}/new`, { name: 'A day', expiry: 'day', expiry_date: '' }, KEYS);
  expectToSay(refused, 422, 'Last day must be a day such as');
});

test('the list and the form say how many of ten keys are active, and the form links to what can be revoked', async () => {
  // The bug: people filled in the whole form before they learned that they had ten keys already.
  const { browser, member } = await createSignedIn(dashboard, 'member');
  const wordsAt = async (path: string) => wordsOf(await browser.get(path));
  expect(await wordsAt(`${KEYS}/new`)).toContain('0 of 10 active');
  const given = await times(4, () => giveKey(db, member));
  expect(await wordsAt(`${KEYS}/new`)).toContain('4 of 10 active');
  expect(await wordsAt(KEYS)).toContain('4 of 10 active');
  await db.prisma.apiKey.updateMany({ where: { id: given[0]?.id ?? '' }, data: { expiresAt: new Date(1000) } });
  expect(await wordsAt(`${KEYS}/new`)).toContain('3 of 10 active');
  await times(7, () => giveKey(db, member));
  const full = await browser.get(`${KEYS}/new`);
  expect(wordsOf(full)).toContain('10 of 10 active: no more can be created.');
  expect(full.text).toContain(`<a href="${KEYS}">Revoke an API key</a>`);
});

test('the list says "today" only on the day that it shows as that of the expiry', async () => {
  const { browser, member } = await createSignedIn(dashboard, 'administrator');
  const { id } = await giveKey(db, member, { lifeDays: 20 });
  const createdAt = new Date(Date.now() - 300 * DAY_MS);
  const midnight = Math.ceil(dashboard.now().getTime() / DAY_MS) * DAY_MS;
  for (const [expiresAt, words] of [
    [midnight - 1, 'Expires today'],
    [midnight, '1 day left'],
    [midnight + DAY_MS - 1, '1 day left'],
    [midnight + DAY_MS, '2 days left'],
  ] as const) {
    await db.prisma.apiKey.updateMany({ where: { id }, data: { createdAt, expiresAt: new Date(expiresAt) } });
    expect(wordsOf(await browser.get('/organization/api-keys'))).toContain(`Active ${words} Expires`);
  }
});

test('the cursor is in the first field, or at the mistakes of a form that was refused', async () => {
  const { browser } = await createSignedIn(dashboard, 'member');
  const focused = ({ text }: { text: string }) =>
    [...text.matchAll(/<(?:[^<>"]|"[^"]*")* autofocus>/g)].map(([tag]) => tag);
  expect(focused(await browser.get(`${KEYS}/new`))).toEqual([expect.stringContaining('id="name"')]);
  const refused = await browser.submit(`${KEYS}/new`, { name: '', expiry: '30' }, KEYS);
  expect(focused(refused)).toEqual([expect.stringContaining('role="alert"')]);

  expect(focused(await new Browser(dashboard.url).get('/sign-in'))).toEqual([expect.stringContaining('id="email"')]);
  const { browser: administrating } = await createSignedIn(dashboard, 'administrator');
  for (const [path, id] of [
    ['/people/users/invite', 'name'],
    ['/organization/integrations/new', 'name'],
    ['/organization/webhooks/new', 'url'],
  ] as const)
    expect(focused(await administrating.get(path))).toEqual([expect.stringContaining(`id="${id}"`)]);
});

test('the profile of a person without a key leads to the first call, and a new key can be copied as a variable', async () => {
  const { browser } = await createSignedIn(dashboard, 'member');
  const start = await browser.get('/profile');
  expect(wordsOf(start)).toContain('Your first call You have no active API key.');
  expect(start.text).toContain('<a href="/docs/getting-started">');
  const issued = await browser.submit(`${KEYS}/new`, { name: 'First' }, KEYS);
  const [key = ''] = keysIn(issued);
  expect(issued.text).toContain(`>export CHARTER_API_KEY=${key}</textarea>`);
  expect(wordsOf(await browser.get('/profile'))).not.toContain('Your first call');
});

async function rotationOf(lifeDays: number | null, policy: { maxKeyLifeDays?: number; allowsUnendingKeys?: boolean }) {
  const { member, administrator } = await createPeople(db, policy);
  const { id } = await giveKey(db, member, { lifeDays });
  const browser = await browserOf(dashboard, member);
  const path = `${KEYS}/${id}/rotate`;
  const page = await browser.get(path);
  const options = [...page.text.matchAll(/<option value="(\w+)"( selected)?>/g)];
  const offered = options.map(([, value]) => value);
  const chosen = options.flatMap(([, value, selected]) => (selected === undefined ? [] : [value]));
  return { browser, path, id, administrator, userId: member.userId, page, offered, chosen };
}

test('the form keeps the expiry unless another life is chosen, and offers what the organization allows', async () => {
  const { offered, chosen, page } = await rotationOf(20, { maxKeyLifeDays: 90 });
  expect([offered, chosen]).toEqual([['keep', '7', '30', '90'], ['keep']]);
  expect(wordsOf(page)).toMatch(/Keep it, until \d+ \w{3} \d{4}/);
  const unending = await rotationOf(null, { maxKeyLifeDays: 90, allowsUnendingKeys: true });
  expect([unending.offered, unending.chosen]).toEqual([['keep', '7', '30', '90'], ['keep']]);
  expect(wordsOf(unending.page)).toContain('Keep it: never expires');
});

test('a key that never expires gets an expiry where the organization no longer allows that', async () => {
  const { offered, chosen, browser, path, page } = await rotationOf(null, { maxKeyLifeDays: 45 });
  expect([offered, chosen]).toEqual([['7', '30', '45'], ['45']]);
  expect(wordsOf(page)).toContain('Your organization no longer allows keys that never expire.');
  const kept = await browser.submit(path, { expiry: 'keep' });
  expect([kept.status, keysIn(kept)]).toEqual([422, []]);
  expect(wordsOf(kept)).toContain('Expiry must be set: your organization does not allow keys that never expire.');
  expect((await browser.submit(path)).status).toBe(200);
});

test('an expiry that is later than the organization now allows is neither offered nor kept', async () => {
  const { offered, chosen, browser, path, page, id } = await rotationOf(300, { maxKeyLifeDays: 120 });
  expect([offered, chosen]).toEqual([['7', '30', '90', '120'], ['90']]);
  expect(wordsOf(page)).toMatch(
    /The old key would expire on \d+ \w{3} \d{4}: your organization now allows at most 120 days\./,
  );
  // A form that was open when the policy changed sends "keep", and a form of an older version sends "".
  for (const expiry of ['keep', '']) {
    const kept = await browser.submit(path, { expiry });
    expect([expiry, kept.status, keysIn(kept)]).toEqual([expiry, 422, []]);
    expect(wordsOf(kept)).toContain('Expiry must be at most 120 days, the longest that your organization allows.');
  }
  expect(await db.prisma.apiKey.count({ where: { id, rotatedAt: null } })).toBe(1);
  expect((await browser.submit(path)).status).toBe(200);
});

test('a chosen life counts from now, the audit log says it, and a longer one than allowed is refused', async () => {
  const { browser, path, id, administrator, userId } = await rotationOf(20, { maxKeyLifeDays: 90 });
  // The attack: sending a lifetime that the form does not offer.
  for (const expiry of ['91', 'never', '0', 'x']) {
    const refused = await browser.submit(path, { expiry });
    expect([expiry, refused.status, keysIn(refused)]).toEqual([expiry, 422, []]);
  }
  const before = Date.now();
  const issued = await browser.submit(path, { expiry: '90' });
  expect([issued.status, keysIn(issued).length > 0]).toEqual([200, true]);
  const [successor] = await db.prisma.apiKey.findMany({ where: { userId, rotatedAt: null } });
  const lifeMs = (successor?.expiresAt?.getTime() ?? 0) - before;
  expect([lifeMs >= 90 * DAY_MS, lifeMs < 91 * DAY_MS]).toEqual([true, true]);
  const log = await (await browserOf(dashboard, administrator)).get(`/people/users/${userId}/api-keys/${id}`);
  expect(wordsOf(log)).toMatch(/API key rotated Replaced by charter_live_\w{4}… Expiry renewed: \d+ \w{3} \d{4}/);
});

test('a key that expires soon gets a new expiry by default, and may still keep the old one', async () => {
  const { member } = await createPeople(db);
  const { id } = await giveKey(db, member, { lifeDays: 300 });
  const inDays = (days: number) => new Date(dashboard.now().getTime() + days * DAY_MS);
  await db.prisma.apiKey.updateMany({ where: { id }, data: { createdAt: inDays(-299), expiresAt: inDays(1) } });
  const { text } = await (await browserOf(dashboard, member)).get(`${KEYS}/${id}/rotate`);
  expect([...text.matchAll(/<option value="(\w+)" selected>/g)].map(([, value]) => value)).toEqual(['90']);
  expect(text).toContain('<option value="keep">');
});

test('where the organization requires a list, one press adds the addresses of the last uses, and rotates nothing', async () => {
  const { browser, member } = await createSignedIn(dashboard, 'member', { requiresAddresses: true });
  const { id } = await giveKey(db, member);
  const usedNetworks = { '203.0.113.7': dashboard.now().toISOString().slice(0, 10) };
  await db.prisma.apiKey.updateMany({ where: { id }, data: { usedNetworks, allowedAddresses: [] } });
  const path = `${KEYS}/${id}/rotate`;
  expect(wordsOf(await browser.get(path))).toMatch(/Used from 203\.0\.113\.7 today .* Add these addresses/);
  const taken = await browser.submit(path, { addresses: '198.51.100.1', expiry: '7', take: 'used' });
  expect([taken.status, keysIn(taken)]).toEqual([200, []]);
  expect(wordsOf(taken)).toContain('Added: 203.0.113.7. Not saved yet.');
  expect(taken.text).toContain('198.51.100.1\n203.0.113.7</textarea>');
  expect(taken.text).toContain('<option value="7" selected>');
  expect(await db.prisma.apiKey.count({ where: { userId: member.userId } })).toBe(1);
});

/** Returns the fields that the error summary links to, in order. */
function mistakesIn({ text }: Page): string[] {
  const [summary = ''] = /<div class="notice danger" role="alert"[\s\S]*?<\/div>/.exec(text) ?? [];
  return [...summary.matchAll(/href="#([^"]*)"/g)].map(([, field = '']) => field);
}

const WRONG_KEYS: readonly [string, Fields, readonly string[]][] = [
  [
    'a blank name, no permission and no life',
    { name: ' ', permissions: undefined, expiry: 'x' },
    ['name', 'permissions', 'expiry'],
  ],
  [
    'an unknown permission and a day that does not exist',
    { name: 'A', permissions: 'x', expiry: 'day', expiry_date: '2027-02-30' },
    ['permissions', 'expiry_date'],
  ],
  ['a name that is taken and a life beyond the policy', { name: 'nightly  IMPORT', expiry: '91' }, ['name', 'expiry']],
  [
    'a name with a line break and a day beyond the policy',
    { name: 'a\nb', expiry: 'day', expiry_date: '2999-01-01' },
    ['name', 'expiry_date'],
  ],
  [
    'a permission beyond the role and no name',
    { name: '', permissions: ['parent_programs:write', 'x'] },
    ['name', 'permissions'],
  ],
];

test.each(WRONG_KEYS)('the form for a key with %s reports every mistake at once', async (_, change, fields) => {
  // The bug: each mistake was reported only after the previous one was corrected.
  const { browser, member } = await createSignedIn(dashboard, 'member', { maxKeyLifeDays: 90 });
  await giveKey(db, member, { name: 'Nightly import', lifeDays: 30 });
  const page = await browser.submit(`${KEYS}/new`, change, KEYS);
  expect([page.status, mistakesIn(page)]).toEqual([422, fields]);
  expect(page.text).toContain('<title>Error: ');
  for (const field of fields) expect(page.text).toContain(`id="${field}-error"`);
});

test('the form for a rotation reports a life beyond the policy and a wrong name at once', async () => {
  const { browser, member } = await createSignedIn(dashboard, 'administrator', { maxKeyLifeDays: 90 });
  const { id } = await giveKey(db, member, { name: 'Nightly import', lifeDays: 30 });
  await db.prisma.apiKey.updateMany({ where: { id }, data: { lastUsedAt: new Date() } });
  const rotate = `/people/users/${member.userId}/api-keys/${id}/rotate`;
  for (const expiry of ['91', '9999', 'x', 'never']) {
    const page = await browser.submit(rotate, { expiry, key_name: 'Other' });
    expect([expiry, page.status, mistakesIn(page)]).toEqual([expiry, 422, ['expiry', 'key_name']]);
  }
  expect(mistakesIn(await browser.submit(rotate, { key_name: 'Other' }))).toEqual(['key_name']);
});

test('with a longest key life of one day, the form and the refusal say one day, not "1 days"', async () => {
  const { browser } = await createSignedIn(dashboard, 'member', { maxKeyLifeDays: 1 });
  expect(wordsOf(await browser.get(`${KEYS}/new`))).toContain(' 1 day, until ');
  const refused = await browser.submit(`${KEYS}/new`, { name: 'Long', expiry: '2' }, KEYS);
  expectToSay(refused, 422, 'must be at most 1 day, the longest');
});

test('an expiry that the form does not offer is refused with 422', async () => {
  // The attack: sending by hand what the select box and the calendar do not offer.
  const { browser, member } = await createSignedIn(dashboard, 'member', { maxKeyLifeDays: 90 });
  const beyond = new Date(Date.now() + 91 * DAY_MS).toISOString().slice(0, 10);
  for (const change of [
    ...['99999', 'never', '-1', '0', '0.5', '1e1', '３０', 'NaN', undefined].map((expiry) => ({ expiry })),
    ...[beyond, '2026-01-01', '01/02/2027'].map((expiry_date) => ({ expiry: 'day', expiry_date })),
  ]) {
    const response = await browser.submit(`${KEYS}/new`, { name: 'Mine', ...change }, KEYS);
    expect([change, response.status, keysIn(response)]).toEqual([change, 422, []]);
  }
  expect(await db.prisma.apiKey.count({ where: { userId: member.userId } })).toBe(0);
});
