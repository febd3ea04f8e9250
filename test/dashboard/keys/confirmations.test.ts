import type { Actor } from '../../../src/domain/actor.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';
import { keysIn, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();
const { db } = dashboard;
const { manager, member } = await createPeople(db);
const managing = await browserOf(dashboard, manager);

const HOUR_MS = 3_600_000;

/** A key of the user, last used so long ago; null: never. */
async function keyOf(holder: Actor, hours: number | null) {
  const issued = await giveKey(db, holder, { name: `Nightly ${crypto.randomUUID()}` });
  const lastUsedAt = hours === null ? null : new Date(dashboard.now().getTime() - hours * HOUR_MS);
  await db.prisma.apiKey.updateMany({ where: { id: issued.id }, data: { lastUsedAt } });
  return issued;
}

const pathOf = (id: string, action: string) => `/people/users/${member.userId}/api-keys/${id}/${action}`;

test.each(['rotate', 'rename', 'revoke'])(
  'the page for %s names whose key it is, which, and its last use',
  async (action) => {
    const { id, key } = await keyOf(member, 3);
    const words = wordsOf(await managing.get(pathOf(id, action)));
    for (const text of ['Acts for The member', `${member.email} · Member`, `${key.slice(0, 17)}…`, '3 hours ago'])
      expect(words).toContain(text);
  },
);

test.each(['rotate', 'revoke'])(
  'a key of somebody else that is in use: to %s it, its name must be typed',
  async (action) => {
    // The risk: the wrong row is clicked, and a program of somebody else stops.
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
  expect([refused.status, wordsOf(refused)]).toEqual([422, expect.stringContaining('The key is in use.')]);
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
    expect(wordsOf(form).includes(`The key acts for The member, ${people.member.email}.`)).toBe(!isOwn);
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
    const revoked = await browser.submit(`${keys}/${next}/revoke`);
    expect(await dashboard.statusOf(key)).toBe(401);
    const after = await browser.get(revoked.headers['location'] ?? '');
    expect(wordsOf(after)).toContain('Production was revoked. It is refused from now on.');
    const ended = wordsOf(await browser.get(`${keys}?state=ended`));
    for (const what of ['Rotated', 'Revoked'])
      expect(ended).toMatch(new RegExp(`${what} by The ${role} \\d+ \\w{3} \\d{4}, \\d\\d:\\d\\d UTC`));
    expect(ended).not.toContain('Actions for key');
  },
);
