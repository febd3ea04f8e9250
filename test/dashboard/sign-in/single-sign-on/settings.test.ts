import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { vouchForDomain } from '../../../../src/service/sign-in/single-sign-on/domains.ts';
import type { ProviderClient } from '../../../../src/service/sign-in/single-sign-on/provider.ts';
import { Browser, expectToSay, type Fields, wordsOf } from '../../../support/dashboard/dashboard.ts';
import { browserOf, useDashboard } from '../../../support/dashboard/dashboard-server.ts';
import { createAccount, givePasskey } from '../../../support/data/accounts.ts';
import { createScope, listAuditEventsOf } from '../../../support/data/actors.ts';
import { LOCAL } from '../../../support/data/webhooks.ts';
import { beginWith, connect, PUBLIC_URL } from '../../../support/providers/companies.ts';
import { startIdentityProvider, useIdentityProvider } from '../../../support/providers/identity-provider.ts';

const HEADER_BYTES = 12;
const TXT = 16;
const NOT_FOUND = 3;
const FAILURE = 2;

type NameServer = {
  /** A host and a port, for example "127.0.0.1:53000". */
  readonly address: string;
  /** The TXT records by name. `null` makes the server fail for the name. */
  readonly records: Map<string, readonly string[] | null>;
};

/** Starts a name server (RFC 1035) with TXT records. Stops the server after the tests of the file. */
async function useNameServer(): Promise<NameServer> {
  const records: NameServer['records'] = new Map();
  const server = createSocket('udp4');
  server.on('message', (query, { port, address }) => {
    const labels: string[] = [];
    let end = HEADER_BYTES;
    for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) {
      labels.push(query.toString('latin1', end + 1, end + 1 + length));
      end += 1 + length;
    }
    const found = query.readUInt16BE(end + 1) === TXT ? records.get(labels.join('.').toLowerCase()) : undefined;
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 + (found === null ? FAILURE : found === undefined ? NOT_FOUND : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(found?.length ?? 0, 6);
    const answers = (found ?? []).map((text) => {
      const data = Buffer.from(text, 'latin1');
      const head = Buffer.from([0xc0, HEADER_BYTES, 0, TXT, 0, 1, 0, 0, 0, 0, 0, data.length + 1, data.length]);
      return Buffer.concat([head, data]);
    });
    server.send(Buffer.concat([header, query.subarray(HEADER_BYTES, end + 5), ...answers]), port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => server.close());
  return { address: `127.0.0.1:${server.address().port}`, records };
}

const names = await useNameServer();
const dashboard = await useDashboard({ webhooks: LOCAL, nameServers: [names.address], publicUrl: PUBLIC_URL });
const { db } = dashboard;
const provider = await useIdentityProvider();
const SETTINGS = '/organization/sign-in';

async function administrator() {
  const actor = await createAccount(db, { scope: await createScope(db), role: 'administrator' });
  return { actor, browser: await browserOf(dashboard, actor) };
}

const connectTo = ({ issuer, clientId, clientSecret }: ProviderClient, browser: Browser, change: Fields = {}) => {
  const fields = { issuer, client_id: clientId, client_secret: clientSecret, ...change };
  return browser.submit(SETTINGS, fields, `${SETTINGS}/connection`);
};

test('a connection is tried, and saved if it works', async () => {
  const { actor, browser } = await administrator();
  const tried = await connectTo(provider, browser, { act: 'try' });
  expect(wordsOf(tried)).toContain('The connection works');
  expect(await db.prisma.ssoConnection.count({ where: { organizationId: actor.scope.organizationId } })).toBe(0);
  expect(wordsOf(tried)).toContain('Type the secret again to save it.');
  const saved = await connectTo(provider, browser);
  expect(saved.headers['location']).toBe(`${SETTINGS}?done=connection`);
  const page = await browser.get(saved.headers['location'] ?? '');
  expect(wordsOf(page)).toContain('The connection is saved.');
  for (const path of ['callback', 'start', 'logout'])
    expect(page.text).toContain(`${PUBLIC_URL}/single-sign-on/${actor.scope.organizationId}/${path}`);
  // If the secret is stored, the field can stay empty.
  const again = await connectTo(provider, browser, { act: 'try', client_secret: '' });
  expect(wordsOf(again)).toContain('The connection works');
  expect(wordsOf(again)).not.toContain('Type the secret again');
});

test.each(['connection', 'domains', 'domains/check', 'domains/remove', 'roles', 'require', 'allow-passwords'])(
  'the address of the form "%s" leads to the page with the form',
  async (path) => {
    const { browser } = await administrator();
    const page = await browser.get(`${SETTINGS}/${path}`);
    expect([page.status, page.headers['location']]).toEqual([303, SETTINGS]);
  },
);

test.each(['', '/tenant/'])('an issuer ending in "%s" is stored as the provider names it', async (path) => {
  // A person is identified by issuer and subject, and the issuer is compared character by character.
  await using other = await startIdentityProvider(path);
  const { issuer } = other;
  for (const typed of [issuer.replace(/\/$/, ''), `${issuer.replace(/\/$/, '')}/`]) {
    const { actor, browser } = await administrator();
    const { organizationId } = actor.scope;
    expect((await connectTo(other, browser, { issuer: typed })).status).toBe(303);
    const stored = await db.prisma.ssoConnection.findUniqueOrThrow({ where: { organizationId } });
    expect(stored.issuer).toBe(issuer);
    // With and without the final slash, the issuer is the same, so the stored secret is used, and nothing changes.
    expect((await connectTo(other, browser, { issuer: typed, client_secret: '' })).status).toBe(303);
    expect(await db.prisma.ssoConnection.findUniqueOrThrow({ where: { organizationId } })).toEqual(stored);
    expect((await listAuditEventsOf(db, actor)).filter(({ action }) => action === 'sso.connection_saved')).toHaveLength(
      1,
    );
    const email = `new@${crypto.randomUUID()}.example`;
    await connect(db, actor, { provider: other, domain: email.split('@')[1] ?? '', rules: { newPeople: 'viewer' } });
    const guest = new Browser(dashboard.url);
    const back = await guest.get(other.authorize(await beginWith(guest, email), { sub: 'one', email }));
    expect(back.headers['location']).toBe('/profile');
    const identity = { organizationId, issuer, subject: 'one' };
    expect(await db.prisma.ssoIdentity.count({ where: identity })).toBe(1);
  }
});

test.each([
  ['authorization_endpoint', 7],
  ['token_endpoint', 'x'],
  ['token_endpoint_auth_methods_supported', 7],
  ['jwks_uri', 'x'],
  ['response_types_supported', 7],
])('a provider whose %s is %j is refused without a fault', async (name, value) => {
  const other = await startIdentityProvider();
  other.metadata = { [name]: value };
  const { actor, browser } = await administrator();
  expect((await connectTo(other, browser)).status).toBe(422);
  expect(await db.prisma.ssoConnection.count({ where: { organizationId: actor.scope.organizationId } })).toBe(0);
});

test.each([
  ['status 404', 404, 'application/json'],
  ['text/html instead of application/json', 200, 'text/html'],
  ['text/plain; charset utf-8 instead of application/json', 200, 'text/plain; charset=utf-8'],
])('an issuer that responds with %s is refused, with the response and the remedy', async (answer, status, type) => {
  await using other = await startIdentityProvider();
  other.override = (res) => {
    res.writeHead(status, { 'Content-Type': type });
    res.end('{}');
    return true;
  };
  const { browser } = await administrator();
  const page = await connectTo(provider, browser, { issuer: `${other.issuer}/realms/x` });
  const words =
    `The answer at ${other.issuer}/realms/x/.well-known/openid-configuration is ${answer}, not the settings of a ` +
    'provider. Check the issuer.';
  expectToSay(page, 422, words);
});

test('a provider that names another issuer is refused, and the page names that issuer', async () => {
  await using other = await startIdentityProvider();
  other.metadata = { issuer: 'https://other.example/realms/one' };
  const { browser } = await administrator();
  const page = await connectTo(provider, browser, { issuer: other.issuer });
  const words = 'The provider says that its issuer is https://other.example/realms/one.';
  expectToSay(page, 422, words);
});

test('the secret is shown nowhere again, and stored encrypted', async () => {
  const { actor, browser } = await administrator();
  const pages = [
    await connectTo(provider, browser, { act: 'try' }),
    await connectTo(provider, browser, { issuer: '' }),
    await connectTo(provider, browser),
    await browser.get(SETTINGS),
    await browser.get('/organization/audit-log'),
  ];
  for (const { text } of pages) expect(text).not.toContain(provider.clientSecret);
  const { organizationId } = actor.scope;
  const row = await db.prisma.ssoConnection.findUniqueOrThrow({ where: { organizationId } });
  expect(Buffer.from(row.clientSecret).toString('latin1')).not.toContain(provider.clientSecret);
  const events = await listAuditEventsOf(db, actor);
  expect(events.at(-1)).toMatchObject({
    action: 'sso.connection_saved',
    detail: { issuer: provider.issuer, 'client ID': 'charter', 'client secret': 'new' },
  });
  expect(dashboard.logged.join()).not.toContain(provider.clientSecret);
});

test('a change to another issuer unlinks everybody, and ends the sessions by single sign-on', async () => {
  const { actor, browser } = await administrator();
  await connectTo(provider, browser);
  const { userId } = actor;
  const { organizationId } = actor.scope;
  const person = { organizationId, userId, issuer: provider.issuer, subject: 'ada', linkedAt: new Date() };
  await db.prisma.ssoIdentity.create({ data: person });
  await db.prisma.session.updateMany({ where: { organizationId, userId }, data: { ssoSid: 'one' } });
  await using other = await startIdentityProvider();
  const saved = await connectTo(other, browser);
  expect(saved.headers['location']).toBe('/sign-in?done=connection-saved');
  expect(wordsOf(await browser.get('/sign-in?done=connection-saved'))).toContain('identity provider is saved.');
  expect(await db.prisma.ssoIdentity.count({ where: { organizationId } })).toBe(0);
  expect(await db.prisma.session.count({ where: { organizationId, userId } })).toBe(0);
});

test('the stored secret is used for the same client, and never sent to another provider', async () => {
  // The attack: in an open session of an administrator, somebody has the secret sent to their own server.
  const { browser } = await administrator();
  await connectTo(provider, browser);
  const again = await connectTo(provider, browser, { client_secret: '' });
  expect(again.status).toBe(303);
  const evil = await startIdentityProvider();
  for (const change of [{ issuer: evil.issuer }, { client_id: 'other' }]) {
    const page = await connectTo(provider, browser, { client_secret: '', ...change });
    expectToSay(page, 422, 'must be given again');
  }
  expect(evil.requested).toEqual([]);
});

test.each([
  ['a wrong secret', { client_secret: 'wrong' }, 'refused the client ID or the client secret'],
  ['an unknown client', { client_id: 'unknown' }, 'refused the client ID or the client secret'],
  ['no URL', { issuer: 'login.example' }, 'must be a whole URL'],
  ['a user name', { issuer: 'https://ada:secret@login.example' }, 'must have no user name'],
  ['the address of the metadata', { issuer: 'https://login.example/.well-known/openid-configuration' }, 'before'],
  ['nothing', { issuer: '', client_id: '', client_secret: '' }, 'must not be blank'],
  ['an internal address', { issuer: 'http://10.0.0.1' }, 'must not connect to the address'],
  ['the metadata of a cloud', { issuer: 'http://169.254.169.254' }, 'must not connect to the address'],
  ['a secret with a line break', { client_secret: 'a\nb' }, 'no spaces'],
])('a connection with %s is refused, and the page says why', async (_, change, words) => {
  const { actor, browser } = await administrator();
  const page = await connectTo(provider, browser, change);
  expectToSay(page, 422, words);
  expect(await db.prisma.ssoConnection.count({ where: { organizationId: actor.scope.organizationId } })).toBe(0);
});

test('a connection can be removed', async () => {
  const { actor, browser } = await administrator();
  await connectTo(provider, browser);
  expect((await browser.submit(`${SETTINGS}/connection/remove`)).headers['location']).toBe(`${SETTINGS}?done=removed`);
  expect(await db.prisma.ssoConnection.count({ where: { organizationId: actor.scope.organizationId } })).toBe(0);
  expect((await browser.get(`${SETTINGS}/connection/remove`)).status).toBe(303);
});

test('the connection cannot be changed or removed while no administrator could sign in without it', async () => {
  const { actor, browser } = await administrator();
  await connectTo(provider, browser);
  const { scope, userId } = actor;
  const { organizationId } = scope;
  // Adds people whose passwords do not count: a manager, and an administrator who was deactivated.
  await createAccount(db, { scope, role: 'manager' });
  const former = await createAccount(db, { scope, role: 'administrator' });
  await db.prisma.user.updateMany({ where: { id: former.userId }, data: { deactivatedAt: new Date() } });
  await db.prisma.user.updateMany({ where: { id: userId }, data: { passwordHash: null } });
  const person = { organizationId, userId, issuer: provider.issuer, subject: 'ada' };
  await db.prisma.ssoIdentity.create({ data: person });
  await using other = await startIdentityProvider();
  const remedy = 'No administrator has a password or a passkey, so nobody could sign in as one any more. Set a';
  expectToSay(await browser.submit(`${SETTINGS}/connection/remove`), 409, remedy);
  expectToSay(await connectTo(other, browser), 409, remedy);
  expect(await db.prisma.ssoIdentity.count({ where: person })).toBe(1);
  await givePasskey(db, actor);
  expect((await connectTo(other, browser)).status).toBe(303);
  expect((await browser.submit(`${SETTINGS}/connection/remove`)).status).toBe(303);
});

describe('a domain', () => {
  const post = async (browser: Browser, path: string, domain: string) =>
    browser.post(`${SETTINGS}/${path}`, { form_token: await browser.formToken(), domain });

  async function recordOf(organizationId: string, domain: string) {
    const where = { organizationId_domain: { organizationId, domain } };
    const { token } = await db.prisma.ssoDomain.findUniqueOrThrow({ where });
    return { name: `_charter-challenge.${domain}`, value: `charter-verification=${token}` };
  }

  test('is verified by its TXT record, which the page shows', async () => {
    const { actor, browser } = await administrator();
    expect((await post(browser, 'domains', ' @Verified.EXAMPLE. ')).headers['location']).toBe(
      `${SETTINGS}?done=domain`,
    );
    const { name, value } = await recordOf(actor.scope.organizationId, 'verified.example');
    const page = await browser.get(SETTINGS);
    for (const text of [name, value, 'Not verified']) expect(page.text).toContain(text);
    // The page shows the operator's command, because nobody can create a TXT record for the domains of the demonstration.
    const command = `vouch-domain --organization ${actor.scope.organizationId} --domain verified.example`;
    expect(wordsOf(page)).toContain(command);
    const check = () => post(browser, 'domains/check', 'verified.example');
    for (const records of [undefined, [], ['charter-verification=other'], [`${value}x`]]) {
      if (records === undefined) names.records.delete(name);
      else names.records.set(name, records);
      const refused = await check();
      expectToSay(refused, 409, 'has no TXT record');
    }
    names.records.set(name, null);
    expect(wordsOf(await check())).toContain('DNS failed');
    names.records.set(name, ['v=spf1 -all', value]);
    expect((await check()).headers['location']).toBe(`${SETTINGS}?done=verified`);
    expect(wordsOf(await browser.get(SETTINGS))).toContain('verified.example Verified');
    const events = await listAuditEventsOf(db, actor);
    expect(events.map(({ action }) => action)).toEqual(['sso.domain_added', 'sso.domain_verified']);
  });

  test('belongs to one organization: the record of one verifies it for no other', async () => {
    // The attack: another organization claims the domain, before or after its owner does.
    const [owner, thief] = [await administrator(), await administrator()];
    const domain = 'taken.example';
    for (const { browser } of [owner, thief]) await post(browser, 'domains', domain);
    const record = await recordOf(owner.actor.scope.organizationId, domain);
    const theirs = await recordOf(thief.actor.scope.organizationId, domain);
    expect(theirs.value).not.toBe(record.value);
    names.records.set(record.name, [record.value]);
    expect((await post(thief.browser, 'domains/check', domain)).status).toBe(409);
    expect((await post(owner.browser, 'domains/check', domain)).status).toBe(303);
    names.records.set(record.name, [record.value, theirs.value]);
    const late = await post(thief.browser, 'domains/check', domain);
    expectToSay(late, 409, 'Another organization has verified');
    await expect(vouchForDomain(db, thief.actor.scope, { domain })).rejects.toThrow('Another organization');
  });

  test('that two organizations verify at the same time gets one owner', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, administrator));
    const domain = 'race.example';
    const values = [];
    for (const { actor, browser } of all) {
      await post(browser, 'domains', domain);
      values.push((await recordOf(actor.scope.organizationId, domain)).value);
    }
    names.records.set(`_charter-challenge.${domain}`, values);
    const pages = await Promise.all(all.map(({ browser }) => post(browser, 'domains/check', domain)));
    expect(pages.map(({ status }) => status).toSorted()).toEqual([303, 409, 409, 409]);
  });

  test('is verified by an operator, too', async () => {
    const { actor, browser } = await administrator();
    expect(await vouchForDomain(db, actor.scope, { domain: 'Vouched.Example' })).toBe('vouched.example');
    expect(wordsOf(await browser.get(SETTINGS))).toContain('vouched.example Verified');
  });

  test.each([
    '',
    'example',
    'localhost',
    '10.0.0.1',
    'a b.example',
    'ada@example.org',
    '-a.example',
    `${'a.'.repeat(130)}example`,
  ])('cannot be %j', async (domain) => {
    const { browser } = await administrator();
    const page = await post(browser, 'domains', domain);
    expectToSay(page, 422, 'must be the domain of e-mail');
  });

  test('is in the list once, and there are at most twenty', async () => {
    const { browser } = await administrator();
    for (let i = 0; i < 20; i += 1) expect((await post(browser, 'domains', `d${i}.many.example`)).status).toBe(303);
    expect((await post(browser, 'domains', 'D0.many.example')).status).toBe(422);
    expect((await post(browser, 'domains', 'one-more.many.example')).status).toBe(409);
    expect((await post(browser, 'domains/remove', 'd0.many.example')).status).toBe(303);
    expect((await post(browser, 'domains', 'one-more.many.example')).status).toBe(303);
  });

  test('of another organization can be neither checked nor removed', async () => {
    const [owner, other] = [await administrator(), await administrator()];
    await post(owner.browser, 'domains', 'foreign.example');
    for (const path of ['domains/check', 'domains/remove']) {
      const page = await post(other.browser, path, 'foreign.example');
      expectToSay(page, 409, 'does not have this domain');
    }
  });
});

describe('roles', () => {
  test('are announced where a role is chosen', async () => {
    const { actor, browser } = await administrator();
    const colleague = await createAccount(db, { scope: actor.scope, role: 'member' });
    const told = async () =>
      Promise.all(
        ['/people/users/invite', `/people/users/${colleague.userId}`].map(async (path) =>
          wordsOf(await browser.get(path)).includes('the role follows the groups at your identity provider'),
        ),
      );
    await connect(db, actor, { provider });
    expect(await told()).toEqual([false, false]);
    await connect(db, actor, { provider, rules: { groupsClaim: 'groups', groupRoles: 'Leads = manager' } });
    expect(await told()).toEqual([true, false]);
    const { organizationId } = actor.scope;
    const data = { organizationId, userId: colleague.userId, issuer: provider.issuer, subject: 'x' };
    await db.prisma.ssoIdentity.create({ data });
    expect(await told()).toEqual([true, true]);
  });

  test('are saved, shown and recorded', async () => {
    const { actor, browser } = await administrator();
    await connectTo(provider, browser);
    const rules = {
      new_people: 'member',
      groups_claim: 'groups',
      group_roles: 'A = B = viewer\r\n\r\n Leads=Manager ',
    };
    expect((await browser.submit(SETTINGS, rules, `${SETTINGS}/roles`)).headers['location']).toBe(
      `${SETTINGS}?done=roles`,
    );
    const page = await browser.get(SETTINGS);
    expect(page.text).toContain('A = B = viewer\nLeads = manager</textarea>');
    expect((await listAuditEventsOf(db, actor)).at(-1)).toMatchObject({
      action: 'sso.rules_changed',
      detail: {
        'new people': 'no account -> member',
        'claim with groups': 'none -> groups',
        'roles by group': 'none -> A = B = viewer, Leads = manager',
      },
    });
  });

  test.each([
    ['administrators by a group', { group_roles: 'Admins = administrator' }, 'mistake in line 1: write a group'],
    ['an unknown role', { group_roles: 'A = member\n\nAdmins = owner' }, 'mistake in line 3: write a group'],
    ['a line without a group', { group_roles: '= member' }, 'mistake in line 1'],
    ['a group twice', { group_roles: 'A = member\nB = member\n\nA = viewer' }, 'mistake in line 4: an earlier line'],
    ['roles without a claim', { groups_claim: ' ', group_roles: 'A = member' }, 'Claim with groups must be given'],
    ['managers by default', { new_people: 'manager' }, 'one of those in the list'],
    ['administrators by default', { new_people: 'administrator' }, 'one of those in the list'],
    ['a claim with a space', { groups_claim: 'my groups' }, 'no spaces'],
    [
      'fifty-one groups',
      { group_roles: Array.from({ length: 51 }, (_, i) => `G${i} = member`).join('\n') },
      'at most 50 lines',
    ],
  ])('%s are refused, with the remedy', async (_, change, words) => {
    const { browser } = await administrator();
    await connectTo(provider, browser);
    const rules = { new_people: '', groups_claim: 'groups', group_roles: '', ...change };
    const page = await browser.submit(SETTINGS, rules, `${SETTINGS}/roles`);
    expectToSay(page, 422, words);
  });
});
