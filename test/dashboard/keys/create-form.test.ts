import { READ_PERMISSIONS } from '../../../src/domain/role.ts';
import { createPeople, giveKey, times } from '../../support/data/actors.ts';
import { Browser, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

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

test('with a day of one’s own, the key works until its end', async () => {
  const { member } = await createPeople(db, { maxKeyLifeDays: 90 });
  const browser = await browserOf(dashboard, member);
  for (const days of [0, 1, 88]) {
    const day = new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
    const name = `Until in ${days} days`;
    expect((await browser.submit(`${KEYS}/new`, { name, expiry: 'day', expiry_date: day }, KEYS)).status).toBe(200);
    const [key] = await db.prisma.apiKey.findMany({ where: { userId: member.userId, name } });
    expect(key?.expiresAt?.toISOString()).toBe(`${day}T23:59:59.999Z`);
  }
});

test('the day counts only if it is chosen, and must then be given', async () => {
  // The bug: a day that was entered counted, whatever was selected beside it.
  const { member } = await createPeople(db, { maxKeyLifeDays: 90 });
  const browser = await browserOf(dashboard, member);
  const expiry_date = new Date(Date.now() + 5 * DAY_MS).toISOString().slice(0, 10);
  expect((await browser.submit(`${KEYS}/new`, { name: 'Days', expiry: '30', expiry_date }, KEYS)).status).toBe(200);
  const [key] = await db.prisma.apiKey.findMany({ where: { userId: member.userId } });
  expect(Math.round(((key?.expiresAt?.getTime() ?? 0) - Date.now()) / DAY_MS)).toBe(30);
  const refused = await browser.submit(`${KEYS}/new`, { name: 'A day', expiry: 'day', expiry_date: '' }, KEYS);
  expect([refused.status, wordsOf(refused)]).toEqual([422, expect.stringContaining('Last day must be a day such as')]);
});

test('the list and the form say how many of ten keys are active, and the form links to what can be revoked', async () => {
  // The bug: somebody filled in the whole form to learn that there are ten keys already.
  const { member } = await createPeople(db);
  const browser = await browserOf(dashboard, member);
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

test('the filter "expires soon" finds the keys that the list marks', async () => {
  const { administrator, member } = await createPeople(db);
  const [fresh, old] = [
    await giveKey(db, member, { name: 'Just made', lifeDays: 20 }),
    await giveKey(db, member, { name: 'Made long ago', lifeDays: 20 }),
  ];
  const createdAt = new Date(Date.now() - 300 * DAY_MS);
  await db.prisma.apiKey.updateMany({ where: { id: old.id }, data: { createdAt } });
  const browser = await browserOf(dashboard, administrator);
  const list = await browser.get('/organization/api-keys?expiry=soon');
  expect(wordsOf(list)).toContain('Active (1)');
  expect([list.text.includes(old.id), list.text.includes(fresh.id)]).toEqual([true, false]);
  expect(wordsOf(list)).toContain('20 days left');
  expect(wordsOf(await browser.get('/organization/api-keys')).match(/days left/g)).toHaveLength(1);
});

test('the list says "today" only on the day that it shows as that of the expiry', async () => {
  const { administrator, member } = await createPeople(db);
  const { id } = await giveKey(db, member, { lifeDays: 20 });
  const createdAt = new Date(Date.now() - 300 * DAY_MS);
  const browser = await browserOf(dashboard, administrator);
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
  const { member } = await createPeople(db);
  const browser = await browserOf(dashboard, member);
  const focused = ({ text }: { text: string }) =>
    [...text.matchAll(/<(?:[^<>"]|"[^"]*")* autofocus>/g)].map(([tag]) => tag);
  expect(focused(await browser.get(`${KEYS}/new`))).toEqual([expect.stringContaining('id="name"')]);
  const refused = await browser.submit(`${KEYS}/new`, { name: '', expiry: '30' }, KEYS);
  expect(focused(refused)).toEqual([expect.stringContaining('role="alert"')]);

  expect(focused(await new Browser(dashboard.url).get('/sign-in'))).toEqual([expect.stringContaining('id="email"')]);
});
