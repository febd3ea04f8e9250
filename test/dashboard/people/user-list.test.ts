import { givePasskey } from '../../support/data/accounts.ts';
import { createPeople } from '../../support/data/actors.ts';
import { linkDirectly } from '../../support/data/single-sign-on.ts';
import { wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';
import { textOf } from '../../support/http/forms.ts';

const dashboard = await useDashboard();
const { administrator, member, viewer, scope } = await createPeople(dashboard.db);
const browser = await browserOf(dashboard, administrator);

/** The address of a link with this relation, or with this text. */
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
  // A search keeps the tab.
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
  // A password signs in alone, so the passkey beside it is no second factor.
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
  // The bug: the only user of the second page accepted the invitation, and a reload said that nobody was invited.
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
