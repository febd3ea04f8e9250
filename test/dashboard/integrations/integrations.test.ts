import { PERMISSIONS } from '../../../src/domain/people/role.ts';
import { changeIntegration } from '../../../src/service/integrations/change-integration.ts';
import { moveKey } from '../../../src/service/keys/move-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { keysIn, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, createSignedIn, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';
import { giveIntegration, giveIntegrationKey } from '../../support/data/integrations.ts';

const dashboard = await useDashboard();
const { db } = dashboard;
const INTEGRATIONS = '/organization/integrations';

// The risk: the page of a user, which offers links and roles, is shown for the id of an integration.
test('the pages of users do not show an integration, and those of integrations no user', async () => {
  const { browser, member } = await createSignedIn(dashboard, 'administrator');
  const integration = await giveIntegration(db, member);
  const [key, own] = [await giveIntegrationKey(db, member, integration), await giveKey(db, member)];
  const [user, wrongUser] = [`/people/users/${integration.id}`, `${INTEGRATIONS}/${member.userId}`];
  for (const path of [user, `${user}/role?role=viewer`, `${user}/deactivate`, `${user}/second-factor`, wrongUser])
    expect([path, (await browser.get(path)).status]).toEqual([path, 404]);
  for (const [place, { id }] of [
    [user, key],
    [wrongUser, own],
  ] as const) {
    for (const path of ['', '/new', `/${id}`, `/${id}/rotate`, `/${id}/rename`, `/${id}/revoke`, `/${id}/move`])
      expect([path, (await browser.get(`${place}/api-keys${path}`)).status]).toEqual([path, 404]);
  }
  expect(wordsOf(await browser.get('/people/users'))).not.toContain(integration.name);
});

test('an owner creates a key of the integration, sees it once, and finds the integration under Organization', async () => {
  const { browser, member } = await createSignedIn(dashboard, 'member');
  const integration = await giveIntegration(db, member, { name: 'Nightly import' });
  expect(wordsOf(await browser.get('/profile'))).toContain('Organization');
  expect(wordsOf(await browser.get(INTEGRATIONS))).toContain('Nightly import');
  const keys = `${INTEGRATIONS}/${integration.id}/api-keys`;
  const page = await browser.submit(`${keys}/new`, { name: 'Production' }, keys);
  expect(page.status).toBe(200);
  const [key = ''] = keysIn(page);
  expect(await dashboard.statusOf(key)).toBe(200);
  expect(wordsOf(await browser.get(keys))).toContain('Production');
});

test('the organization finds a key of an integration by the key itself and by the name of the integration', async () => {
  const { browser, administrator } = await createSignedIn(dashboard, 'administrator');
  const integration = await giveIntegration(db, administrator, { name: 'Warehouse export' });
  const { id, key } = await giveIntegrationKey(db, administrator, integration, { name: 'Production' });
  const found = await browser.submit('/organization/api-keys', { search: key });
  expect(found.headers['location']).toContain(`${INTEGRATIONS}/${integration.id}/api-keys/${id}`);
  const listed = await browser.get('/organization/api-keys?holder=WAREHOUSE');
  expect(listed.text).toContain(`${INTEGRATIONS}/${integration.id}/api-keys/${id}`);
  expect(wordsOf(await browser.get('/organization/api-keys?holder=nobody'))).not.toContain('Production');
});

test('a move is an event of the user and of the integration, and links to where the key is now', async () => {
  const { browser, administrator, member } = await createSignedIn(dashboard, 'administrator');
  const integration = await giveIntegration(db, administrator, { name: 'Course catalogue' });
  const { id: keyId } = await giveKey(db, member, { name: 'Laptop' });
  const move = { keyId, userId: member.userId, integrationId: integration.id, name: 'Server' };
  orThrow(await moveKey(db, administrator, move));
  for (const [person, words] of [
    ['Course catalogue', `From ${member.name}`],
    [member.email, 'To Course catalogue'],
  ] as const) {
    const page = await browser.get(`/organization/audit-log?action=key.moved&person=${encodeURIComponent(person)}`);
    expect(wordsOf(page)).toContain(words);
    expect(wordsOf(page)).toContain('Its name was “Laptop”');
    expect(page.text).toContain(`${INTEGRATIONS}/${integration.id}/api-keys/${keyId}`);
  }
});

test('the page of a moved key names its former user, and links to no rotation that another holder has', async () => {
  const { browser, administrator, member } = await createSignedIn(dashboard, 'administrator');
  const integration = await giveIntegration(db, administrator);
  const first = await giveKey(db, member, { name: 'Import' });
  const rotation = { keyId: first.id, userId: member.userId, environment: 'live' } as const;
  const { id: keyId } = orThrow(await rotateKey(db, member, rotation));
  const move = { keyId, userId: member.userId, integrationId: integration.id, name: 'Import' };
  orThrow(await moveKey(db, administrator, move));
  const keys = `${INTEGRATIONS}/${integration.id}/api-keys`;
  const page = await browser.get(`${keys}/${keyId}`);
  expect(wordsOf(page)).toContain(`from ${member.name}`);
  for (const [, path = ''] of page.text.matchAll(/href="([^"]*\/api-keys\/[^"#?]*)"/g))
    expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
  const former = await browser.get(`/people/users/${member.userId}/api-keys/${first.id}`);
  expect(former.status).toBe(200);
});

// Mails, bookmarks and tickets contain the old address. The attack: learning from the address whether the key exists.
test('the old address of a moved key leads those who may see the key to its new page, and nobody else', async () => {
  const { administrator, manager, member, viewer } = await createPeople(db);
  const integration = await giveIntegration(db, viewer);
  const { id: keyId } = await giveKey(db, member);
  const { id: ownKeyId } = await giveKey(db, administrator);
  for (const [userId, moved] of [
    [member.userId, keyId],
    [administrator.userId, ownKeyId],
  ] as const)
    orThrow(
      await moveKey(db, administrator, { keyId: moved, userId, integrationId: integration.id, name: `Moved ${moved}` }),
    );
  const addressOf = (id: string) => `${INTEGRATIONS}/${integration.id}/api-keys/${id}`;
  const old = `/people/users/${member.userId}/api-keys/${keyId}`;
  for (const actor of [administrator, manager]) {
    const browser = await browserOf(dashboard, actor);
    expect(await browser.get(old)).toMatchObject({ status: 303, headers: { location: addressOf(keyId) } });
    const back = encodeURIComponent('?search=Moved');
    const { headers } = await browser.get(`${old}?back=${back}`);
    expect(headers['location']).toBe(`${addressOf(keyId)}?back=${back}`);
    expect((await browser.get(`/people/users/${administrator.userId}/api-keys/${keyId}`)).status).toBe(404);
  }
  const own = await (await browserOf(dashboard, administrator)).get(`/profile/api-keys/${ownKeyId}`);
  expect(own).toMatchObject({ status: 303, headers: { location: addressOf(ownKeyId) } });
  const statusFor = async (actor: typeof member, path: string) =>
    (await (await browserOf(dashboard, actor)).get(path)).status;
  expect(await statusFor(member, `/profile/api-keys/${keyId}`)).toBe(404);
  expect(await statusFor(viewer, old)).toBe(403);
  const foreign = (await createPeople(db)).administrator;
  expect(await statusFor(foreign, old)).toBe(404);
  orThrow(
    await changeIntegration(db, administrator, {
      ...{ id: integration.id, name: integration.name, description: '', role: 'member', noticeEmail: '' },
      owner: member.email,
    }),
  );
  expect(await statusFor(member, `/profile/api-keys/${keyId}`)).toBe(303);
});

test('a form for an integration names a wrong owner together with the other mistakes', async () => {
  const { administrator } = await createPeople(db);
  const foreign = (await createPeople(db)).member;
  const { id } = await giveIntegration(db, administrator);
  const browser = await browserOf(dashboard, administrator);
  for (const path of [`${INTEGRATIONS}/new`, `${INTEGRATIONS}/${id}/change`]) {
    for (const owner of [`${crypto.randomUUID()}@example.test`, foreign.email]) {
      const page = await browser.submit(path, { name: '', notice_email: 'x', owner });
      expect(page.status).toBe(422);
      const words = wordsOf(page);
      for (const mistake of ['Name must', 'E-mail for notices must', 'Owner must be the e-mail of an active user'])
        expect(words).toContain(mistake);
    }
  }
});

test('the page of an integration says who gets the mails', async () => {
  const { browser, manager } = await createSignedIn(dashboard, 'administrator');
  const { id } = await giveIntegration(db, manager);
  const page = `${INTEGRATIONS}/${id}`;
  expect(wordsOf(await browser.get(page))).toContain('None besides the owner’s');
  await db.prisma.user.updateMany({ where: { id: manager.userId }, data: { deactivatedAt: new Date() } });
  expect(wordsOf(await browser.get(page))).toContain('None. An administrator gets the mails until there is an owner.');
  await db.prisma.user.updateMany({ where: { id }, data: { noticeEmail: 'team@example.test' } });
  const words = wordsOf(await browser.get(page));
  expect(words).toContain('team@example.test');
  expect(words).not.toContain('An administrator gets');
});

test('a demotion of an owner by the form of the user page leads to the page that asks for an owner', async () => {
  const { browser, manager } = await createSignedIn(dashboard, 'administrator');
  await giveIntegration(db, manager, { name: 'Nightly import' });
  const user = `/people/users/${manager.userId}`;
  const asked = await browser.submit(user, { role: 'viewer' }, `${user}/role`);
  expect([asked.status, asked.headers['location']]).toEqual([303, `${user}/role?role=viewer`]);
  const page = await browser.get(`${user}/role?role=viewer`);
  expect(wordsOf(page)).toContain('owns 1 integration');
  const refused = await browser.submit(`${user}/role?role=viewer`, { new_owner: 'x' }, `${user}/role`);
  expect(refused.status).toBe(422);
  const done = await browser.submit(`${user}/role?role=viewer`, {}, `${user}/role`);
  expect([done.status, done.headers['location']]).toEqual([303, `${user}?done=role`]);
});

test('a key that is refused because its integration is suspended is not shown as active', async () => {
  const { browser, administrator } = await createSignedIn(dashboard, 'administrator');
  const integration = await giveIntegration(db, administrator);
  const { id, key } = await giveIntegrationKey(db, administrator, integration);
  const one = `${INTEGRATIONS}/${integration.id}`;
  const pages = [`${one}/api-keys`, `${one}/api-keys/${id}`, '/organization/api-keys'];
  const badges = async () =>
    Promise.all(
      pages.map(async (path) => /<span class="badge \w+">\w+<\/span>/.exec((await browser.get(path)).text)?.[0]),
    );
  expect(await badges()).toEqual(Array(3).fill('<span class="badge good">Active</span>'));
  expect((await browser.submit(`${one}/suspend`)).status).toBe(303);
  expect(await dashboard.statusOf(key)).toBe(401);
  expect(await badges()).toEqual(Array(3).fill('<span class="badge neutral">Suspended</span>'));
});

test('the lists and the page of a key say which of its permissions the role of its holder does not allow', async () => {
  const { browser, administrator } = await createSignedIn(dashboard, 'administrator');
  const integration = await giveIntegration(db, administrator);
  const { id } = await giveIntegrationKey(db, administrator, integration, { permissions: [...PERMISSIONS] });
  const one = `${INTEGRATIONS}/${integration.id}`;
  const WORDS = 'The role does not allow parent_programs:write';
  const pages = [`${one}/api-keys`, `${one}/api-keys/${id}`, '/organization/api-keys'];
  for (const path of pages) expect(wordsOf(await browser.get(path))).not.toContain(WORDS);
  expect((await browser.submit(`${one}/change`, { role: 'viewer' })).status).toBe(303);
  for (const path of pages) expect(wordsOf(await browser.get(path))).toContain(WORDS);
});

test('the form for a move selects no integration if there are several, and needs one', async () => {
  const { browser, administrator, member } = await createSignedIn(dashboard, 'administrator');
  await giveIntegration(db, administrator);
  const { id } = await giveKey(db, member);
  const path = `/people/users/${member.userId}/api-keys/${id}/move`;
  expect((await browser.get(path)).text).not.toContain('<option value="">');
  await giveIntegration(db, administrator);
  const page = await browser.get(path);
  expect(page.text).toContain('<select id="integration" name="integration" required><option value="">');
  expect(wordsOf(page)).toContain('keeps its permissions, its expiry, its allowed addresses and its rate limit');
  const refused = await browser.submit(path);
  expect(refused.status).toBe(422);
  expect(wordsOf(refused)).toContain('Integration must be chosen.');
});

test('a manager creates an integration, suspends it and reactivates it, and its key follows', async () => {
  const { browser } = await createSignedIn(dashboard, 'manager');
  const created = await browser.submit(`${INTEGRATIONS}/new`, { name: 'Nightly import', role: 'member' });
  const at = created.headers['location'] ?? '';
  expect(wordsOf(await browser.get(at))).toContain('Nightly import is created.');
  const one = at.split('?')[0] ?? '';
  const [key = ''] = keysIn(await browser.submit(`${one}/api-keys/new`, { name: 'Production' }, `${one}/api-keys`));
  expect(await dashboard.statusOf(key)).toBe(200);
  for (const [form, action, words, status] of [
    [`${one}/suspend`, `${one}/suspend`, 'Nightly import is suspended.', 401],
    [one, `${one}/reactivate`, 'Nightly import is active again', 200],
  ] as const) {
    const done = await browser.submit(form, {}, action);
    expect(wordsOf(await browser.get(done.headers['location'] ?? ''))).toContain(words);
    expect(await dashboard.statusOf(key)).toBe(status);
  }
});

test('an owner moves their own key, whose name must be free there, and still finds it in the list of moved keys', async () => {
  const { browser, member } = await createSignedIn(dashboard, 'member');
  const integration = await giveIntegration(db, member, { name: 'Enrolment sync' });
  await giveIntegrationKey(db, member, integration, { name: 'Production' });
  const { id, key } = await giveKey(db, member, { name: 'Production' });
  const path = `/profile/api-keys/${id}/move`;
  expect(wordsOf(await browser.submit(path))).toContain('Enrolment sync has a key named "Production" already.');
  const moved = await browser.submit(path, { name: 'Production, moved' });
  const there = wordsOf(await browser.get(moved.headers['location'] ?? ''));
  expect(there).toContain('Production, moved was moved here from The member.');
  expect(await dashboard.statusOf(key)).toBe(200);
  expect(wordsOf(await browser.get('/profile/api-keys'))).toMatch(/Moved to integrations .*Production, moved/);
});

test('every page of the organization names an integration without an active owner, until an administrator takes it', async () => {
  const { administrator, member } = await createPeople(db);
  const { id } = await giveIntegration(db, member, { name: 'Enrolment sync' });
  // A server of the previous version deactivates an owner without naming a successor.
  await db.prisma.user.updateMany({ where: { id: member.userId }, data: { deactivatedAt: new Date() } });
  const browser = await browserOf(dashboard, administrator);
  const pages = ['/organization', '/organization/api-keys', INTEGRATIONS];
  for (const path of pages) expect(wordsOf(await browser.get(path))).toContain('An integration has no active owner.');
  const taken = await browser.submit(`${INTEGRATIONS}/${id}`, {}, `${INTEGRATIONS}/${id}/take`);
  expect(wordsOf(await browser.get(taken.headers['location'] ?? ''))).toContain('The administrator is the owner now.');
  for (const path of pages) expect(wordsOf(await browser.get(path))).not.toContain('has no active owner');
});

test('an owner who is deactivated by the form is replaced by the user that the form names, and the key stays valid', async () => {
  const { browser, administrator, manager } = await createSignedIn(dashboard, 'administrator');
  const integration = await giveIntegration(db, manager);
  const { key } = await giveIntegrationKey(db, manager, integration);
  const path = `/people/users/${manager.userId}/deactivate`;
  expect((await browser.submit(path, { new_owner: 'nobody@example.test' })).status).toBe(422);
  expect((await browser.submit(path, { new_owner: administrator.email })).status).toBe(303);
  expect(await dashboard.statusOf(key)).toBe(200);
  expect(wordsOf(await browser.get(INTEGRATIONS))).toContain('The administrator');
});
