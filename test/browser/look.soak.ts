import { formatKey } from '../../src/domain/keys/api-key.ts';
import { AXE_SCRIPT, look } from '../support/browser/look.ts';
import { useSite } from '../support/browser/site.ts';
import { addSecondFactor, createAccount } from '../support/data/accounts.ts';
import { giveKey } from '../support/data/actors.ts';
import { moveDates, writeAllNotices } from '../support/data/key-notices.ts';
import { addRealisticWebhooks, createLongNamedTeam, createRealisticTeam } from '../support/data/team.ts';

// Checks that every page with an address of its own has no horizontal scrolling from a width of 320 pixels, and no axe violation.
// `look` defines the widths and the themes. look-forms.soak.ts tests the pages that open after a form.

const site = await useSite({ script: AXE_SCRIPT });

// All tests of the file share one page, because a new page must compile axe again, which takes longer than running it.
const page = await site.sharedPage();

const team = await createRealisticTeam(site.server.db);
const webhooks = await addRealisticWebhooks(site.server.db, team);
await addNotices();
const guarded = await createAccount(site.server.db, { role: 'manager', scope: team.administrator.scope });
await addSecondFactor(site.server.db, guarded, new Date());

const WEBHOOKS = '/organization/webhooks';
const ENDPOINT = `${WEBHOOKS}/${webhooks.endpointId}`;
const OWN = '/profile/api-keys';
const KEYS = '/organization/api-keys';
const USERS = '/people/users';
const MEMBER = `${USERS}/${team.member.userId}`;
const deliveryPath = (id: string) => `${ENDPOINT}/deliveries/${id}`;

let wrong: string[] = [];
beforeEach(() => {
  wrong = [];
});

async function see(name: string, path: string): Promise<void> {
  await page.goto(path);
  wrong.push(...(await look(page, name)));
}

async function addNotices(): Promise<void> {
  const { db } = site.server;
  for (const name of ['Nightly export', 'Warehouse']) {
    const { id } = await giveKey(db, team.administrator, { name });
    await moveDates(db, id, { createdAgo: 200, usedAgo: 1, expiresIn: name === 'Warehouse' ? 0.9 : 6 });
    await writeAllNotices(db);
  }
  const row = { organizationId: team.administrator.scope.organizationId, userId: team.administrator.userId };
  for (const kind of ['limited', 'unused', 'ended'] as const) {
    const { id } = await giveKey(db, team.administrator, { name: `Import ${kind}` });
    const notice = { ...row, id: crypto.randomUUID(), keyId: id, kind, occasion: '', isForAddress: false };
    await db.prisma.keyNotice.create({ data: { ...notice, endsAt: new Date(Date.now() + 86_400_000) } });
  }
}

const AS_ADMINISTRATOR: Readonly<Record<string, string>> = {
  profile: '/profile',
  'profile-password': '/profile/password',
  'profile-second-factor': '/profile/second-factor',
  sessions: '/profile/sessions',
  'sessions-done': '/profile/sessions?done=ended',
  keys: OWN,
  'keys-done': `${OWN}?done=renamed&key=${team.keyId}`,
  'keys-ended': `${OWN}?state=ended`,
  key: `${OWN}/${team.keyId}`,
  'key-rotated-before': `${OWN}/${team.rotatedKeyId}`,
  'key-requests': `${MEMBER}/api-keys/${team.usedKeyId}/requests?status=refused`,
  'key-create': `${OWN}/new`,
  'key-rotate': `${OWN}/${team.keyId}/rotate`,
  'key-rename': `${OWN}/${team.keyId}/rename`,
  'key-restrict': `${MEMBER}/api-keys/${team.usedKeyId}/restrict`,
  'key-restricted': `${MEMBER}/api-keys/${team.usedKeyId}`,
  'key-revoke': `${OWN}/${team.keyId}/revoke`,
  'key-revoke-in-use': `${MEMBER}/api-keys/${team.usedKeyId}/revoke`,
  users: USERS,
  'users-invited': `${USERS}?state=invited`,
  'users-nobody': `${USERS}?search=zzz`,
  'user-invite': `${USERS}/invite`,
  user: `${USERS}/${team.manager.userId}`,
  'user-keys': `${MEMBER}/api-keys`,
  'user-deactivate': `${MEMBER}/deactivate`,
  'user-with-second-factor': `${USERS}/${guarded.userId}`,
  'user-second-factor': `${USERS}/${guarded.userId}/second-factor`,
  'user-second-factor-none': `${MEMBER}/second-factor`,
  'user-deactivated': `${USERS}/${team.deactivatedId}`,
  organization: '/organization',
  'organization-keys': KEYS,
  'organization-requests': `${KEYS}/requests`,
  'organization-request-list': `${KEYS}/requests/list`,
  'organization-request-list-wrong': `${KEYS}/requests/list?request=mine`,
  'organization-keys-ended': `${KEYS}?state=ended`,
  'organization-keys-none': `${KEYS}?search=charter_live_0000&notice=unknown`,
  webhooks: WEBHOOKS,
  'webhook-new': `${WEBHOOKS}/new`,
  webhook: ENDPOINT,
  'webhook-disabled': `${WEBHOOKS}/${webhooks.disabledId}`,
  'webhook-change': `${ENDPOINT}/change`,
  'webhook-rotate': `${ENDPOINT}/rotate`,
  'webhook-failed': `${ENDPOINT}?state=failed`,
  'webhook-resend': `${ENDPOINT}/resend`,
  'webhook-disable': `${ENDPOINT}/disable`,
  'webhook-delete': `${ENDPOINT}/delete`,
  delivery: deliveryPath(webhooks.retriedId),
  'delivery-failed': deliveryPath(webhooks.failedId),
  'audit-log': '/organization/audit-log',
  'audit-log-wrong': '/organization/audit-log?person=nobody',
  'not-found': '/profile/nowhere',
};

test('every page of an administrator passes the layout checks', async () => {
  await site.switchTo(team.administrator, page);
  for (const [name, path] of Object.entries(AS_ADMINISTRATOR)) await see(name, path);
  expect(wrong).toEqual([]);
});

const AS_GUEST: Readonly<Record<string, string>> = {
  'sign-in': '/sign-in',
  'sign-in-done': '/sign-in?done=signed-out',
  'sign-in-ended': '/sign-in?ended=ended',
  'sign-in-second-factor': '/sign-in/second-factor',
  'forgotten-password': '/forgotten-password',
  'report-key': '/report-key',
  welcome: `/welcome/${team.invitation}`,
  'welcome-too-short': `/welcome/${team.invitation}?why=length`,
  'welcome-dead': '/welcome/used',
};

test('every page without sign-in passes the layout checks', async () => {
  await page.context().clearCookies();
  for (const [name, path] of Object.entries(AS_GUEST)) await see(name, path);
  const send = async (name: string, button: string) => {
    await page.getByRole('button', { name: button }).click();
    wrong.push(...(await look(page, name)));
  };
  await page.goto('/sign-in');
  await send('sign-in-refused', 'Sign in');
  await page.goto('/report-key');
  await send('report-key-refused', 'Report and revoke');
  const keys = Array.from({ length: 101 }, (_, i) => formatKey('live', String(i).padStart(40, '0')));
  await page.getByLabel('Text with the key').fill(keys.join('\n'));
  await send('report-key-done', 'Report and revoke');
  expect(wrong).toEqual([]);
});

test('pages that differ for members, managers and viewers pass the layout checks', async () => {
  for (const [role, paths] of [
    ['newcomer', { 'member-no-keys': OWN, 'member-forbidden': '/organization' }],
    ['viewer', { 'viewer-keys': OWN, 'viewer-create': `${OWN}/new` }],
    [
      'manager',
      {
        'manager-organization-keys': KEYS,
        'manager-webhooks': WEBHOOKS,
        'manager-webhook': ENDPOINT,
        'manager-delivery': deliveryPath(webhooks.retriedId),
        'manager-administrators-keys': `${USERS}/${team.administrator.userId}/api-keys`,
      },
    ],
  ] as const) {
    await site.switchTo(team[role], page);
    for (const [name, path] of Object.entries(paths)) await see(name, path);
  }
  expect(wrong).toEqual([]);
});

test('pages with names of the maximum length and ten keys pass the layout checks', async () => {
  const { administrator, manager, member, keyId } = await createLongNamedTeam(site.server.db);
  await site.switchTo(administrator, page);
  const paths = {
    'long-profile': '/profile',
    'long-keys': OWN,
    'long-key': `${OWN}/${keyId}`,
    'long-organization-keys': KEYS,
    'long-organization-requests': `${KEYS}/requests`,
    'long-key-rotate': `${OWN}/${keyId}/rotate`,
    'long-users': USERS,
    'long-user': `${USERS}/${manager.userId}`,
    'long-user-keys': `${USERS}/${member.userId}/api-keys`,
    'long-user-keys-revoked': `${USERS}/${manager.userId}/api-keys`,
    'long-user-deactivate': `${USERS}/${member.userId}/deactivate`,
    'long-organization': '/organization',
    'long-audit-log': '/organization/audit-log',
  };
  for (const [name, path] of Object.entries(paths)) await see(name, path);
  await page.goto(`${OWN}/new`);
  await page.getByLabel('Name').fill('The eleventh');
  await page.getByRole('button', { name: 'Create API Key' }).click();
  wrong.push(...(await look(page, 'long-key-create-refused')));
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
      // The keys are shown in a table. On narrower screens they are in cards, in which a name has enough room.
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

/** A script that returns, for each row, the number of lines in its highest cell. */
const LINES_OF_ROWS = `[...document.querySelectorAll('tbody tr')].map((row) => Math.max(...[...row.cells].map((cell) => {
  const { paddingTop, paddingBottom, lineHeight } = getComputedStyle(cell);
  return (cell.clientHeight - parseFloat(paddingTop) - parseFloat(paddingBottom)) / parseFloat(lineHeight);
})))`;

test('pages with their menus and details open pass the layout checks', async () => {
  await site.switchTo(team.administrator, page);
  for (const [name, path, opened] of [
    ['open-top-menu', '/profile', '.top-menu'],
    ['open-key-menu', OWN, 'main details.menu'],
    ['open-event-details', '/organization/audit-log', 'main table details'],
    ['open-filters', '/organization/audit-log', '.filter-fold'],
    ['open-response-body', deliveryPath(webhooks.retriedId), 'main details'],
    ['open-attempts-table', ENDPOINT, 'main details'],
  ] as const) {
    await page.goto(path);
    const first = page.locator(opened).first();
    await first.evaluate((details) => details.setAttribute('open', ''));
    wrong.push(...(await look(page, name)));
    expect([name, await first.getAttribute('open')]).toEqual([name, '']);
  }
  expect(wrong).toEqual([]);
});
