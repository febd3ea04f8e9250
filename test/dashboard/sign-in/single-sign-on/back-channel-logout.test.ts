import type { ServerResponse } from 'node:http';
import { Browser, wordsOf } from '../../../support/dashboard/dashboard.ts';
import { confirmationOf } from '../../../support/dashboard/proof.ts';
import { PASSWORD } from '../../../support/data/accounts.ts';
import { createScope, giveKey, listAuditEventsOf, times } from '../../../support/data/actors.ts';
import { beginWith, useCompanies } from '../../../support/providers/companies.ts';
import { type Making, startIdentityProvider } from '../../../support/providers/identity-provider.ts';
import { until } from '../../../support/wait.ts';

const { dashboard, db, provider, newBrowser, isIn, ...companies } = await useCompanies();
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

async function company(at = provider) {
  const { administrator, domain, scope } = await companies.company({ at, rules: { newPeople: 'member' } });
  const path = `/single-sign-on/${scope.organizationId}/logout`;
  return { scope, administrator, email: `ada@${domain}`, sub: `ada-${domain}`, path };
}

type Company = Awaited<ReturnType<typeof company>>;

/** Signs in at the provider, which knows the session by the id `sid`. */
async function signedIn({ email, sub }: Company, sid?: string): Promise<Browser> {
  const browser = newBrowser();
  const page = await browser.get(provider.authorize(await beginWith(browser, email), { sub, email, sid }));
  expect(page.headers['location']).toBe('/profile');
  return browser;
}

const anybody = new Browser(dashboard.url);

/** Sends a logout token as a provider does, without cookies and without an Origin header. */
const send = (path: string, token: string) =>
  anybody.send('POST', path, {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ logout_token: token }).toString(),
  });

test('a logout of a person ends all their sessions by single sign-on at once, and nothing else', async () => {
  const theirs = await company();
  const browsers = [await signedIn(theirs, 'one'), await signedIn(theirs, 'two'), await signedIn(theirs)];
  const { id } = await db.prisma.user.findFirstOrThrow({ where: { email: theirs.email } });
  const key = await giveKey(db, { ...theirs.administrator, userId: id, role: 'member' });
  const response = await send(theirs.path, provider.logoutToken({ sub: theirs.sub }));
  expect([response.status, response.headers['cache-control']]).toEqual([200, 'no-store']);
  for (const browser of browsers) expect(await isIn(browser)).toBe(false);
  expect(await dashboard.statusOf(key.key)).toBe(200);
  const events = await listAuditEventsOf(db, theirs.administrator);
  expect(events.filter(({ action }) => action === 'user.signed_out')).toMatchObject([
    { actorUserId: null, targetUserId: id, detail: { by: 'single sign-on' } },
  ]);
});

test('a session by a password goes on', async () => {
  const { administrator, ...theirs } = await company();
  const { email } = administrator;
  const browser = new Browser(dashboard.url);
  const signIn = { email, password: PASSWORD };
  await browser.submit('/sign-in?with=password', signIn, '/sign-in');
  const byProvider = new Browser(dashboard.url);
  const person = { sub: 'boss', email };
  const toConfirm = await byProvider.get(provider.authorize(await beginWith(byProvider, email), person));
  await byProvider.submit(toConfirm.headers['location'] ?? '', { password: PASSWORD });
  expect([await isIn(browser), await isIn(byProvider)]).toEqual([true, true]);
  expect((await send(theirs.path, provider.logoutToken({ sub: 'boss' }))).status).toBe(200);
  expect([await isIn(browser), await isIn(byProvider)]).toEqual([true, false]);
});

test.each([
  ['the person', { sub: 'boss' }, 400],
  ['the session', { sid: 'theirs' }, 400],
  ['another session', { sid: 'other' }, 303],
])('a logout of %s decides whether a sign-in that waits for its confirmation can go on', async (_, logout, status) => {
  const { administrator, ...theirs } = await company();
  const { email } = administrator;
  const browser = newBrowser();
  const person = { sub: 'boss', sid: 'theirs', email };
  const toConfirm = await browser.get(provider.authorize(await beginWith(browser, email), person));
  const path = toConfirm.headers['location'] ?? '';
  const { fields } = await browser.form(path);
  expect((await send(theirs.path, provider.logoutToken(logout))).status).toBe(200);
  const confirmed = await browser.post(path, { ...Object.fromEntries(fields), password: PASSWORD });
  expect([confirmed.status, await isIn(browser)]).toEqual([status, status === 303]);
});

// OpenID Connect Back-Channel Logout, section 2.7: "identified by the iss and sub Claims and/or the sid Claim". A session for
// which the provider gave no sid can be identified only by its person (sub).
test.each([
  ['a session', false, [false, true, true, true, true]],
  ['a session and its person', true, [false, true, false, true, true]],
])(
  'a logout that names %s ends the session, and with the person also the sessions without an ID',
  async (_, namesPerson, isLeft) => {
    const [theirs, others] = [await company(), await company()];
    const browsers = [
      await signedIn(theirs, `${theirs.sub}-1`),
      await signedIn(theirs, `${theirs.sub}-2`),
      await signedIn(theirs),
      await signedIn({ ...theirs, sub: 'colleague', email: `colleague@${theirs.email.split('@')[1]}` }),
      await signedIn(others),
    ];
    const claims = { sid: `${theirs.sub}-1`, ...(namesPerson && { sub: theirs.sub }) };
    expect((await send(theirs.path, provider.logoutToken(claims))).status).toBe(200);
    expect(await Promise.all(browsers.map(isIn))).toEqual(isLeft);
  },
);

test.each([
  ['session', (_: Company) => ({ sid: 'one' })],
  ['person', ({ sub }: Company) => ({ sub })],
])('a logout of a %s ends a session that got a new password and a second factor meanwhile', async (_, claimsOf) => {
  // The attack: setting a password in a session, so that it counts as a session by password, which the provider cannot end.
  const theirs = await company();
  const browser = await signedIn(theirs, 'one');
  const password = { password: 'seven otters juggle 93 lanterns' };
  expect((await browser.submit('/profile/password', password)).headers['location']).toBe('/profile?done=password');
  const { path, fields } = await confirmationOf(browser, dashboard.now());
  expect(wordsOf(await browser.post(path, fields))).toContain('Your second factor is on');
  expect(await isIn(browser)).toBe(true);
  expect((await send(theirs.path, provider.logoutToken(claimsOf(theirs)))).status).toBe(200);
  expect(await isIn(browser)).toBe(false);
});

const seconds = (from: number) => Math.floor(Date.now() / 1000) + from;

describe('attacks', () => {
  type Attack = [string, (theirs: Company) => Readonly<Record<string, unknown>>, Omit<Making, 'claims'>];
  const attacks: readonly (readonly [Attack[0], Attack[1], Attack[2]?])[] = [
    ['is not signed (alg none)', () => ({}), { signature: 'none' }],
    ['is signed with a key that is not published', () => ({}), { signature: 'foreign' }],
    ['is signed with the client secret', () => ({}), { signature: 'client secret' }],
    ['is signed with the public key as a secret', () => ({}), { signature: 'public key' }],
    ['is for another client', () => ({ aud: 'another-client' })],
    ['has no audience', () => ({ aud: undefined })],
    ['is of another issuer', () => ({ iss: 'https://evil.example' })],
    ['has no issuer', () => ({ iss: undefined })],
    ['is old', () => ({ iat: seconds(-400) })],
    ['is of the future', () => ({ iat: seconds(400) })],
    ['does not say when it was issued', () => ({ iat: undefined })],
    ['has expired', () => ({ exp: seconds(-60) })],
    ['has no ID, so that it could be replayed', () => ({ jti: undefined })],
    ['has no event', () => ({ events: undefined })],
    ['has another event', () => ({ events: { 'http://schemas.openid.net/event/other': {} } })],
    ['has an event that is no object', () => ({ events: { [EVENT]: true } })],
    ['has a nonce, as an ID token has', () => ({ nonce: 'nonce' })],
    ['names neither a person nor a session', () => ({ sub: undefined })],
    ['names a person with NUL, which PostgreSQL refuses', () => ({ sub: 'a\0b' })],
    ['names a session with NUL, which PostgreSQL refuses', () => ({ sub: undefined, sid: 'a\0b' })],
    ['says that it is an access token', () => ({}), { header: { typ: 'at+jwt' } }],
    [
      'is an ID token',
      ({ email }) => ({ events: undefined, jti: undefined, nonce: 'n', email }),
      { header: { typ: 'JWT' } },
    ],
  ];
  test.each<Attack>(attacks.map(([name, claimsOf, making = {}]) => [name, claimsOf, making]))(
    'a token that %s ends nothing',
    async (_, claimsOf, making) => {
      const theirs = await company();
      const browser = await signedIn(theirs);
      const token = provider.logoutToken({ sub: theirs.sub, ...claimsOf(theirs) }, making);
      const response = await send(theirs.path, token);
      expect([response.status, JSON.parse(response.text).error]).toEqual([400, 'invalid_request']);
      expect(await isIn(browser)).toBe(true);
    },
  );

  test.each<[string, (at: typeof provider) => string]>([
    ['nothing', () => ''],
    ['three parts', () => 'a.b.c'],
    ['no parts', () => 'x'],
    ['5000 characters', () => `${'a'.repeat(5000)}.b.c`],
    ['a token of another issuer', (at) => at.logoutToken({ sub: 'ada', iss: 'https://evil.example' })],
    ['a token without an issuer', (at) => at.logoutToken({ sub: 'ada', iss: undefined })],
    ['a token for another client', (at) => at.logoutToken({ sub: 'ada', aud: 'another-client' })],
  ])('%s asks the provider nothing', async (_, tokenOf) => {
    await using victim = await startIdentityProvider();
    const { path } = await company(victim);
    expect((await send(path, tokenOf(victim))).status).toBe(400);
    expect(victim.requested).toEqual([]);
  });

  test.each([
    ['jwks_uri', undefined],
    ['jwks_uri', 7],
    ['jwks_uri', 'x'],
    ['id_token_signing_alg_values_supported', 7],
    ['id_token_signing_alg_values_supported', ['HS256', 'none']],
  ])('a token of a provider whose %s is %j is refused without a fault', async (name, value) => {
    await using lying = await startIdentityProvider();
    const { path } = await company(lying);
    lying.metadata = { [name]: value };
    const making = { signature: 'client secret' } as const;
    expect((await send(path, lying.logoutToken({ sub: 'ada' }, making))).status).toBe(400);
  });

  type Failing = (res: ServerResponse, path: string) => boolean;
  const isMetadata = (path: string) => path.includes('.well-known');
  const broken =
    (fails: (path: string) => boolean, body?: string): Failing =>
    (res, path) => {
      if (!fails(path)) return false;
      if (body === undefined) res.destroy();
      else res.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
      return true;
    };
  test.each<[string, Failing]>([
    ['is down', broken(() => true)],
    ['has no valid metadata', broken(isMetadata, '{}')],
    ['publishes no keys', broken((path) => !isMetadata(path))],
    ['publishes no valid keys', broken((path) => !isMetadata(path), '{}')],
    ['works', () => false],
  ])('many forged tokens lead to few requests to a provider that %s', async (_, failing) => {
    // The attack: making Charter flood the provider, or use up its own connections.
    await using victim = await startIdentityProvider();
    const { path } = await company(victim);
    victim.override = failing;
    const forge = (i: number) =>
      send(path, victim.logoutToken({ sub: `ada-${i}` }, { signature: 'foreign', header: { kid: `key-${i % 3}` } }));
    const all = [...(await times(20, forge)), await forge(20), await forge(21)];
    for (const { status } of all) expect([400, 503]).toContain(status);
    // The provider gets two requests: for the metadata and for the keys. On a slow machine, each may be repeated.
    expect(victim.requested.length).toBeLessThanOrEqual(6);
  });

  test('tokens that arrive while a slow provider is asked for its metadata wait for the same response', async () => {
    await using victim = await startIdentityProvider();
    const { path } = await company(victim);
    let respond = () => {};
    const held = new Promise<void>((resolve) => {
      respond = resolve;
    });
    victim.override = async () => {
      await held;
      return false;
    };
    const sent = times(10, () => send(path, victim.logoutToken({ sub: 'ada' })));
    await until('the request for the metadata', () => victim.requested.length > 0);
    // When these responses have arrived, all tokens have arrived, too.
    await times(10, () => anybody.get('/sign-in'));
    respond();
    expect((await sent).map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(victim.requested).toEqual(['/.well-known/openid-configuration', '/keys']);
  });

  test('a token is accepted once', async () => {
    // The attack: sending a recorded token again and again to sign the person out.
    const theirs = await company();
    const token = provider.logoutToken({ sub: theirs.sub });
    // The token is used while the person is not signed in.
    expect((await send(theirs.path, token)).status).toBe(200);
    const browser = await signedIn(theirs);
    expect((await send(theirs.path, token)).status).toBe(400);
    expect(await isIn(browser)).toBe(true);
  });

  test('a token ends no session of another organization with the same provider', async () => {
    const [mine, theirs] = [await company(), await company()];
    const browser = await signedIn(theirs, 'shared');
    for (const claims of [{ sub: theirs.sub }, { sid: 'shared' }])
      expect((await send(mine.path, provider.logoutToken(claims))).status).toBe(200);
    expect(await isIn(browser)).toBe(true);
  });

  test('an organization without a connection, a body of another type and a large one are refused', async () => {
    const { path } = await company();
    const nobody = `/single-sign-on/${(await createScope(db)).organizationId}/logout`;
    expect((await send(nobody, provider.logoutToken({ sub: 'ada' }))).status).toBe(404);
    const headers = { 'Content-Type': 'application/json' };
    expect((await anybody.send('POST', path, { headers, body: '{}' })).status).toBe(415);
    expect((await send(path, 'a'.repeat(30_000))).status).toBe(413);
    expect((await anybody.get(path)).status).toBe(404);
  });
});
