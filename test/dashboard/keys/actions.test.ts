import { newFormId } from '../../../src/dashboard/forms/one-time-form.ts';
import type { Actor } from '../../../src/domain/audit/actor.ts';
import { expectToSay, type Fields, fillForm, keysIn, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, fill, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createAccount } from '../../support/data/accounts.ts';
import { createPeople, giveKey, type People, READ } from '../../support/data/actors.ts';

const dashboard = await useDashboard();
const { db } = dashboard;
const { manager, member } = await createPeople(db);
const managing = await browserOf(dashboard, manager);

const HOUR_MS = 3_600_000;

/** Creates a key that was last used `hours` hours ago, or never if `hours` is `null`. */
async function keyOf(holder: Actor, hours: number | null) {
  const issued = await giveKey(db, holder, { name: `Nightly ${crypto.randomUUID()}` });
  const lastUsedAt = hours === null ? null : new Date(dashboard.now().getTime() - hours * HOUR_MS);
  await db.prisma.apiKey.updateMany({ where: { id: issued.id }, data: { lastUsedAt } });
  return issued;
}

const pathOf = (id: string, action: string) => `/people/users/${member.userId}/api-keys/${id}/${action}`;

test.each(['rotate', 'rename', 'revoke'])(
  'the page that asks to %s a key names its user, its prefix and its last use',
  async (action) => {
    const { id, key } = await keyOf(member, 3);
    const words = wordsOf(await managing.get(pathOf(id, action)));
    for (const text of ['Acts for The member', `${member.email} · Member`, `${key.slice(0, 17)}…`, '3 hours ago'])
      expect(words).toContain(text);
  },
);

test.each(['rotate', 'revoke'])(
  'to %s a key of somebody else that is in use, its name must be typed',
  async (action) => {
    // The risk: a user clicks the wrong row, and another user's program stops.
    const { id, key, name } = await keyOf(member, 23);
    const path = pathOf(id, action);
    for (const key_name of [undefined, '', 'Nightly', `${name}x`]) {
      const refused = await managing.submit(path, { key_name });
      expect([key_name, refused.status, keysIn(refused)]).toEqual([key_name, 422, []]);
      expect(wordsOf(refused)).toContain(`Name of the key must be “${name}”.`);
    }
    expect(await dashboard.statusOf(key)).toBe(200);
    expect((await managing.submit(path, { key_name: `  ${name.toUpperCase()} ` })).status).toBe(
      action === 'rotate' ? 200 : 303,
    );
    expect(await dashboard.statusOf(key)).toBe(401);
  },
);

test('a key that came into use after the page was opened is not ended without its name', async () => {
  const { id, key } = await keyOf(member, null);
  const form = await managing.form(pathOf(id, 'revoke'));
  await db.prisma.apiKey.updateMany({ where: { id }, data: { lastUsedAt: dashboard.now() } });
  const refused = await managing.post(form.action, Object.fromEntries(form.fields));
  expectToSay(refused, 422, 'The key is in use.');
  expect(await dashboard.statusOf(key)).toBe(200);
});

test.each(['rotate', 'revoke'])(
  'to %s a key of one’s own, or one not used for a day, no name is needed',
  async (action) => {
    const unused = [await keyOf(member, 25), await keyOf(member, null)];
    for (const { id } of unused) expect((await managing.submit(pathOf(id, action))).status).toBeLessThan(400);
    const own = await browserOf(dashboard, member);
    const { id } = await keyOf(member, 1);
    expect((await own.submit(`/profile/api-keys/${id}/${action}`)).status).toBeLessThan(400);
  },
);

test('a key of one’s own that is in use is revoked only after a second confirmation, which names its traffic', async () => {
  // The bug: a key with 510 requests was shown as "No use recorded yet" when it was revoked.
  const { member } = await createPeople(db);
  const { id, key } = await giveKey(db, member, { name: 'Busy' });
  for (let i = 0; i < 3; i += 1) expect(await dashboard.statusOf(key)).toBe(200);
  const own = await browserOf(dashboard, member);
  const path = `/profile/api-keys/${id}/revoke`;
  const traffic =
    /The key is in use: 3 requests in the last 24 hours , the last one (just now|\d+ minutes? ago) from 127/;
  expect(wordsOf(await own.get(path))).toMatch(traffic);
  const asked = await own.submit(path);
  expect(wordsOf(asked)).toMatch(traffic);
  expectToSay(asked, 200, 'Not revoked yet: the key is in use.');
  expect(await dashboard.statusOf(key)).toBe(200);
  expect((await own.submit(path, { confirmed: 'yes' })).status).toBe(303);
  expect(await dashboard.statusOf(key)).toBe(401);
});

test('the page that asks to rotate a key leads to a form for a second key like it', async () => {
  const { member, administrator } = await createPeople(db);
  const { id } = await giveKey(db, member, { name: 'Warehouse', permissions: READ });
  await db.prisma.apiKey.updateMany({
    where: { id },
    data: { allowedAddresses: ['127.0.0.1', '192.0.2.0/24'], requestsPerSecond: 7 },
  });
  const own = await browserOf(dashboard, member);
  const { text } = await own.get(`/profile/api-keys/${id}/rotate`);
  const [, link = ''] = /href="([^"]*)">create a second key like this one/.exec(text) ?? [];
  expect((await own.get(link)).text).toContain('>127.0.0.1\n192.0.2.0/24</textarea>');
  const { fields } = await own.form(link, OWN);
  expect(fields).toEqual(
    expect.arrayContaining([
      ['name', 'Warehouse (2)'],
      ['permissions', 'parent_programs:read'],
      ['requests_per_second', '7'],
    ]),
  );
  const { id: foreign } = await giveKey(db, administrator);
  expect((await own.get(`${OWN}/new?like=${foreign}`)).status).toBe(404);
});

test.each(['member', 'manager'] as const)(
  'a %s creates, renames, rotates and revokes a key of a member, and each page says what became of it',
  async (role) => {
    const people = await createPeople(db);
    const [browser, isOwn] = [await browserOf(dashboard, people[role]), role === 'member'];
    const keys = isOwn ? '/profile/api-keys' : `/people/users/${people.member.userId}/api-keys`;
    expect(wordsOf(await browser.get(keys))).toMatch(
      /No API keys yet .*a program, such as a nightly import, can use the API/,
    );
    const form = await browser.get(`${keys}/new`);
    expect(wordsOf(form).includes(`The key acts for The member, ${people.member.email}`)).toBe(!isOwn);
    const created = await browser.submit(`${keys}/new`, { name: 'Staging' }, keys);
    const [old = ''] = keysIn(created);
    expect(wordsOf(created)).toContain('This key will not be shown again.');
    expect(wordsOf(created)).toContain(`Authorization: Bearer ${old}" "${dashboard.url}/api/parent_programs`);
    const { id = '' } = (await db.prisma.apiKey.findFirst({ where: { userId: people.member.userId } })) ?? {};
    expect((await browser.submit(`${keys}/${id}/rename`, { name: 'Production' })).status).toBe(303);
    expect(await dashboard.statusOf(old)).toBe(200);
    const asked = await browser.get(`${keys}/${id}/rotate`);
    expect(wordsOf(asked)).toContain(`${old.slice(0, 17)}… stops working`);
    const rotated = await browser.submit(`${keys}/${id}/rotate`, { key_name: isOwn ? undefined : 'Production' });
    const [key = ''] = keysIn(rotated);
    expect([await dashboard.statusOf(old), await dashboard.statusOf(key)]).toEqual([401, 200]);
    const active = await browser.get(keys);
    expect([keysIn(active), wordsOf(active)]).toEqual([[], expect.stringMatching(/Production .*Active (?!.*Staging)/)]);
    const [, next = ''] = new RegExp(`href="${keys}/([^/"]*)/revoke`).exec(active.text) ?? [];
    const revoked = await browser.submit(`${keys}/${next}/revoke`, {
      ...(isOwn ? { confirmed: 'yes' } : { key_name: 'Production' }),
    });
    expect(await dashboard.statusOf(key)).toBe(401);
    const after = await browser.get(revoked.headers['location'] ?? '');
    expect(wordsOf(after)).toContain('Production was revoked. It is refused from now on.');
    const ended = wordsOf(await browser.get(`${keys}?state=ended`));
    for (const what of ['Rotated', 'Revoked'])
      expect(ended).toMatch(new RegExp(`${what} by The ${role} \\d+ \\w{3} \\d{4}, \\d\\d:\\d\\d UTC`));
    expect(ended).not.toContain('Actions for key');
  },
);

const OWN = '/profile/api-keys';
const suspend = ({ scope }: People) =>
  db.prisma.organization.update({
    where: { id: scope.organizationId },
    data: { suspendedAt: new Date() },
  });

type Case = {
  readonly who: string;
  readonly by: 'administrator' | 'manager' | 'member' | 'viewer';
  /** The owner of the keys. Default: the person who is signed in. */
  readonly of?: 'administrator' | 'member';
  readonly prepare?: (people: People) => Promise<unknown>;
  readonly policy?: { membersMayCreateKeys: boolean };
  /** Returns the reason why the action is not allowed. The list shows the reason for "create". */
  readonly reason: (action: string) => string;
  readonly namesAdministrator: boolean;
};

const noneWhile = () =>
  'While the organization is suspended, no API key can be created, rotated, renamed, restricted or moved.';
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
  // The bug: in place of the reason, the page for rotating a key said that the user's role does not include this page.
  const people = await createPeople(db, each.policy);
  const holder = people[each.of ?? each.by];
  const { id } = await giveKey(db, holder);
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
  for (const action of ['rotate', 'rename', 'restrict', 'move'])
    await expectReason(await browser.get(`${base}/${id}/${action}`), 403, action);
  expect((await browser.get(`${base}/${id}/revoke`)).status).toBe(200);
  // The attack: posting the forms by hand, with a form id that another page made for this session.
  const form_id = newFormId({ token: browser.cookies.get('charter') ?? '' });
  const key = { name: 'Stolen', permissions: READ, expiry: '30' };
  for (const [path, fields, action] of [
    [base, { ...key, form_id }, 'create'],
    [`${base}/${id}/rotate`, { form_id }, 'rotate'],
    [`${base}/${id}/rename`, { name: 'New' }, 'rename'],
  ] as const)
    await expectReason(await browser.post(path, { form_token, ...fields }), 403, action);
});

test('the pages say that a user is deactivated', async () => {
  const people = await createPeople(db);
  const { userId } = people.member;
  await db.prisma.user.updateMany({ where: { id: userId }, data: { deactivatedAt: new Date() } });
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
  const people = await createPeople(db);
  const { key } = await giveKey(db, people.member);
  await suspend(people);
  const browser = await browserOf(dashboard, people.administrator);
  for (const path of ['/profile', OWN, '/people/users', '/organization', '/organization/audit-log'])
    expect([path, wordsOf(await browser.get(path))]).toEqual([path, expect.stringContaining(' is suspended. Its API')]);
  expect(await dashboard.statusOf(key)).toBe(403);
});

async function createForm(actor: Actor, name = 'Once') {
  const browser = await browserOf(dashboard, actor);
  return { browser, fields: fillForm(await browser.form(`${OWN}/new`, OWN), { name }) };
}

const countKeys = ({ userId }: Actor) => db.prisma.apiKey.count({ where: { userId } });

test('the response that shows a key forbids caching, and contains the key only in its text', async () => {
  // The attack: reading the key through the back button, in the disk cache of a shared machine, or in a proxy.
  const { browser, fields } = await createForm(await createAccount(db));
  const page = await browser.post(OWN, fields);
  const [key = ''] = keysIn(page);
  expect([page.status, keysIn(page).length]).toEqual([200, 1]);
  expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'same-origin' });
  for (const name of ['etag', 'last-modified', 'expires', 'location']) expect(page.headers[name]).toBeUndefined();
  expect(JSON.stringify(page.headers) + page.setCookies.join()).not.toContain(key.slice(0, 20));
  expect(page.text).not.toMatch(new RegExp(`(href|src|action|value)="[^"]*${key}`));
  expect(await dashboard.statusOf(key)).toBe(200);
});

test('a form number that is forged, or belongs to another person or form, shows no key', async () => {
  // The attack: forging form ids, so that a form can be sent any number of times.
  const account = await createAccount(db);
  const { browser, fields } = await createForm(account);
  const { fields: strange } = await createForm(await createAccount(db));
  const [id = '', proof = ''] = String(fields['form_id']).split('.');
  for (const form_id of [
    '',
    '.',
    'x.y',
    `x.${proof}`,
    `${id}.`,
    `${id}x.${proof}`,
    String(strange['form_id']),
    undefined,
  ]) {
    const response = await browser.post(OWN, { ...fields, form_id });
    expect([form_id, response.status, keysIn(response)]).toEqual([form_id, 403, []]);
  }
  expect(await countKeys(account)).toBe(0);
});

test('no page, header or log line contains a key, an invitation or a session, except the one response that shows it', async () => {
  // The attack: reading secrets in the logs, the audit log, the export, or a page that was left open.
  const people = await createPeople(db);
  const browser = await browserOf(dashboard, people.administrator, { 'User-Agent': 'Agent' });
  const { userId } = people.member;
  const keys = `/people/users/${userId}/api-keys`;
  const shown = await browser.submit(`${keys}/new`, { name: 'Hidden' }, keys);
  const [key = ''] = keysIn(shown);
  const { id: keyId } = await db.prisma.apiKey.findFirstOrThrow({ where: { userId } });
  const rotated = await browser.submit(`${keys}/${keyId}/rotate`);
  const [next = ''] = keysIn(rotated);
  const person = { name: 'Mei', email: `${crypto.randomUUID()}@example.test`, role: 'viewer' };
  const invited = await browser.submit('/people/users/invite', person);
  const [, link = ''] = /\/welcome\/([\w-]{43})/.exec(invited.text) ?? [];
  expect([key, next, link].map((secret) => secret.length)).toEqual([59, 59, 43]);
  await browser.get(`/people/users?search=${key}`, { 'User-Agent': key, Referer: `http://x/${key}` });
  await browser.get(`/${key}/${link}`);
  await browser.post(OWN, { ...fillForm(await browser.form(`${OWN}/new`, OWN)), name: key } satisfies Fields);
  const pages: Page[] = [];
  for (const path of dashboard.paths) pages.push(await browser.get(fill(path, { userId, keyId })));
  const { rows } = await db.pool.query(
    'select to_jsonb(a)::text from audit_events a union all select to_jsonb(k)::text from api_keys k union all select to_jsonb(s)::text from sessions s union all select to_jsonb(l)::text from access_links l',
  );
  const everything = JSON.stringify([pages, dashboard.logged, rows]);
  for (const secret of [key, next, link, browser.cookies.get('charter') ?? 'none']) {
    expect(everything.includes(secret)).toBe(false);
  }
});

test('no page calls a key unused that was used a moment ago', async () => {
  // The bug: uses were written once a minute, and until then the pages said "Never" and asked for no confirmation.
  const people = await createPeople(db);
  const { scope } = people;
  const { id, key } = await giveKey(db, people.member);
  await db.prisma.apiKey.updateMany({ where: { id }, data: { createdByUserId: people.manager.userId } });
  expect(await dashboard.statusOf(key)).toBe(200);
  const [own, review] = [await browserOf(dashboard, people.member), await browserOf(dashboard, people.manager)];
  const list = '/profile/api-keys';
  const pages = [
    ...[list, `${list}/${id}`, `${list}/${id}/rotate`, `${list}/${id}/rename`, `${list}/${id}/revoke`].map(
      (path) => [own, path] as const,
    ),
    ...[`/people/users/${people.manager.userId}`, '/organization/api-keys'].map((path) => [review, path] as const),
  ];
  for (const [browser, path] of pages) {
    const words = wordsOf(await browser.get(path));
    expect([path, words]).toEqual([path, expect.stringMatching(/just now|a minute ago/)]);
    expect([path, words]).toEqual([path, expect.not.stringContaining('Never ')]);
  }
  // Uses are written within a minute, so a key that ended earlier is known to be unused.
  const ended = await giveKey(db, people.member);
  const data = { revokedAt: new Date(dashboard.now().getTime() - 3 * 60_000) };
  await db.prisma.apiKey.updateMany({ where: { id: ended.id, organizationId: scope.organizationId }, data });
  expect(wordsOf(await own.get(`${list}/${ended.id}`))).toContain('Last used Never');
});
