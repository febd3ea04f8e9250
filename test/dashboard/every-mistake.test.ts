import { addSecondFactor, createAccount } from '../support/data/accounts.ts';
import { createPeople, giveKey } from '../support/data/actors.ts';
import { encryptedSecret } from '../support/data/encryption.ts';
import { type Fields, type Page, wordsOf } from '../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../support/http/dashboard-server.ts';

const dashboard = await useDashboard();

/** The fields that the summary of mistakes leads to, in its order. */
function mistakesIn({ text }: Page): string[] {
  const [summary = ''] = /<div class="notice danger" role="alert"[\s\S]*?<\/div>/.exec(text) ?? [];
  return [...summary.matchAll(/href="#([^"]*)"/g)].map(([, field = '']) => field);
}

const KEYS = '/profile/api-keys';
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
  // The bug: each mistake came up only after the one before it was corrected.
  const { member } = await createPeople(dashboard.db, { maxKeyLifeDays: 90 });
  await giveKey(dashboard.db, member, { name: 'Nightly import', lifeDays: 30 });
  const browser = await browserOf(dashboard, member);
  const page = await browser.submit(`${KEYS}/new`, change, KEYS);
  expect([page.status, mistakesIn(page)]).toEqual([422, fields]);
  expect(page.text).toContain('<title>Error: ');
  for (const field of fields) expect(page.text).toContain(`id="${field}-error"`);
});

test('the form for a rotation reports a life beyond the policy and a wrong name at once', async () => {
  const { administrator, member } = await createPeople(dashboard.db, { maxKeyLifeDays: 90 });
  const { id } = await giveKey(dashboard.db, member, { name: 'Nightly import', lifeDays: 30 });
  await dashboard.db.prisma.apiKey.updateMany({ where: { id }, data: { lastUsedAt: new Date() } });
  const browser = await browserOf(dashboard, administrator);
  const rotate = `/people/users/${member.userId}/api-keys/${id}/rotate`;
  for (const expiry of ['91', '9999', 'x', 'never']) {
    const page = await browser.submit(rotate, { expiry, key_name: 'Other' });
    expect([expiry, page.status, mistakesIn(page)]).toEqual([expiry, 422, ['expiry', 'key_name']]);
  }
  expect(mistakesIn(await browser.submit(rotate, { key_name: 'Other' }))).toEqual(['key_name']);
});

test('the form for an invitation reports every mistake at once', async () => {
  const { administrator } = await createPeople(dashboard.db);
  const browser = await browserOf(dashboard, administrator);
  const page = await browser.submit('/people/users/invite', { name: '', email: 'nobody', role: 'owner' });
  expect([page.status, mistakesIn(page)]).toEqual([422, ['name', 'email', 'role']]);
});

test('the message after an action names the key or the person, and a forged link claims nothing', async () => {
  // The attack: a link that tells an administrator that a key, which still works, was revoked.
  const { administrator, member } = await createPeople(dashboard.db);
  const key = await giveKey(dashboard.db, member, { name: 'Nightly import' });
  const browser = await browserOf(dashboard, administrator);
  const user = `/people/users/${member.userId}`;
  const keys = `${user}/api-keys`;
  const follow = async (page: Page) => wordsOf(await browser.get(page.headers['location'] ?? ''));
  for (const id of [key.id, '', 'x', administrator.userId]) {
    expect(wordsOf(await browser.get(`${keys}?done=revoked&key=${id}`))).not.toContain('was revoked');
  }
  const renamed = await browser.submit(`${keys}/${key.id}/rename`, { name: 'Weekly import' });
  expect(await follow(renamed)).toContain('The key is now named Weekly import.');
  expect(await follow(await browser.submit(`${keys}/${key.id}/revoke`))).toContain('Weekly import was revoked.');
  // Also where the list page does not reach the key.
  await dashboard.db.pool.query(
    `insert into api_keys (organization_id, id, user_id, name, name_key, key_hash, key_prefix, permissions, revoked_at)
     select $1::uuid, gen_random_uuid(), $2::uuid, 'Ended ' || i, sha256(i::text::bytea), sha256(($2::uuid::text || i)::bytea),
            'charter_live_0000', '{parent_programs:read}', now() from generate_series(1, 60) i`,
    [member.scope.organizationId, member.userId],
  );
  expect(wordsOf(await browser.get(`${keys}?done=revoked&key=${key.id}`))).toContain('Weekly import was revoked.');
  const roleChange = await browser.submit(user, { role: 'viewer' }, `${user}/role`);
  expect(await follow(roleChange)).toContain('The role of The member is now Viewer.');
  expect(await follow(await browser.submit(`${user}/deactivate`))).toContain('The member is deactivated:');
  expect(await follow(await browser.submit(user, {}, `${user}/reactivate`))).toContain('The member is active again');
});

test('a reload confirms no deactivation, reactivation or removal of a second factor that was undone meanwhile', async () => {
  // The bug: the page said that a user was deactivated and every key revoked, above the status "Active".
  const { administrator, member } = await createPeople(dashboard.db);
  const browser = await browserOf(dashboard, administrator);
  const user = `/people/users/${member.userId}`;
  const after = async (done: string) => wordsOf(await browser.get(`${user}?done=${done}`));
  const [deactivated, reactivated, removed] = [
    'The member is deactivated:',
    'The member is active again',
    'The second factor and the passkeys of The member are removed',
  ];
  expect(await after('deactivated')).not.toContain(deactivated);
  expect(await after('reactivated')).toContain(reactivated);
  await dashboard.db.prisma.user.updateMany({ where: { id: member.userId }, data: { deactivatedAt: new Date() } });
  expect(await after('deactivated')).toContain(deactivated);
  expect(await after('reactivated')).not.toContain(reactivated);
  expect(await after('factor-removed')).toContain(removed);
  await dashboard.db.prisma.user.updateMany({
    where: { id: member.userId },
    data: { totpSecret: encryptedSecret(member), totpSince: new Date() },
  });
  expect(await after('factor-removed')).not.toContain(removed);
});

test('one’s own profile does not say that the second factor is off while it is on', async () => {
  // The bug: the page before the second set-up, which the browser requests again after "Back".
  const account = await createAccount(dashboard.db);
  const browser = await browserOf(dashboard, account);
  const words = async () => wordsOf(await browser.get('/profile?done=factor-off'));
  expect(await words()).toContain('Your second factor is off.');
  const { token } = await addSecondFactor(dashboard.db, account, dashboard.now());
  browser.cookies.set('charter', token);
  expect(await words()).toMatch(/^(?!.*Your second factor is off).*Second factor On/);
});

test('the page for deactivating a user says which keys end, how many, and when they were last used', async () => {
  const { administrator, member } = await createPeople(dashboard.db);
  const browser = await browserOf(dashboard, administrator);
  const path = `/people/users/${member.userId}/deactivate`;
  expect(wordsOf(await browser.get(path))).toContain('The member has no active API key.');
  const { id } = await giveKey(dashboard.db, member, { name: 'Nightly import' });
  expect(wordsOf(await browser.get(path))).toContain(
    '1 active API key of The member is revoked for good. No use is recorded yet. Requests that use it are refused with 401.',
  );
  await giveKey(dashboard.db, member, { name: 'Reporting' });
  await dashboard.db.prisma.apiKey.updateMany({
    where: { id },
    data: { lastUsedAt: new Date(Date.now() - 3 * 3_600_000) },
  });
  const words = wordsOf(await browser.get(path));
  expect(words).toContain('2 active API keys of The member are revoked for good. The last use was 3 hours ago .');
  expect(words).toMatch(/Nightly import charter_live_\w{4}… Last used: 3 hours ago/);
  expect(words).toMatch(/Reporting charter_live_\w{4}… Last used: No use recorded yet/);
});
