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
