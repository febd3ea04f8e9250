import { createPeople, NOBODY } from '../../support/data/actors.ts';
import { giveIntegration } from '../../support/data/integrations.ts';
import { addEndpoint, writeEvent } from '../../support/data/webhooks.ts';
import { type Browser, type Fields, filled, keysIn } from '../../support/http/dashboard.ts';
import { browserOf, fill, rowsOf, useDashboard } from '../../support/http/dashboard-server.ts';
import { formsOf } from '../../support/http/forms.ts';

const dashboard = await useDashboard();
const people = await createPeople(dashboard.db);
const { id: endpointId } = await addEndpoint(dashboard.db, people.administrator);
const messageId = await writeEvent(dashboard.db, people.scope);
const { id: integrationId } = await giveIntegration(dashboard.db, people.manager);

const EXTRA = {
  role: 'administrator',
  organization_id: NOBODY,
  organizationId: NOBODY,
  user_id: NOBODY,
  userId: NOBODY,
  id: NOBODY,
  permissions: 'parent_programs:write',
  expires_at: '2999-01-01',
  password_hash: 'x',
  deactivated_at: '',
  created_by_user_id: NOBODY,
  environment: 'test',
  ['__proto__']: 'x',
  constructor: 'x',
  'role[]': 'administrator',
  secret: 'whsec_AAAA',
  is_test: 'true',
  'event_types[]': 'webhook.test',
};

const ids = { endpointId, messageId, integrationId };

async function everyForm(browser: Browser) {
  const forms = new Map<string, Fields>();
  for (const path of dashboard.paths) {
    const page = await browser.get(fill(path, { userId: people.member.userId, keyId: NOBODY, ...ids }));
    for (const form of formsOf(page.text)) forms.set(form.action, filled(form));
  }
  return forms;
}

test('every form refuses a field that it does not have, and changes nothing', async () => {
  // The attack: send other columns of the row, in the hope that they are assigned by name.
  const browser = await browserOf(dashboard, people.administrator);
  const [forms, before] = [await everyForm(browser), await rowsOf(dashboard.db)];
  expect(forms.size).toBeGreaterThanOrEqual(9);
  for (const [action, fields] of forms) {
    for (const [name, value] of Object.entries(EXTRA)) {
      // Permissions are a field of the key form, and each is checked.
      if (Object.hasOwn(fields, name)) continue;
      const response = await browser.post(action, { ...fields, [name]: value });
      expect([action, name, response.status]).toEqual([action, name, 422]);
    }
  }
  expect(await rowsOf(dashboard.db)).toEqual(before);
});

test('a POST ignores form fields in the query string', async () => {
  // The attack: fields in the URL, where a lax parser merges them with the body.
  const browser = await browserOf(dashboard, people.member);
  const query = `?userId=${people.administrator.userId}&role=administrator&permissions=parent_programs:write&form_token=x`;
  const { fields } = await browser.form('/profile/api-keys/new', '/profile/api-keys');
  const form = { ...Object.fromEntries(fields), name: 'Query', permissions: 'parent_programs:read' };
  const response = await browser.post(`/profile/api-keys${query}`, form);
  expect(response.status).toBe(200);
  const [key] = await dashboard.db.prisma.apiKey.findMany({ where: { name: 'Query' } });
  expect(key).toMatchObject({ userId: people.member.userId, permissions: ['parent_programs:read'] });
});

const TOO_MUCH: readonly [string, Fields][] = [
  ['a permission that nobody has', { permissions: 'organizations:write' }],
  ['one good and one bad permission', { permissions: ['parent_programs:read', '*'] }],
  ['no permission', { permissions: undefined }],
  ['a life beyond the policy', { expiry: '91' }],
  ['a life beyond any policy', { expiry: '99999' }],
  ['no end, which the policy forbids', { expiry: 'never' }],
  ['no expiry', { expiry: undefined }],
  ['an end in the past', { expiry: '-1' }],
  ['a life of no days', { expiry: '0' }],
  ['a life of half a day', { expiry: '0.5' }],
  ['a life in another notation', { expiry: '1e1' }],
  ['a life in other digits', { expiry: '３０' }],
  ['a life that is no number', { expiry: 'NaN' }],
  [
    'a day beyond the policy',
    { expiry: 'day', expiry_date: new Date(Date.now() + 91 * 86_400_000).toISOString().slice(0, 10) },
  ],
  ['a day beyond any policy', { expiry: 'day', expiry_date: '2999-01-01' }],
  ['a day in the past', { expiry: 'day', expiry_date: '2026-01-01' }],
  ['a day that does not exist', { expiry: 'day', expiry_date: '2027-02-30' }],
  ['a day in another notation', { expiry: 'day', expiry_date: '01/02/2027' }],
  ['a blank name', { name: ' \u00a0\t' }],
  ['a name with a line break', { name: 'a\r\nb' }],
  ['a name that turns the text around', { name: 'a\u202eb' }],
  ['a name that is too long', { name: 'x'.repeat(101) }],
];

test.each(TOO_MUCH)('a key with %s is refused with 422', async (_, change) => {
  // The attack: a hand-made form sends values that the select box and the check boxes do not offer.
  const mine = await createPeople(dashboard.db, { maxKeyLifeDays: 90 });
  const browser = await browserOf(dashboard, mine.member);
  const response = await browser.submit('/profile/api-keys/new', { name: 'Mine', ...change }, '/profile/api-keys');
  expect([response.status, keysIn(response)]).toEqual([422, []]);
  expect(await dashboard.db.prisma.apiKey.count({ where: { userId: mine.member.userId } })).toBe(0);
});

test('a key gets no permission beyond its user’s role, whatever the role of its creator', async () => {
  // The attack: an administrator’s session gives a viewer’s key write permission.
  const browser = await browserOf(dashboard, people.administrator);
  const keys = `/people/users/${people.viewer.userId}/api-keys`;
  const change = { name: 'Raised', permissions: ['parent_programs:read', 'parent_programs:write'] };
  const response = await browser.submit(`${keys}/new`, change, keys);
  expect([response.status, keysIn(response)]).toEqual([422, []]);
});

test('an unknown role is refused', async () => {
  // The attack: a role in another spelling, or one that only operators have.
  const browser = await browserOf(dashboard, people.administrator);
  const user = `/people/users/${people.member.userId}`;
  for (const role of ['', 'Administrator', 'operator', 'toString', 'administrator ', "viewer', role='administrator"]) {
    expect([role, (await browser.submit(user, { role }, `${user}/role`)).status]).toEqual([role, 422]);
  }
});
