import { createPeople, giveKey, type People } from '../../support/data/actors.ts';
import { encryptedSecret } from '../../support/data/encryption.ts';
import { type Browser, keysIn, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

let people: People;
let browser: Browser;
const dashboard = await useDashboard();
beforeEach(async () => {
  people = await createPeople(dashboard.db);
  browser = await browserOf(dashboard, people.manager);
});

/** Form number and token of the manager’s own session, from a form that the manager may open. */
async function ownForm() {
  const { fields } = await browser.form('/profile/api-keys/new', '/profile/api-keys');
  const named = new Map(fields);
  return { form_token: named.get('form_token'), form_id: named.get('form_id') };
}

test('a manager cannot create, rotate or rename an administrator’s key, whatever the form contains', async () => {
  // The attack: creating or rotating a key shows it, and so would give a manager an administrator’s power.
  const { key, id } = await giveKey(dashboard.db, people.administrator);
  const keys = `/people/users/${people.administrator.userId}/api-keys`;
  expect(wordsOf(await browser.get(keys))).not.toContain('Rotate');
  for (const path of [`${keys}/new`, `${keys}/${id}/rotate`, `${keys}/${id}/rename`]) {
    expect([path, (await browser.get(path)).status]).toEqual([path, 403]);
  }
  const posts = {
    [keys]: { name: 'Mine', permissions: 'parent_programs:read', expiry: '30' },
    [`${keys}/${id}/rotate`]: {},
    [`${keys}/${id}/rename`]: { name: 'Mine' },
  };
  for (const [path, fields] of Object.entries(posts)) {
    const { form_token, form_id } = await ownForm();
    const whole = path.endsWith('rename') ? { ...fields, form_token } : { ...fields, form_token, form_id };
    const response = await browser.post(path, whole);
    expect([path, response.status, keysIn(response)]).toEqual([path, 403, []]);
  }
  expect(await dashboard.statusOf(key)).toBe(200);
});

test('a manager can revoke an administrator’s key', async () => {
  // Not an attack: revoking gives nobody power, and in an emergency a manager must be able to do it.
  const { key, id } = await giveKey(dashboard.db, people.administrator);
  const path = `/people/users/${people.administrator.userId}/api-keys/${id}/revoke`;
  expect((await browser.submit(path)).status).toBe(303);
  expect(await dashboard.statusOf(key)).toBe(401);
});

test('a manager cannot promote beyond member, change another manager, or take over an account by its reset link', async () => {
  // The attack: a manager promotes an accomplice to administrator, or sets an administrator’s password through a link.
  const { administrator, manager, member } = people;
  const { form_token } = await ownForm();
  const user = (id: string) => `/people/users/${id}`;
  const refused = [
    [`${user(member.userId)}/role`, { role: 'administrator' }],
    [`${user(member.userId)}/role`, { role: 'manager' }],
    [`${user(manager.userId)}/role`, { role: 'administrator' }],
    [`${user(administrator.userId)}/role`, { role: 'viewer' }],
    [`${user(administrator.userId)}/deactivate`, {}],
    [`${user(manager.userId)}/deactivate`, {}],
    [`${user(administrator.userId)}/reactivate`, {}],
    [`${user(administrator.userId)}/second-factor`, {}],
    [`${user(manager.userId)}/second-factor`, {}],
  ] as const;
  for (const [path, fields] of refused) {
    expect([path, (await browser.post(path, { ...fields, form_token })).status]).toEqual([path, 403]);
  }
  for (const role of ['administrator', 'manager']) {
    const fields = { ...(await ownForm()), name: 'Accomplice', email: `${role}@accomplice.test`, role };
    const response = await browser.post('/people/users/invite', fields);
    expect([role, response.status, response.text.includes('/welcome/')]).toEqual([role, 403, false]);
  }
  for (const { userId } of [administrator, manager]) {
    const response = await browser.post(`${user(userId)}/link`, { ...(await ownForm()), kind: 'password_reset' });
    expect([response.status, response.text.includes('/welcome/')]).toEqual([403, false]);
  }
  expect((await browser.get('/organization/audit-log.csv')).status).toBe(403);
});

test('a manager sees no role above member in a form, and no action buttons for an administrator', async () => {
  // The attack: the page itself reveals which form to post.
  const invite = await browser.get('/people/users/invite');
  expect([...invite.text.matchAll(/<option value="(\w+)"/g)].map(([, role]) => role).toSorted()).toEqual([
    'member',
    'viewer',
  ]);
  await dashboard.db.prisma.user.updateMany({
    where: { id: people.administrator.userId },
    data: { totpSecret: encryptedSecret(people.administrator), totpSince: new Date() },
  });
  const page = await browser.get(`/people/users/${people.administrator.userId}`);
  expect(page.text).not.toMatch(/\/(role|link|deactivate|reactivate|second-factor)"/);
});
