import { createPeople, giveKey } from '../../support/data/actors.ts';
import { wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();

test('with a longest key life of one day, the form and the refusal say one day, not "1 days"', async () => {
  const { member } = await createPeople(dashboard.db, { maxKeyLifeDays: 1 });
  const browser = await browserOf(dashboard, member);
  const keys = '/profile/api-keys';
  expect(wordsOf(await browser.get(`${keys}/new`))).toContain(' 1 day, until ');
  const refused = await browser.submit(`${keys}/new`, { name: 'Long', expiry: '2' }, keys);
  expect([refused.status, wordsOf(refused)]).toEqual([
    422,
    expect.stringContaining('must be at most 1 day, the longest'),
  ]);
});

test('no page calls a key unused that was used a moment ago', async () => {
  // The bug: uses are written once a minute, and until then the pages said "Never".
  const { member, manager, scope } = await createPeople(dashboard.db);
  const { id, key } = await giveKey(dashboard.db, member);
  await dashboard.db.prisma.apiKey.updateMany({ where: { id }, data: { createdByUserId: manager.userId } });
  expect(await dashboard.statusOf(key)).toBe(200);
  const [own, managing] = [await browserOf(dashboard, member), await browserOf(dashboard, manager)];
  const list = '/profile/api-keys';
  const pages = [
    ...[list, `${list}/${id}`, `${list}/${id}/rotate`, `${list}/${id}/rename`, `${list}/${id}/revoke`].map(
      (path) => [own, path] as const,
    ),
    ...[`/people/users/${manager.userId}`, '/organization/api-keys'].map((path) => [managing, path] as const),
  ];
  for (const [browser, path] of pages) {
    const words = wordsOf(await browser.get(path));
    expect([path, words]).toEqual([path, expect.stringContaining('No use recorded yet')]);
    expect([path, words]).toEqual([path, expect.not.stringContaining('Never ')]);
  }
  // A minute after its end, no use of it can be missing.
  const ended = await giveKey(dashboard.db, member);
  const data = { revokedAt: new Date(dashboard.now().getTime() - 3 * 60_000) };
  await dashboard.db.prisma.apiKey.updateMany({ where: { id: ended.id, organizationId: scope.organizationId }, data });
  expect(wordsOf(await own.get(`${list}/${ended.id}`))).toContain('Last used Never');
});
