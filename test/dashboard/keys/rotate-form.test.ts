import { createPeople, giveKey } from '../../support/data/actors.ts';
import { keysIn, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();
const { db } = dashboard;

const KEYS = '/profile/api-keys';
const DAY_MS = 86_400_000;

async function formFor(lifeDays: number | null, policy: { maxKeyLifeDays?: number; allowsUnendingKeys?: boolean }) {
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
  const { offered, chosen, page } = await formFor(20, { maxKeyLifeDays: 90 });
  expect([offered, chosen]).toEqual([['keep', '7', '30', '90'], ['keep']]);
  expect(wordsOf(page)).toMatch(/Keep it, until \d+ \w{3} \d{4}/);
  const unending = await formFor(null, { maxKeyLifeDays: 90, allowsUnendingKeys: true });
  expect([unending.offered, unending.chosen]).toEqual([['keep', '7', '30', '90'], ['keep']]);
  expect(wordsOf(unending.page)).toContain('Keep it: never expires');
});

test('a key that never expires gets an expiry where the organization no longer allows that', async () => {
  const { offered, chosen, browser, path, page } = await formFor(null, { maxKeyLifeDays: 45 });
  expect([offered, chosen]).toEqual([['7', '30', '45'], ['45']]);
  expect(wordsOf(page)).toContain('Your organization no longer allows keys that never expire.');
  const kept = await browser.submit(path, { expiry: 'keep' });
  expect([kept.status, keysIn(kept)]).toEqual([422, []]);
  expect(wordsOf(kept)).toContain('Expiry must be set: your organization does not allow keys that never expire.');
  expect((await browser.submit(path)).status).toBe(200);
});

test('an expiry that is later than the organization now allows is neither offered nor kept', async () => {
  const { offered, chosen, browser, path, page, id } = await formFor(300, { maxKeyLifeDays: 120 });
  expect([offered, chosen]).toEqual([['7', '30', '90', '120'], ['90']]);
  expect(wordsOf(page)).toMatch(
    /The old key would expire on \d+ \w{3} \d{4}: your organization now allows at most 120 days\./,
  );
  // The form of an older page, or one that was open when the policy changed.
  for (const expiry of ['keep', '']) {
    const kept = await browser.submit(path, { expiry });
    expect([expiry, kept.status, keysIn(kept)]).toEqual([expiry, 422, []]);
    expect(wordsOf(kept)).toContain('Expiry must be at most 120 days, the longest that your organization allows.');
  }
  expect(await db.prisma.apiKey.count({ where: { id, rotatedAt: null } })).toBe(1);
  expect((await browser.submit(path)).status).toBe(200);
});

test('a chosen life counts from now, the audit log says it, and a longer one than allowed is refused', async () => {
  const { browser, path, id, administrator, userId } = await formFor(20, { maxKeyLifeDays: 90 });
  // The attack: a life that the form does not offer.
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
  const { member } = await createPeople(db, { requiresAddresses: true });
  const { id } = await giveKey(db, member);
  const usedNetworks = { '203.0.113.7': dashboard.now().toISOString().slice(0, 10) };
  await db.prisma.apiKey.updateMany({ where: { id }, data: { usedNetworks, allowedAddresses: [] } });
  const browser = await browserOf(dashboard, member);
  const path = `${KEYS}/${id}/rotate`;
  expect(wordsOf(await browser.get(path))).toMatch(/Used from 203\.0\.113\.7 today .* Add these addresses/);
  const taken = await browser.submit(path, { addresses: '198.51.100.1', expiry: '7', take: 'used' });
  expect([taken.status, keysIn(taken)]).toEqual([200, []]);
  expect(wordsOf(taken)).toContain('Added: 203.0.113.7. Not saved yet.');
  expect(taken.text).toContain('198.51.100.1\n203.0.113.7</textarea>');
  expect(taken.text).toContain('<option value="7" selected>');
  expect(await db.prisma.apiKey.count({ where: { userId: member.userId } })).toBe(1);
});
