import { formatKey } from '../../src/domain/api-key.ts';
import { suspendOrganization } from '../../src/service/operator/organizations.ts';
import { AXE_SCRIPT, look } from '../support/browser/look.ts';
import { useSite } from '../support/browser/site.ts';
import { addSecondFactor, codeAt, createAccount } from '../support/data/accounts.ts';
import { giveKey } from '../support/data/actors.ts';
import { checkAll, moveDates } from '../support/data/key-notices.ts';
import { createRealisticTeam } from '../support/data/realistic-team.ts';
import { addRealisticWebhooks } from '../support/data/realistic-webhooks.ts';

// Every page: no horizontal scrolling from 320 px on, and no finding of axe. `look` says which widths and themes `npm test`
// and `npm run soak` try; the latter also takes screenshots.

const site = await useSite({ script: AXE_SCRIPT });

// One page for all tests of the file: in a new one, axe has to be compiled again, which takes longer than to run it.
const page = await site.sharedPage();

const team = await createRealisticTeam(site.server.db);
const webhooks = await addRealisticWebhooks(site.server.db, team);
await addNotices();
const guarded = await createAccount(site.server.db, { role: 'manager', scope: team.administrator.scope });
await addSecondFactor(site.server.db, guarded, new Date());

const WEBHOOKS = '/organization/webhooks';
const deliveryPath = (id: string) => `${WEBHOOKS}/${webhooks.endpointId}/deliveries/${id}`;

/** Notices of every kind about keys of the administrator. */
async function addNotices(): Promise<void> {
  const { db } = site.server;
  for (const name of ['Nightly export', 'Warehouse']) {
    const { id } = await giveKey(db, team.administrator, { name });
    await moveDates(db, id, { createdAgo: 200, usedAgo: 1, expiresIn: name === 'Warehouse' ? 0.9 : 6 });
    await checkAll(db);
  }
  const row = { organizationId: team.administrator.scope.organizationId, userId: team.administrator.userId };
  for (const kind of ['limited', 'unused', 'ended'] as const) {
    const { id } = await giveKey(db, team.administrator, { name: `Import ${kind}` });
    const notice = { ...row, id: crypto.randomUUID(), keyId: id, kind, occasion: '', isForAddress: false };
    await db.prisma.keyNotice.create({ data: { ...notice, endsAt: new Date(Date.now() + 86_400_000) } });
  }
}

const AS_ADMINISTRATOR: readonly { name: string; path: () => string }[] = [
  { name: 'profile', path: () => '/profile' },
  { name: 'profile-password', path: () => '/profile/password' },
  { name: 'profile-second-factor', path: () => '/profile/second-factor' },
  { name: 'sessions', path: () => '/profile/sessions' },
  { name: 'sessions-done', path: () => '/profile/sessions?done=ended' },
  { name: 'keys', path: () => '/profile/api-keys' },
  { name: 'keys-done', path: () => `/profile/api-keys?done=renamed&key=${team.keyId}` },
  { name: 'keys-ended', path: () => '/profile/api-keys?state=ended' },
  { name: 'key', path: () => `/profile/api-keys/${team.keyId}` },
  { name: 'key-rotated-before', path: () => `/profile/api-keys/${team.rotatedKeyId}` },
  { name: 'key-create', path: () => '/profile/api-keys/new' },
  { name: 'key-rotate', path: () => `/profile/api-keys/${team.keyId}/rotate` },
  { name: 'key-rename', path: () => `/profile/api-keys/${team.keyId}/rename` },
  { name: 'key-restrict', path: () => `/people/users/${team.member.userId}/api-keys/${team.usedKeyId}/restrict` },
  { name: 'key-restricted', path: () => `/people/users/${team.member.userId}/api-keys/${team.usedKeyId}` },
  { name: 'key-revoke', path: () => `/profile/api-keys/${team.keyId}/revoke` },
  {
    name: 'key-revoke-in-use',
    path: () => `/people/users/${team.member.userId}/api-keys/${team.usedKeyId}/revoke`,
  },
  { name: 'users', path: () => '/people/users' },
  { name: 'users-invited', path: () => '/people/users?state=invited' },
  { name: 'users-nobody', path: () => '/people/users?search=zzz' },
  { name: 'user-invite', path: () => '/people/users/invite' },
  { name: 'user', path: () => `/people/users/${team.manager.userId}` },
  { name: 'user-keys', path: () => `/people/users/${team.member.userId}/api-keys` },
  { name: 'user-deactivate', path: () => `/people/users/${team.member.userId}/deactivate` },
  { name: 'user-with-second-factor', path: () => `/people/users/${guarded.userId}` },
  { name: 'user-second-factor', path: () => `/people/users/${guarded.userId}/second-factor` },
  { name: 'user-second-factor-none', path: () => `/people/users/${team.member.userId}/second-factor` },
  { name: 'user-deactivated', path: () => `/people/users/${team.deactivatedId}` },
  { name: 'organization', path: () => '/organization' },
  { name: 'organization-keys', path: () => '/organization/api-keys' },
  { name: 'organization-requests', path: () => '/organization/api-keys/requests' },
  { name: 'organization-keys-ended', path: () => '/organization/api-keys?state=ended' },
  { name: 'organization-keys-none', path: () => '/organization/api-keys?search=charter_live_0000&notice=unknown' },
  { name: 'webhooks', path: () => WEBHOOKS },
  { name: 'webhook-new', path: () => `${WEBHOOKS}/new` },
  { name: 'webhook', path: () => `${WEBHOOKS}/${webhooks.endpointId}` },
  { name: 'webhook-disabled', path: () => `${WEBHOOKS}/${webhooks.disabledId}` },
  { name: 'webhook-change', path: () => `${WEBHOOKS}/${webhooks.endpointId}/change` },
  { name: 'webhook-rotate', path: () => `${WEBHOOKS}/${webhooks.endpointId}/rotate` },
  { name: 'webhook-disable', path: () => `${WEBHOOKS}/${webhooks.endpointId}/disable` },
  { name: 'webhook-delete', path: () => `${WEBHOOKS}/${webhooks.endpointId}/delete` },
  { name: 'delivery', path: () => deliveryPath(webhooks.retriedId) },
  { name: 'delivery-failed', path: () => deliveryPath(webhooks.failedId) },
  { name: 'audit-log', path: () => '/organization/audit-log' },
  { name: 'audit-log-wrong', path: () => '/organization/audit-log?person=nobody' },
  { name: 'not-found', path: () => '/profile/nowhere' },
];

test('every page of an administrator passes the layout checks', async () => {
  await site.switchTo(team.administrator, page);
  const wrong: string[] = [];
  for (const { name, path } of AS_ADMINISTRATOR) {
    await page.goto(path());
    wrong.push(...(await look(page, name)));
  }
  expect(wrong).toEqual([]);
});

const AS_GUEST: readonly { name: string; path: () => string }[] = [
  { name: 'sign-in', path: () => '/sign-in' },
  { name: 'sign-in-done', path: () => '/sign-in?done=signed-out' },
  { name: 'sign-in-ended', path: () => '/sign-in?ended=ended' },
  { name: 'sign-in-second-factor', path: () => '/sign-in/second-factor' },
  { name: 'forgotten-password', path: () => '/forgotten-password' },
  { name: 'report-key', path: () => '/report-key' },
  { name: 'welcome', path: () => `/welcome/${team.invitation}` },
  { name: 'welcome-too-short', path: () => `/welcome/${team.invitation}?why=length` },
  { name: 'welcome-dead', path: () => '/welcome/used' },
];

test('every page without sign-in passes the layout checks', async () => {
  await page.context().clearCookies();
  const wrong: string[] = [];
  for (const { name, path } of AS_GUEST) {
    await page.goto(path());
    wrong.push(...(await look(page, name)));
  }
  await page.goto('/sign-in');
  await page.getByRole('button', { name: 'Sign in' }).click();
  wrong.push(...(await look(page, 'sign-in-refused')));
  await page.goto('/report-key');
  await page.getByRole('button', { name: 'Report and revoke' }).click();
  wrong.push(...(await look(page, 'report-key-refused')));
  const keys = Array.from({ length: 101 }, (_, i) => formatKey('live', String(i).padStart(40, '0')));
  await page.getByLabel('Text with the key').fill(keys.join('\n'));
  await page.getByRole('button', { name: 'Report and revoke' }).click();
  wrong.push(...(await look(page, 'report-key-done')));
  expect(wrong).toEqual([]);
});

test('pages that differ for members, managers and viewers pass the layout checks', async () => {
  const wrong: string[] = [];
  for (const { role, name, path } of [
    { role: 'member', name: 'member-no-keys', path: '/profile/api-keys' },
    { role: 'member', name: 'member-forbidden', path: '/organization' },
    { role: 'viewer', name: 'viewer-keys', path: '/profile/api-keys' },
    { role: 'viewer', name: 'viewer-create', path: '/profile/api-keys/new' },
    { role: 'manager', name: 'manager-organization-keys', path: '/organization/api-keys' },
    { role: 'manager', name: 'manager-webhooks', path: WEBHOOKS },
    { role: 'manager', name: 'manager-webhook', path: `${WEBHOOKS}/${webhooks.endpointId}` },
    { role: 'manager', name: 'manager-delivery', path: deliveryPath(webhooks.retriedId) },
    {
      role: 'manager',
      name: 'manager-administrators-keys',
      path: `/people/users/${team.administrator.userId}/api-keys`,
    },
  ] as const) {
    await site.switchTo(role === 'member' ? team.newcomer : team[role], page);
    await page.goto(path);
    wrong.push(...(await look(page, name)));
  }
  expect(wrong).toEqual([]);
});

test('pages that a form leads to pass the layout checks', async () => {
  // Uses its own organization, because it changes what the other tests look at.
  const { administrator, member, keyId, usedKeyId, organizationId } = await createRealisticTeam(site.server.db);
  await site.switchTo(administrator, page);
  const wrong: string[] = [];
  await page.goto('/profile/api-keys/new');
  await page.getByRole('button', { name: 'Create API Key' }).click();
  wrong.push(...(await look(page, 'key-create-refused')));
  await page.getByLabel('Name').fill('Warehouse export');
  await page.getByRole('button', { name: 'Create API Key' }).click();
  wrong.push(...(await look(page, 'key-created')));
  await page.goto(`/profile/api-keys/${keyId}/rotate`);
  await page.getByRole('button', { name: 'Rotate' }).click();
  wrong.push(...(await look(page, 'key-rotated')));
  await page.reload();
  wrong.push(...(await look(page, 'sent-already')));
  await page.goto(`/people/users/${member.userId}/api-keys/${usedKeyId}/revoke`);
  await page.getByRole('button', { name: 'Revoke' }).click();
  wrong.push(...(await look(page, 'key-revoke-refused')));
  await page.goto(`/people/users/${member.userId}/api-keys/${usedKeyId}/restrict`);
  await page.getByLabel('Allowed addresses').fill('example.org');
  await page.getByLabel('Requests per second').fill('x');
  await page.getByRole('button', { name: 'Save' }).click();
  wrong.push(...(await look(page, 'key-restrict-refused')));
  await page.getByLabel('Allowed addresses').fill('192.0.2.0/24');
  await page.getByLabel('Requests per second').fill('20');
  await page.getByRole('button', { name: 'Save' }).click();
  wrong.push(...(await look(page, 'key-restrict-locks-out')));
  await page.goto('/organization');
  await page.getByLabel('Require allowed addresses').check();
  await page.getByRole('button', { name: 'Save policy' }).click();
  wrong.push(...(await look(page, 'organization-requires-addresses')));
  await page.goto('/organization/api-keys?addresses=none');
  wrong.push(...(await look(page, 'organization-keys-without-addresses')));
  await page.goto(`/people/users/${member.userId}/api-keys/${usedKeyId}/rotate`);
  wrong.push(...(await look(page, 'key-rotate-requires-addresses')));
  await page.goto('/profile/api-keys/new');
  wrong.push(...(await look(page, 'key-create-requires-addresses')));
  await page.goto(`/people/users/${member.userId}`);
  await page.getByRole('button', { name: 'Make a reset link' }).click();
  wrong.push(...(await look(page, 'reset-link')));
  await page.goto('/profile/second-factor');
  await page.getByRole('button', { name: 'Set up' }).click();
  wrong.push(...(await look(page, 'second-factor-secret')));
  const uri = (await page.getByRole('link', { name: 'open it in the app' }).getAttribute('href')) ?? '';
  await page.getByLabel('Code').fill(codeAt(uri, new Date()));
  await page.getByRole('button', { name: 'Turn on' }).click();
  wrong.push(...(await look(page, 'second-factor-recovery-codes')));
  await page.goto('/profile');
  wrong.push(...(await look(page, 'profile-with-second-factor')));
  await page.goto('/profile/second-factor');
  wrong.push(...(await look(page, 'second-factor-off')));
  await page.goto('/profile/second-factor/recovery-codes');
  wrong.push(...(await look(page, 'second-factor-new-codes')));
  await page.goto('/organization/audit-log?action=user.proof_failed');
  wrong.push(...(await look(page, 'audit-log-proof')));
  await page.goto(`/people/users/${member.userId}/api-keys/${usedKeyId}`);
  for (const summary of await page.locator('summary', { hasText: 'as a table' }).all()) await summary.click();
  wrong.push(...(await look(page, 'key-requests-as-tables')));
  await page.goto('/profile/api-keys');
  await page.locator('summary', { hasText: 'Actions for key Nightly import, production' }).click();
  wrong.push(...(await look(page, 'keys-menu')));
  await page.goto(WEBHOOKS);
  wrong.push(...(await look(page, 'webhooks-none')));
  await page.getByRole('link', { name: 'Add an endpoint' }).click();
  await page.getByLabel('URL').fill('http://example.org/webhooks');
  await page.getByRole('button', { name: 'Add the endpoint' }).click();
  wrong.push(...(await look(page, 'webhook-refused')));
  await page.getByLabel('URL').fill('https://example.org/webhooks');
  await page.getByRole('button', { name: 'Add the endpoint' }).click();
  wrong.push(...(await look(page, 'webhook-added')));
  await page.getByRole('link', { name: 'I have copied it' }).click();
  wrong.push(...(await look(page, 'webhook-without-deliveries')));
  await page.getByRole('button', { name: 'Send a test event' }).click();
  wrong.push(...(await look(page, 'delivery-of-a-test-event')));
  await page.goto('/organization/audit-log?action=webhook.created');
  wrong.push(...(await look(page, 'audit-log-webhooks')));
  await suspendOrganization(site.server.db, organizationId);
  await page.goto('/organization');
  wrong.push(...(await look(page, 'organization-suspended')));
  await page.goto('/profile/api-keys');
  wrong.push(...(await look(page, 'keys-suspended')));
  expect(wrong).toEqual([]);
});

test('a typical row of the key list takes at most two lines at 1280 px', async () => {
  await site.switchTo(team.administrator, page);
  const lines: number[] = [];
  for (const path of ['/profile/api-keys', '/profile/api-keys?state=ended']) {
    await page.goto(path);
    lines.push(...(await page.evaluate<number[]>(LINES_OF_ROWS)));
  }
  expect(lines.length).toBeGreaterThan(4);
  expect(lines.filter((each) => each > 2.1)).toEqual([]);
});

test('the name of a resource is in one line in the narrowest tables of keys', async () => {
  await site.switchTo(team.administrator, page);
  const heights: number[] = [];
  for (const width of [1090, 1150, 1200]) {
    await page.setViewportSize({ width, height: 800 });
    for (const path of ['/profile/api-keys', '/organization/api-keys']) {
      await page.goto(path);
      // Not as cards, which have the place.
      expect((await page.locator('thead').boundingBox())?.width).toBeGreaterThan(700);
      heights.push(...(await page.locator('.chips code').evaluateAll((all) => all.map((each) => each.clientHeight))));
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(heights.length).toBeGreaterThan(10);
  expect(Math.max(...heights)).toBeLessThan(24);
});

test('on a phone, an event of the audit log takes at most 190 px on average', async () => {
  await site.switchTo(team.administrator, page);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto('/organization/audit-log');
  const heights = await page.evaluate<number[]>(
    "[...document.querySelectorAll('tbody tr')].map((row) => row.getBoundingClientRect().height)",
  );
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(heights.length).toBeGreaterThan(10);
  expect(heights.reduce((sum, each) => sum + each) / heights.length).toBeLessThan(190);
});

/** Runs in the page: how many lines the highest cell of each row has. */
const LINES_OF_ROWS = `[...document.querySelectorAll('tbody tr')].map((row) => Math.max(...[...row.cells].map((cell) => {
  const { paddingTop, paddingBottom, lineHeight } = getComputedStyle(cell);
  return (cell.clientHeight - parseFloat(paddingTop) - parseFloat(paddingBottom)) / parseFloat(lineHeight);
})))`;

test('pages with their menus and details open pass the layout checks', async () => {
  await site.switchTo(team.administrator, page);
  const wrong: string[] = [];
  for (const { name, path, opened } of [
    { name: 'open-top-menu', path: '/profile', opened: '.top-menu' },
    { name: 'open-key-menu', path: '/profile/api-keys', opened: 'main details.menu' },
    { name: 'open-event-details', path: '/organization/audit-log', opened: 'main table details' },
    { name: 'open-filters', path: '/organization/audit-log', opened: '.filter-fold' },
    { name: 'open-response-body', path: deliveryPath(webhooks.retriedId), opened: 'main details' },
    { name: 'open-attempts-table', path: `${WEBHOOKS}/${webhooks.endpointId}`, opened: 'main details' },
  ]) {
    await page.goto(path);
    const all = page.locator(opened);
    expect(await all.count()).toBeGreaterThan(0);
    await all.first().evaluate((details) => details.setAttribute('open', ''));
    wrong.push(...(await look(page, name)));
    expect([name, await all.first().getAttribute('open')]).toEqual([name, '']);
  }
  expect(wrong).toEqual([]);
});
