import { createPeople, giveKey, NOBODY, type People } from '../support/data/actors.ts';
import { encryptedSecret } from '../support/data/encryption.ts';
import { giveIntegration, giveIntegrationKey } from '../support/data/integrations.ts';
import { addEndpoint, writeEvent } from '../support/data/webhooks.ts';
import { type Fields, keysIn, wordsOf } from '../support/http/dashboard.ts';
import { browserOf, fill, useDashboard } from '../support/http/dashboard-server.ts';

const dashboard = await useDashboard();
const people = await createPeople(dashboard.db);

const KEY = { name: 'Stolen', permissions: ['parent_programs:read'], expiry: '30' };
const PERSON = { name: 'Accomplice', email: 'accomplice@example.test', role: 'administrator' };
const POLICY = { max_key_life_days: '3650', allows_unending_keys: 'yes', members_may_create_keys: 'yes' };

/** Every form of the sign-in's settings. */
const SIGN_IN_SETTINGS: Record<string, Fields> = {
  '/organization/sign-in/connection': { issuer: 'https://evil.example', client_id: 'evil', client_secret: 'evil' },
  '/organization/sign-in/connection/remove': {},
  '/organization/sign-in/domains': { domain: 'evil.example' },
  '/organization/sign-in/domains/check': { domain: 'evil.example' },
  '/organization/sign-in/domains/remove': { domain: 'evil.example' },
  '/organization/sign-in/roles': { new_people: 'member', groups_claim: 'groups', group_roles: 'evil = manager' },
  '/organization/sign-in/require': { break_glass: NOBODY },
  '/organization/sign-in/allow-passwords': {},
};

const WEBHOOK = { url: 'https://evil.example/', event_types: 'parent_program.created' };

/** Every form of webhooks. */
function webhookPosts({ endpointId, messageId }: { endpointId: string; messageId: string }): Record<string, Fields> {
  const endpoint = `/organization/webhooks/${endpointId}`;
  return {
    '/organization/webhooks/new': { ...WEBHOOK, form_id: 'x.y' },
    [`${endpoint}/change`]: WEBHOOK,
    [`${endpoint}/rotate`]: { form_id: 'x.y' },
    [`${endpoint}/disable`]: {},
    [`${endpoint}/enable`]: {},
    [`${endpoint}/delete`]: {},
    [`${endpoint}/test`]: {},
    [`${endpoint}/deliveries/${messageId}/resend`]: {},
  };
}

/** Every form of integrations. */
function integrationPosts(id: string, keyId: string): Record<string, Fields> {
  const integration = `/organization/integrations/${id}`;
  const content = { name: 'Mine', description: '', role: 'member', owner: people.member.email, notice_email: '' };
  return {
    '/organization/integrations/new': { ...content, form_id: 'x.y' },
    [`${integration}/change`]: content,
    [`${integration}/suspend`]: {},
    [`${integration}/reactivate`]: {},
    [`${integration}/take`]: {},
    [`${integration}/api-keys`]: { ...KEY, form_id: 'x.y' },
    [`${integration}/api-keys/${keyId}/rotate`]: { form_id: 'x.y' },
    [`${integration}/api-keys/${keyId}/rename`]: { name: 'Renamed' },
    [`${integration}/api-keys/${keyId}/revoke`]: {},
  };
}

async function deliveredEndpoint() {
  const { id: endpointId } = await addEndpoint(dashboard.db, people.administrator);
  return { endpointId, messageId: await writeEvent(dashboard.db, people.scope) };
}

async function stateOf({ scope }: People) {
  const { rows } = await dashboard.db.pool.query(
    `select (select count(*) from api_keys where organization_id = $1) as keys,
            (select count(*) from audit_events where organization_id = $1) as events,
            (select string_agg(role::text || coalesce(owner_user_id::text, '') || coalesce(deactivated_at::text, ''), ',' order by id) from users
              where organization_id = $1) as users,
            (select string_agg(name || coalesce(rotated_at, revoked_at)::text, ',' order by id) from api_keys
              where organization_id = $1) as names,
            (select string_agg(w::text, ',' order by id) from webhook_endpoints w where organization_id = $1) as webhooks,
            (select string_agg(d::text, ',' order by d::text) from webhook_deliveries d where organization_id = $1) as deliveries,
            (select string_agg(c::text, ',' order by c::text) from sso_connections c where organization_id = $1) as connection,
            (select string_agg(d::text, ',' order by d::text) from sso_domains d where organization_id = $1) as domains,
            (select to_jsonb(o) from organizations o where id = $1) as organization`,
    [scope.organizationId],
  );
  return rows[0];
}

test.each(['member', 'viewer'] as const)('a %s who posts a form that only other roles see gets 403', async (role) => {
  // The attack: post a form by hand whose page the menu hides, with a token from a page that one may open.
  const { db } = dashboard;
  const target = (await giveKey(db, people.manager)).id;
  const integration = await giveIntegration(db, people.administrator);
  const key = await giveIntegrationKey(db, people.administrator, integration);
  const browser = await browserOf(dashboard, people[role]);
  const form_token = await browser.formToken();
  const ids = await deliveredEndpoint();
  const before = await stateOf(people);
  for (const { userId } of [people.administrator, people.manager, people.viewer, people[role]]) {
    const user = `/people/users/${userId}`;
    const posts = {
      [`${user}/api-keys`]: { ...KEY, form_id: 'x.y' },
      [`${user}/api-keys/${target}/rotate`]: { form_id: 'x.y' },
      [`${user}/api-keys/${target}/rename`]: { name: 'Renamed' },
      [`${user}/api-keys/${target}/revoke`]: {},
      [`${user}/role`]: { role: 'viewer' },
      [`${user}/link`]: { kind: 'password_reset', form_id: 'x.y' },
      [`${user}/email`]: { email: 'mei@example.test', form_id: 'x.y' },
      [`${user}/withdraw`]: {},
      [`${user}/deactivate`]: {},
      [`${user}/reactivate`]: {},
      [`${user}/second-factor`]: {},
      [`${user}/api-keys/${target}/move`]: { integration: integration.id, name: 'Moved' },
      '/people/users/invite': { ...PERSON, form_id: 'x.y' },
      '/organization': POLICY,
      '/organization/unused-keys': { ends_unused_after_days: '7' },
      ...SIGN_IN_SETTINGS,
      [`${user}/unlink`]: {},
      '/organization/audit-log': { person: 'a' },
      '/organization/api-keys': { search: 'charter_live_Abcd' },
      '/people/users': { search: 'charter_live_Abcd' },
      ...webhookPosts(ids),
      ...integrationPosts(integration.id, key.id),
    };
    for (const [path, fields] of Object.entries(posts)) {
      const response = await browser.post(path, { ...fields, form_token });
      expect([path, response.status, keysIn(response)]).toEqual([path, 403, []]);
    }
  }
  for (const path of dashboard.paths.filter((each) => /^\/(people|organization)/.test(each))) {
    expect([path, (await browser.get(path)).status]).toEqual([path, 403]);
    expect([path, (await browser.send('HEAD', path)).status]).toEqual([path, 403]);
  }
  expect(await stateOf(people)).toEqual(before);
});

test('a manager may not see or change the sign-in', async () => {
  // The attack: a manager connects a provider of their own, and signs in as anybody.
  const browser = await browserOf(dashboard, people.manager);
  const form_token = await browser.formToken();
  const before = await stateOf(people);
  for (const [path, fields] of Object.entries(SIGN_IN_SETTINGS)) {
    expect([path, (await browser.post(path, { ...fields, form_token })).status]).toEqual([path, 403]);
    expect([path, (await browser.get(path)).status]).toEqual([path, 403]);
  }
  expect((await browser.get('/organization/sign-in')).status).toBe(403);
  expect(await stateOf(people)).toEqual(before);
});

test('a manager sees the webhooks without a form, and a form that is posted by hand gets 403', async () => {
  // The attack: a manager has Charter send the events of the organization to a URL of their own.
  const ids = await deliveredEndpoint();
  const browser = await browserOf(dashboard, people.manager);
  const form_token = await browser.formToken();
  const before = await stateOf(people);
  const posts = webhookPosts(ids);
  for (const [path, fields] of Object.entries(posts)) {
    const response = await browser.post(path, { ...fields, form_token });
    expect([path, response.status, response.text.includes('whsec_')]).toEqual([path, 403, false]);
  }
  for (const path of dashboard.paths.filter((each) => each.startsWith('/organization/webhooks'))) {
    const page = await browser.get(fill(path, ids));
    expect([path, page.status]).toEqual([path, fill(path, ids) in posts ? 403 : 200]);
    for (const post of Object.keys(posts)) expect([path, page.text.includes(`"${post}"`)]).toEqual([path, false]);
  }
  expect(await stateOf(people)).toEqual(before);
});

test('a viewer who posts the form for own keys gets no key, and learns whom to contact', async () => {
  // The attack: the page of one’s own keys is open to everybody, but its form is not.
  const { viewer, administrator } = people;
  const browser = await browserOf(dashboard, viewer);
  const own = await giveKey(dashboard.db, viewer);
  const form_token = await browser.formToken();
  const page = await browser.get('/profile/api-keys/new');
  expect([page.status, wordsOf(page)]).toEqual([403, expect.stringContaining(administrator.email)]);
  const before = await stateOf(people);
  const posts = {
    '/profile/api-keys': { ...KEY, form_id: 'x.y' },
    [`/profile/api-keys/${own.id}/rotate`]: { form_id: 'x.y' },
    [`/profile/api-keys/${own.id}/rename`]: { name: 'Renamed' },
  };
  for (const [path, fields] of Object.entries(posts)) {
    const response = await browser.post(path, { ...fields, form_token });
    expect([path, response.status, keysIn(response)]).toEqual([path, 403, []]);
  }
  expect(await stateOf(people)).toEqual(before);
});

test('a form that was opened before a demotion creates nothing after it', async () => {
  // The attack: a person who expects a demotion keeps a valid form open.
  const mine = await createPeople(dashboard.db);
  const browser = await browserOf(dashboard, mine.manager);
  const create = await browser.form('/profile/api-keys/new', '/profile/api-keys');
  const administrator = await browserOf(dashboard, mine.administrator);
  const user = `/people/users/${mine.manager.userId}`;
  expect((await administrator.submit(user, { role: 'viewer' }, `${user}/role`)).status).toBe(303);
  const response = await browser.post('/profile/api-keys', { ...Object.fromEntries(create.fields), name: 'Late' });
  expect([response.status, keysIn(response)]).toEqual([403, []]);
});

test('a member cannot post a form for what the policy forbids', async () => {
  // The attack: the organization forbids members to create keys, and a member posts the form anyway.
  const mine = await createPeople(dashboard.db, { membersMayCreateKeys: false });
  const browser = await browserOf(dashboard, mine.member);
  const [form_token, form_id] = [await browser.formToken(), 'x.y'];
  const response = await browser.post('/profile/api-keys', { ...KEY, form_token, form_id });
  expect([response.status, keysIn(response)]).toEqual([403, []]);
});

test('an e-mail address that contains a query adds nothing to a mailto link', async () => {
  // The attack: an address such as a?bcc=evil@b.example, which a viewer is told to contact.
  const mine = await createPeople(dashboard.db);
  const email = `help?bcc=evil&body=${crypto.randomUUID()}@example.test`;
  await dashboard.db.prisma.user.updateMany({ where: { id: mine.administrator.userId }, data: { email } });
  const page = await (await browserOf(dashboard, mine.viewer)).get('/profile/api-keys');
  expect(page.text).toContain('href="mailto:help%3Fbcc%3Devil%26body%3D');
});

test('a page that the role may not open names the administrators to ask', async () => {
  const { viewer, manager, administrator } = await createPeople(dashboard.db);
  for (const [actor, path] of [
    [viewer, '/people/users'],
    [manager, '/organization'],
  ] as const) {
    const page = await (await browserOf(dashboard, actor)).get(path);
    expect(page.status).toBe(403);
    expect(wordsOf(page)).toContain(administrator.email);
  }
});

test.each([
  ['administrator', ['My profile', 'People', 'Organization']],
  ['manager', ['My profile', 'People', 'Organization']],
  ['member', ['My profile']],
  ['viewer', ['My profile']],
] as const)('the navigation of a %s leads to %j, and marks the section of the page', async (role, sections) => {
  const browser = await browserOf(dashboard, (await createPeople(dashboard.db))[role]);
  const linksOn = ({ text }: { text: string }) => {
    const [, navigation = ''] = /<nav[^>]* aria-label="Main">(.*?)<\/nav>/s.exec(text) ?? [];
    return [...navigation.matchAll(/<a href="([^"]*)"( aria-current="\w+")?>(?:<svg.*?<\/svg>)?([^<]*)</gs)];
  };
  const links = linksOn(await browser.get('/profile'));
  expect(links.map(([, , , name]) => name)).toEqual(sections);
  for (const [, href = '', , name] of links) {
    const page = await browser.get(href);
    const target = page.status === 303 ? await browser.get(page.headers['location'] ?? '') : page;
    const current = linksOn(target).filter(([, , mark]) => mark !== undefined);
    expect([name, target.status, current.map(([, , , each]) => each)]).toEqual([name, 200, [name]]);
  }
});

test('a manager sees no role above member in a form, and no action buttons for an administrator', async () => {
  // The attack: the page itself reveals which form to post.
  const { db } = dashboard;
  const { administrator, manager } = await createPeople(db);
  const browser = await browserOf(dashboard, manager);
  const invite = await browser.get('/people/users/invite');
  expect([...invite.text.matchAll(/<option value="(\w+)"/g)].map(([, role]) => role).toSorted()).toEqual([
    'member',
    'viewer',
  ]);
  await db.prisma.user.updateMany({
    where: { id: administrator.userId },
    data: { totpSecret: encryptedSecret(administrator), totpSince: new Date() },
  });
  const page = await browser.get(`/people/users/${administrator.userId}`);
  expect(page.text).not.toMatch(/\/(role|link|deactivate|reactivate|second-factor)"/);
});
