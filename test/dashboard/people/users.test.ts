import { removeUser } from '../../../src/service/operator/users.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { setPassword } from '../../../src/service/people/access-links.ts';
import { inviteUser } from '../../../src/service/people/invitations.ts';
import { fillForm, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, createSignedIn, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { textOf } from '../../support/dashboard/forms.ts';
import { givePasskey, linkDirectly, newAuditSource, PASSWORD } from '../../support/data/accounts.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';
import { encryptedSecret } from '../../support/postgres/postgres.ts';

const dashboard = await useDashboard();
const { administrator, member, viewer, scope } = await createPeople(dashboard.db);
const browser = await browserOf(dashboard, administrator);

/** Returns the URL of the link with this relation or this text. */
function linkIn(page: { readonly text: string }, what: string): string {
  const [, href = ''] = new RegExp(`href="([^"]*)"(?: rel="${what}"|[^>]*>${what}<)`).exec(page.text) ?? [];
  return textOf(href);
}

test('the tabs show everybody, those who are invited, and those who are deactivated', async () => {
  const { organizationId } = scope;
  const at = (userId: string) => ({ organizationId_id: { organizationId, id: userId } });
  const { prisma } = dashboard.db;
  await prisma.user.updateMany({ where: { organizationId }, data: { passwordHash: 'set' } });
  await prisma.user.update({ where: at(member.userId), data: { passwordHash: null, name: 'The invited' } });
  await prisma.user.update({ where: at(viewer.userId), data: { deactivatedAt: new Date(), name: 'The former' } });
  const all = await browser.get('/people/users');
  for (const name of ['The invited', 'The former', 'The manager']) expect(wordsOf(all)).toContain(name);
  const invited = await browser.get(linkIn(all, 'Invited'));
  expect(wordsOf(invited)).toContain('The invited');
  expect(wordsOf(invited)).not.toMatch(/The (former|manager)/);
  const deactivated = await browser.get(linkIn(invited, 'Deactivated'));
  expect(wordsOf(deactivated)).toContain('The former');
  expect(wordsOf(deactivated)).not.toMatch(/The (invited|manager)/);
  // A search keeps the selected tab.
  const found = await browser.submit('/people/users?state=invited', { search: 'The' }, '/people/users');
  expect(found.headers['location']).toBe('/people/users?state=invited&search=The');
});

test('the list says what people without a password use in place of a second factor', async () => {
  const { administrator: other, manager, member: linked } = await createPeople(dashboard.db);
  const { prisma } = dashboard.db;
  for (const each of [other, manager]) await givePasskey(dashboard.db, each);
  await linkDirectly(dashboard.db, linked);
  const set = (userId: string, data: { name: string; passwordHash: string | null }) =>
    prisma.user.updateMany({ where: { id: userId }, data });
  // A password suffices to sign in, so a passkey beside it is not a second factor.
  await set(other.userId, { name: 'With both', passwordHash: 'set' });
  await set(manager.userId, { name: 'With a passkey', passwordHash: null });
  await set(linked.userId, { name: 'With a provider', passwordHash: null });
  const words = wordsOf(await (await browserOf(dashboard, other)).get('/people/users'));
  expect(words).toMatch(/With both .* Administrator Off .* Active/);
  expect(words).toMatch(/With a passkey .* Manager Passkey .* Active/);
  expect(words).toMatch(/With a provider .* Member Single sign-on .* Active/);
});

test('each list page shows its range and the total number of people, and links to the previous one', async () => {
  const { administrator: other, scope: own } = await createPeople(dashboard.db);
  await dashboard.db.pool.query(
    `insert into users (organization_id, id, email, name, role)
     select $1::uuid, gen_random_uuid(), i || '@' || $1::uuid::text || '.example', 'Person ' || i, 'member' from generate_series(1, 1195) i`,
    [own.organizationId],
  );
  const reading = await browserOf(dashboard, other);
  const first = await reading.get('/people/users');
  expect(wordsOf(first)).toContain('1–25 of 1,200');
  const second = await reading.get(linkIn(first, 'next'));
  expect(wordsOf(second)).toContain('26–50 of 1,200');
  const back = await reading.get(linkIn(second, 'prev'));
  expect(wordsOf(back)).toContain('1–25 of 1,200');
  expect(linkIn(back, 'prev')).toBe('');
});

test('a list page past the end does not say that there is nobody, and leads to the first page', async () => {
  // The bug: after the only user on the second page had accepted the invitation, a reload said that nobody was invited.
  const { administrator: other, scope: own } = await createPeople(dashboard.db);
  await dashboard.db.pool.query(
    `insert into users (organization_id, id, email, name, role)
     select $1::uuid, gen_random_uuid(), 'late-' || i || '@' || $1::uuid::text || '.example', 'Zoe ' || i, 'member'
     from generate_series(1, 26) i`,
    [own.organizationId],
  );
  const reading = await browserOf(dashboard, other);
  const starts = ['/people/users?search=zoe', '/people/users?state=invited&search=zoe'];
  const second = await Promise.all(starts.map(async (start) => linkIn(await reading.get(start), 'next')));
  await dashboard.db.prisma.user.deleteMany({
    where: { organizationId: own.organizationId, name: { startsWith: 'Zoe' } },
  });
  for (const [i, path] of second.entries()) {
    const page = await reading.get(path);
    expect([path, page.status, wordsOf(page)]).toEqual([
      path,
      200,
      expect.stringContaining('There are no more users.'),
    ]);
    expect(wordsOf(page)).not.toMatch(/Nobody|No name or e-mail/);
    expect(linkIn(page, 'First page')).toBe(starts[i]);
  }
});

test('the message after an action names the key or the person, and a forged link claims nothing', async () => {
  // The attack: a link makes our page tell an administrator that a key was revoked, although it still works.
  const { browser, administrator, member } = await createSignedIn(dashboard, 'administrator');
  const key = await giveKey(dashboard.db, member, { name: 'Nightly import' });
  const user = `/people/users/${member.userId}`;
  const keys = `${user}/api-keys`;
  const follow = async (page: Page) => wordsOf(await browser.get(page.headers['location'] ?? ''));
  for (const id of [key.id, '', 'x', administrator.userId]) {
    expect(wordsOf(await browser.get(`${keys}?done=revoked&key=${id}`))).not.toContain('was revoked');
  }
  const renamed = await browser.submit(`${keys}/${key.id}/rename`, { name: 'Weekly import' });
  expect(await follow(renamed)).toContain('The key is now named Weekly import.');
  expect(await follow(await browser.submit(`${keys}/${key.id}/revoke`))).toContain('Weekly import was revoked.');
  // The message names the key even if the first page of the list does not contain the key.
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
  const { browser, member } = await createSignedIn(dashboard, 'administrator');
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

test('the page for deactivating a user says which keys end, how many, and when they were last used', async () => {
  const { browser, member } = await createSignedIn(dashboard, 'administrator');
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

test('the form for an invitation reports every mistake at once', async () => {
  const { browser } = await createSignedIn(dashboard, 'administrator');
  const page = await browser.submit('/people/users/invite', { name: '', email: 'nobody', role: 'owner' });
  expect(page.status).toBe(422);
  for (const field of ['name', 'email', 'role']) expect(page.text).toContain(`href="#${field}"`);
});

test('somebody whom an operator has removed is shown without an e-mail, and cannot be reactivated', async () => {
  const { administrator, manager, member } = await createPeople(dashboard.db);
  await giveKey(dashboard.db, member);
  await removeUser(dashboard.db, member.email);
  for (const browser of [await browserOf(dashboard, administrator), await browserOf(dashboard, manager)]) {
    const list = wordsOf(await browser.get('/people/users?state=deactivated'));
    expect(list).toMatch(/The member no e-mail .*Removed/);
    const page = wordsOf(await browser.get(`/people/users/${member.userId}`));
    expect(page).toMatch(/no e-mail .*Removed .*An operator has removed the account.*Invite the person/);
    for (const each of [list, page]) expect(each).not.toMatch(/removed\.invalid|Reactivate/);
  }
});

test('a correction of an e-mail that comes after the invitation was accepted says so', async () => {
  const { browser, administrator } = await createSignedIn(dashboard, 'administrator');
  const email = `${crypto.randomUUID()}@example.test`;
  const { link } = orThrow(await inviteUser(dashboard.db, administrator, { email, name: 'Mei', role: 'viewer' }));
  const path = `/people/users/${link.userId}/email`;
  const fields = fillForm(await browser.form(path), { email: `${crypto.randomUUID()}@example.test` });
  orThrow(await setPassword(dashboard.db, { token: link.token, password: PASSWORD, auditSource: newAuditSource() }));
  const refused = await browser.post(path, fields);
  expect([refused.status, wordsOf(refused)]).toEqual([409, expect.stringContaining('has accepted the invitation')]);
});
