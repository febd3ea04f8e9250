import { createPeople, giveKey, type People } from '../../support/data/actors.ts';
import { keysIn, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();

const OWN = '/profile/api-keys';
const suspend = ({ scope }: People) =>
  dashboard.db.prisma.organization.update({
    where: { id: scope.organizationId },
    data: { suspendedAt: new Date() },
  });

type Case = {
  readonly who: string;
  readonly by: 'administrator' | 'manager' | 'member' | 'viewer';
  /** The owner of the keys; undefined: the signed-in person. */
  readonly of?: 'administrator' | 'member';
  readonly prepare?: (people: People) => Promise<unknown>;
  readonly policy?: { membersMayCreateKeys: boolean };
  /** The reason for each action; the list shows the one for creating. */
  readonly reason: (action: string) => string;
  readonly namesAdministrator: boolean;
};

const noneWhile = () => 'While the organization is suspended, no API key can be created, rotated or renamed.';
const roleOwn = (action: string) => `You may not ${action} API keys. Contact an administrator or support.`;

const CASES: readonly Case[] = [
  {
    who: 'an administrator of a suspended organization',
    by: 'administrator',
    prepare: suspend,
    reason: noneWhile,
    namesAdministrator: false,
  },
  {
    who: 'a manager of a suspended organization, for the keys of a member,',
    by: 'manager',
    of: 'member',
    prepare: suspend,
    reason: noneWhile,
    namesAdministrator: false,
  },
  { who: 'a viewer', by: 'viewer', reason: roleOwn, namesAdministrator: true },
  {
    who: 'a member whom the policy forbids to create keys',
    by: 'member',
    policy: { membersMayCreateKeys: false },
    reason: roleOwn,
    namesAdministrator: true,
  },
  {
    who: 'a manager, for the keys of an administrator,',
    by: 'manager',
    of: 'administrator',
    namesAdministrator: true,
    reason: (action) =>
      `You may not ${action} API keys ${action === 'create' ? 'for' : 'of'} an administrator, because a key has its user’s permissions.`,
  },
];

test.each(CASES)('$who gets the same reason on the list, on each page and after each form', async (each) => {
  // The bug: the page for rotating said that the role does not include the page.
  const people = await createPeople(dashboard.db, each.policy);
  const holder = people[each.of ?? each.by];
  const { id } = await giveKey(dashboard.db, holder);
  await each.prepare?.(people);
  const browser = await browserOf(dashboard, people[each.by]);
  const base = each.of === undefined ? OWN : `/people/users/${holder.userId}/api-keys`;
  const form_token = await browser.formToken();
  const expectReason = async (response: Awaited<ReturnType<typeof browser.get>>, status: number, action: string) => {
    const words = wordsOf(response);
    expect([response.status, words]).toEqual([status, expect.stringContaining(each.reason(action))]);
    expect(words.includes(people.administrator.email)).toBe(each.namesAdministrator || each.by === 'administrator');
    expect(keysIn(response)).toEqual([]);
  };
  await expectReason(await browser.get(base), 200, 'create');
  await expectReason(await browser.get(`${base}/new`), 403, 'create');
  await expectReason(await browser.get(`${base}/${id}/rotate`), 403, 'rotate');
  await expectReason(await browser.get(`${base}/${id}/rename`), 403, 'rename');
  expect((await browser.get(`${base}/${id}/revoke`)).status).toBe(200);
  await expectReason(await browser.post(`${base}/${id}/rename`, { form_token, name: 'New' }), 403, 'rename');
});

test('the pages say that a user is deactivated', async () => {
  const people = await createPeople(dashboard.db);
  const { userId } = people.member;
  await dashboard.db.prisma.user.updateMany({ where: { id: userId }, data: { deactivatedAt: new Date() } });
  const browser = await browserOf(dashboard, people.administrator);
  const base = `/people/users/${userId}/api-keys`;
  const reason = expect.stringContaining('The member is deactivated');
  for (const [path, status] of [
    [base, 200],
    [`${base}/new`, 409],
  ] as const) {
    const page = await browser.get(path);
    expect([path, page.status, wordsOf(page)]).toEqual([path, status, reason]);
  }
});

test('every page says that the organization is suspended, and its keys get 403', async () => {
  const people = await createPeople(dashboard.db);
  const { key } = await giveKey(dashboard.db, people.member);
  await suspend(people);
  const browser = await browserOf(dashboard, people.administrator);
  for (const path of ['/profile', OWN, '/people/users', '/organization', '/organization/audit-log'])
    expect([path, wordsOf(await browser.get(path))]).toEqual([path, expect.stringContaining(' is suspended. Its API')]);
  expect(await dashboard.statusOf(key)).toBe(403);
});
