import type { Actor } from '../../../src/domain/audit/actor.ts';
import { type Browser, type Fields, keysIn, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, createSignedIn, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createPeople, giveKey, READ } from '../../support/data/actors.ts';

const dashboard = await useDashboard({ trustedProxies: ['loopback'] });
const { db } = dashboard;

const KEYS = '/profile/api-keys';
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

async function formFor(holder: Actor, networks: Record<string, string> = {}) {
  const { id, key } = await giveKey(db, holder, { name: 'Nightly import' });
  await db.prisma.apiKey.updateMany({ where: { id }, data: { usedNetworks: networks } });
  const browser = await browserOf(dashboard, holder);
  return { browser, id, key, path: `${KEYS}/${id}/restrict` };
}

const stored = async (id: string) => {
  const { allowedAddresses, requestsPerSecond } = await db.prisma.apiKey.findFirstOrThrow({ where: { id } });
  return { allowedAddresses, requestsPerSecond };
};

async function fieldsOf(browser: Browser, path: string, text?: string) {
  const page = text ?? (await browser.get(path)).text;
  const [, addresses = ''] = /<textarea id="addresses"[^>]*>([^<]*)</.exec(page) ?? [];
  const [, limit = ''] = /id="requests_per_second"[^>]* value="([^"]*)"/.exec(page) ?? [];
  const [, lockedOut = ''] = /name="locked_out" value="([^"]*)"/.exec(page) ?? [];
  return { addresses, limit, lockedOut };
}

test('the menu of a key leads to the form, which saves, shows what is saved, and leads back to the list', async () => {
  const { member } = await createPeople(db);
  const { browser, id, path, key } = await formFor(member);
  expect((await browser.get(KEYS)).text).toContain(`href="${path}"`);
  expect((await browser.get(`${KEYS}/${id}`)).text).toContain(`href="${path}"`);
  expect(wordsOf(await browser.get(path))).toContain('Your own address is 127.0.0.1 at present.');
  const change = { addresses: '203.0.113.99/24\r\n::ffff:192.0.2.1', requests_per_second: '20' };
  const saved = await browser.submit(path, change);
  expect(saved.status).toBe(303);
  expect(wordsOf(await browser.get(saved.headers['location'] ?? ''))).toContain(
    'Nightly import may be used from 2 addresses and subnets, from now on.',
  );
  expect(await stored(id)).toEqual({ allowedAddresses: ['203.0.113.0/24', '192.0.2.1'], requestsPerSecond: 20 });
  expect(await fieldsOf(browser, path)).toMatchObject({ addresses: '203.0.113.0/24\n192.0.2.1', limit: '20' });
  expect(wordsOf(await browser.get(`${KEYS}/${id}`))).toMatch(
    /Allowed addresses 203\.0\.113\.0\/24 192\.0\.2\.1 Rate limit 20 requests per second A limit of its own\. Most in an hour of the last 48: 0 requests/,
  );
  expect(await dashboard.statusOf(key)).toBe(403);
});

test('a refused form keeps what was typed, and names the line and the remedy', async () => {
  const { member } = await createPeople(db);
  const { browser, id, path } = await formFor(member);
  const refused = await browser.submit(path, { addresses: '203.0.113.7\r\n10.0.0.0/33', requests_per_second: 'many' });
  expect(refused.status).toBe(422);
  expect(wordsOf(refused)).toContain(
    'Allowed addresses has a mistake in line 2: “10.0.0.0/33” has no valid prefix length. Write a number from 0 to 32 after the slash.',
  );
  expect(wordsOf(refused)).toContain('Requests per second must be an integer from 1 to 500');
  expect(await fieldsOf(browser, path, refused.text)).toMatchObject({
    addresses: '203.0.113.7\r\n10.0.0.0/33',
    limit: 'many',
  });
  expect(await stored(id)).toEqual({ allowedAddresses: [], requestsPerSecond: null });
});

test('each mistake is a sentence on a line of its own, and the last one counts those that are not shown', async () => {
  const { member } = await createPeople(db);
  const { browser, path } = await formFor(member);
  const { text } = await browser.submit(path, { addresses: 'a\nb\nc\nd\ne\nf\ng' });
  const [, error = ''] = /<p class="field-error" id="addresses-error">(.*?)<\/p>/s.exec(text) ?? [];
  const lines = error.split('<br>');
  expect(lines).toHaveLength(6);
  expect(lines[4]).toMatch(/^Allowed addresses has a mistake in line 5: “e” is no IP address/);
  expect(lines[5]).toBe('Allowed addresses has 2 more mistakes.');
});

describe('addresses from which the key was used', () => {
  const USED = { '203.0.113.7': day(0), '2001:db8:0:0::/64': day(1), '198.51.100.9': '2026-01-31' };

  test('are shown with the day, and added with one press, which saves nothing and keeps what was typed', async () => {
    const { member } = await createPeople(db);
    const { browser, id, path } = await formFor(member, USED);
    expect(wordsOf(await browser.get(path))).toMatch(
      /Used from 203\.0\.113\.7 today 2001:db8::\/64 yesterday 198\.51\.100\.9 31 Jan 2026/,
    );
    const typed = { addresses: '198.51.100.0/24', requests_per_second: '7', take: 'used' };
    const taken = await browser.submit(path, typed);
    expect(taken.status).toBe(200);
    expect(await fieldsOf(browser, path, taken.text)).toMatchObject({
      addresses: '198.51.100.0/24\n203.0.113.7\n2001:db8::/64',
      limit: '7',
    });
    expect(await stored(id)).toEqual({ allowedAddresses: [], requestsPerSecond: null });
    // If the field is empty, all three used addresses are added.
    const all = await browser.submit(path, { addresses: '', take: 'used' });
    expect((await fieldsOf(browser, path, all.text)).addresses.split('\n')).toHaveLength(3);
  });

  test('are not locked out within a day without a confirmation that names them', async () => {
    const { member } = await createPeople(db);
    const { browser, id, path } = await formFor(member, USED);
    const typed: Fields = { addresses: '192.0.2.0/24', requests_per_second: '7' };
    const warned = await browser.submit(path, typed);
    expect(warned.status).toBe(422);
    expect(wordsOf(warned)).toContain(
      'This list would lock out addresses from which the key was used within the last day: 203.0.113.7, 2001:db8::/64. Nothing is saved yet.',
    );
    const { lockedOut, ...kept } = await fieldsOf(browser, path, warned.text);
    expect([kept, lockedOut]).toEqual([{ addresses: '192.0.2.0/24', limit: '7' }, '203.0.113.7 2001:db8::/64']);
    expect(await stored(id)).toEqual({ allowedAddresses: [], requestsPerSecond: null });
    // The confirmation must name all addresses that would be locked out.
    expect((await browser.submit(path, { ...typed, locked_out: '203.0.113.7' })).status).toBe(422);
    expect((await browser.submit(path, { ...typed, locked_out: lockedOut })).status).toBe(303);
    expect(await stored(id)).toEqual({ allowedAddresses: ['192.0.2.0/24'], requestsPerSecond: 7 });
  });

  test('that are added after the warning end the confirmation, which a list that locks them out needs again', async () => {
    const { member } = await createPeople(db);
    const { browser, id, path } = await formFor(member, { '203.0.113.7': day(0) });
    const typed = { addresses: '192.0.2.0/24', requests_per_second: '' };
    const warned = await browser.submit(path, typed);
    expect(warned.text).toContain('Lock out and save');
    const { lockedOut } = await fieldsOf(browser, path, warned.text);
    const added = await browser.submit(path, { ...typed, locked_out: lockedOut, take: 'used' });
    expect(wordsOf(added)).toContain('Added: 203.0.113.7. Not saved yet.');
    expect(added.text).not.toContain('Lock out and save');
    const { lockedOut: confirmed, addresses } = await fieldsOf(browser, path, added.text);
    expect([confirmed, addresses]).toEqual(['', '192.0.2.0/24\n203.0.113.7']);
    expect((await browser.submit(path, { ...typed, locked_out: confirmed })).status).toBe(422);
    const again = await browser.submit(path, { addresses, take: 'used' });
    expect(wordsOf(again)).toContain('The list contains these addresses already.');
    expect(await stored(id)).toEqual({ allowedAddresses: [], requestsPerSecond: null });
  });

  test('are recorded by the API', async () => {
    const { member } = await createPeople(db);
    const { browser, path, key } = await formFor(member);
    expect(wordsOf(await browser.get(path))).toContain('No address is recorded');
    expect(await dashboard.statusOf(key)).toBe(200);
    await dashboard.writeUses();
    expect(wordsOf(await browser.get(path))).toContain('Used from 127.0.0.1 today');
  });
});

test('the form for a new key has both restrictions, and keeps them after a mistake', async () => {
  const { browser, member } = await createSignedIn(dashboard, 'member');
  const change = { name: '', addresses: '2001:DB8::/32', requests_per_second: '3' };
  const refused = await browser.submit(`${KEYS}/new`, change, KEYS);
  expect(refused.status).toBe(422);
  expect(await fieldsOf(browser, '', refused.text)).toMatchObject({ addresses: '2001:DB8::/32', limit: '3' });
  expect(refused.text).toContain('<details class="fold" open>');
  const created = await browser.submit(`${KEYS}/new`, { ...change, name: 'Export' }, KEYS);
  expect(keysIn(created)).toHaveLength(1);
  const FACTS = /Allowed addresses 2001:db8::\/32 Rate limit 3 requests per second A limit of its own\./;
  const HINT = 'Run the command from an allowed address. From elsewhere, it gets a 403.';
  for (const words of [FACTS, HINT]) expect(wordsOf(created)).toMatch(words);
  const { id } = await db.prisma.apiKey.findFirstOrThrow({ where: { userId: member.userId } });
  expect(await stored(id)).toEqual({ allowedAddresses: ['2001:db8::/32'], requestsPerSecond: 3 });
  // After a rotation, the page has the facts and the hint, too. For a key without a list of addresses, the page has no hint.
  const rotated = await browser.submit(`${KEYS}/${id}/rotate`);
  for (const words of [FACTS, HINT]) expect(wordsOf(rotated)).toMatch(words);
  const free = wordsOf(await browser.submit(`${KEYS}/new`, { name: 'Free' }, KEYS));
  expect(free).toMatch(/Allowed addresses Any Rate limit 500 requests per second As each key of the organization\./);
  expect(free).not.toContain(HINT);
});

test('a policy that requires addresses says how many keys lack them, leads to them, and the list marks them', async () => {
  const { browser, member } = await createSignedIn(dashboard, 'administrator');
  const { id } = await giveKey(db, member, { name: 'Writes from anywhere' });
  await giveKey(db, member, { name: 'Reads from anywhere', permissions: READ });
  const MARK = 'May write from any address';
  const table = async (query = '') => {
    const { text } = await browser.get(`/organization/api-keys${query}`);
    return wordsOf({ text: /<tbody[\s\S]*<\/tbody>/.exec(text)?.[0] ?? '' });
  };
  expect(wordsOf(await browser.get('/organization'))).toContain(
    '1 active key that may write has none, and stays valid until rotated.',
  );
  expect(await table()).not.toContain(MARK);
  expect((await browser.submit('/organization', { requires_addresses: 'yes' })).status).toBe(303);
  expect(await table()).toMatch(new RegExp(`Writes from anywhere.*${MARK}`));
  expect(await table('?addresses=none')).not.toContain('Reads from anywhere');
  expect(wordsOf(await browser.get(`/people/users/${member.userId}/api-keys/${id}`))).toContain(`Any ${MARK}`);
  // The form for rotating the key asks for a list of addresses.
  const own = await browserOf(dashboard, member);
  const rotate = `${KEYS}/${id}/rotate`;
  expect(wordsOf(await own.get(rotate))).toContain('Your organization requires them for each key that may write.');
  const lacking = await own.submit(rotate, { addresses: '' });
  expect([lacking.status, keysIn(lacking)]).toEqual([422, []]);
  expect(wordsOf(lacking)).toContain('Allowed addresses must have at least one entry');
  expect(keysIn(await own.submit(rotate, { addresses: '203.0.113.7' }))).toHaveLength(1);
  expect(wordsOf(await browser.get('/organization'))).toContain('Every active key that may write has one.');
  const events = wordsOf(await browser.get('/organization/audit-log'));
  expect(events).toContain('Allowed addresses of keys that may write: from optional to required');
  expect(events).toContain('Allowed addresses: 203.0.113.7');
});
