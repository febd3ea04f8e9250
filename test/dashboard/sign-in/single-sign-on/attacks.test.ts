import { consumeAttempt } from '../../../../src/service/sign-in/attempt-limits.ts';
import { times } from '../../../support/data/actors.ts';
import { inTransaction, untilWaiting } from '../../../support/postgres/postgres.ts';
import { beginAtTile, beginWith, type Company, connect, useCompanies } from '../../../support/providers/companies.ts';
import { type Making, startIdentityProvider } from '../../../support/providers/identity-provider.ts';

const { dashboard, db, provider, company, newBrowser, isIn, signIn, expectNobody } = await useCompanies();

test('the person whom the attacks below imitate is signed in', async () => {
  const { member, person } = await company();
  const browser = newBrowser();
  const page = await signIn(browser, member.email, person);
  expect([page.status, page.headers['location'], await isIn(browser)]).toEqual([303, '/profile', true]);
});

/** Begins a sign-in, and returns the provider's response as a URL. */
async function begun() {
  const theirs = await company();
  const browser = newBrowser();
  const path = provider.authorize(await beginWith(browser, theirs.member.email), theirs.person);
  return { ...theirs, browser, path, response: new URL(path, provider.issuer) };
}

const ANOTHER = 'A'.repeat(43);

// The attack in the last two cases: Charter sends an honest provider's code to the attacker's token endpoint (RFC 9207).
test.each<[string, number, (sent: URLSearchParams) => void]>([
  ['has an unknown state', 400, (sent) => sent.set('state', ANOTHER)],
  ['has a malformed state', 400, (sent) => sent.set('state', 'state')],
  ['has an empty state', 400, (sent) => sent.set('state', '')],
  ['has no state', 400, (sent) => sent.delete('state')],
  ['has two states', 502, (sent) => sent.append('state', ANOTHER)],
  ['names another issuer', 502, (sent) => sent.set('iss', 'https://evil.example')],
  ['names no issuer, although the provider always does', 502, (sent) => sent.delete('iss')],
])('a response that %s signs nobody in, and its code is sent nowhere', async (_, status, change) => {
  const { browser, response } = await begun();
  change(response.searchParams);
  provider.requested.length = 0;
  await expectNobody(browser, await browser.get(response.pathname + response.search), status);
  expect(provider.requested).not.toContain('/token');
});

describe('the code and the state', () => {
  test.each([
    ['PKCE', true],
    ['its nonce, if the provider does not check PKCE', false],
  ])('a stolen code in the response to another sign-in is refused by %s', async (_, checksVerifier) => {
    const { browser: attacker, response, member, person } = await begun();
    provider.checksVerifier = checksVerifier;
    response.searchParams.set('code', provider.codeFor(await beginWith(newBrowser(), member.email), person));
    const page = await attacker.get(response.pathname + response.search);
    provider.checksVerifier = true;
    await expectNobody(attacker, page, 502);
  });

  test('the request has PKCE with S256, a state and a nonce, and each differs from the last', async () => {
    const { member } = await company();
    const browser = newBrowser();
    const urls = [await beginWith(browser, member.email), await beginWith(browser, member.email)].map(
      (url) => new URL(url),
    );
    for (const name of ['state', 'nonce', 'code_challenge']) {
      const values = urls.map(({ searchParams }) => searchParams.get(name) ?? '');
      expect(values.map(({ length }) => length)).toEqual([43, 43]);
      expect(new Set(values).size).toBe(2);
    }
    expect(urls[0]?.searchParams.get('code_challenge_method')).toBe('S256');
    expect(urls[0]?.searchParams.get('response_type')).toBe('code');
  });

  test('the database holds nothing with which the sign-in could be completed', async () => {
    const { member, administrator } = await company();
    const url = new URL(await beginWith(newBrowser(), member.email));
    const where = { organizationId: administrator.scope.organizationId };
    const rows = JSON.stringify(await db.prisma.ssoSignIn.findMany({ where }));
    expect(rows).toContain('tokenHash');
    for (const name of ['state', 'nonce', 'code_challenge']) expect(rows).not.toContain(url.searchParams.get(name));
  });

  test('the response to the sign-in of another browser is refused', async () => {
    // The attack: login CSRF. The victim opens the attacker's response, and then works in the attacker's account.
    const { browser: attacker, path } = await begun();
    const victim = newBrowser();
    await victim.get('/sign-in');
    await expectNobody(victim, await victim.get(path), 400);
    await expectNobody(newBrowser(), await newBrowser().get(path), 400);
    expect((await attacker.get(path)).status).toBe(303);
  });

  test('a response is accepted once', async () => {
    const { browser, path } = await begun();
    expect((await browser.get(path)).status).toBe(303);
    browser.cookies.delete('charter');
    await expectNobody(browser, await browser.get(path), 400);
  });

  test('an ID token in place of the code, as in the implicit flow, signs nobody in', async () => {
    const { browser, response } = await begun();
    response.searchParams.delete('code');
    response.searchParams.set('id_token', 'a.b.c');
    await expectNobody(browser, await browser.get(response.pathname + response.search), 502);
  });

  test('a state is accepted once, even with a fresh code, and under concurrent requests', async () => {
    const { member, person } = await company();
    const browser = newBrowser();
    const url = await beginWith(browser, member.email);
    const responses = Array.from({ length: 4 }, () => provider.authorize(url, person));
    const pages = await Promise.all(responses.map((response) => browser.get(response)));
    expect(pages.map(({ status }) => status).toSorted()).toEqual([303, 400, 400, 400]);
  });

  test('a state after ten minutes is refused', async () => {
    const { browser, path } = await begun();
    dashboard.passMinutes(10);
    await expectNobody(browser, await browser.get(path), 400);
  });
});

describe('mix-up', () => {
  test('the response of one connection is refused at the address of another one', async () => {
    const { browser, path, scope } = await begun();
    const other = await company();
    const moved = path.replace(scope.organizationId, other.scope.organizationId);
    expect(moved).not.toBe(path);
    await expectNobody(browser, await browser.get(moved), 400);
  });

  test('each connection has a redirect URL of its own', async () => {
    const [mine, other] = [await company(), await company()];
    const redirectOf = async ({ member }: Company) =>
      new URL(await beginWith(newBrowser(), member.email)).searchParams.get('redirect_uri');
    expect(await redirectOf(mine)).toContain(mine.administrator.scope.organizationId);
    expect(await redirectOf(mine)).not.toBe(await redirectOf(other));
  });

  test('a sign-in that began at the issuer before a change of the connection is refused', async () => {
    const { administrator, browser, path } = await begun();
    await using other = await startIdentityProvider();
    await connect(db, administrator, { provider: other });
    await expectNobody(browser, await browser.get(path), 400);
  });

  test('the same subject of another issuer is another person', async () => {
    // The attack: the attacker runs a provider with the same subjects as the honest provider.
    const { person } = await company();
    await using evil = await startIdentityProvider();
    const theirs = await company({ at: evil });
    const browser = newBrowser();
    const url = await beginWith(browser, theirs.member.email);
    await expectNobody(browser, await browser.get(evil.authorize(url, person)), 403);
  });
});

const seconds = (from: number) => Math.floor(Date.now() / 1000) + from;

describe('the ID token', () => {
  const wrong: readonly (readonly [string, Making])[] = [
    ['has the nonce of another sign-in', { claims: { nonce: 'A'.repeat(43) } }],
    ['has no nonce', { claims: { nonce: undefined } }],
    ['is not signed (alg none)', { signature: 'none' }],
    ['is signed with the client secret (HS256)', { signature: 'client secret' }],
    ['is signed with the public key as a secret (HS256)', { signature: 'public key' }],
    ['is signed with a key that the provider does not publish', { signature: 'foreign' }],
    ['names a key that the provider does not publish', { header: { kid: 'theirs' } }],
    ['claims an algorithm that its key is not for', { header: { alg: 'ES256' } }],
    ['has a critical header parameter that nobody defined', { header: { crit: ['b64'], b64: false } }],
    ['is for another client', { claims: { aud: 'another-client' } }],
    ['is for several clients', { claims: { aud: ['charter', 'another-client'] } }],
    ['was issued to another client', { claims: { azp: 'another-client', aud: ['charter', 'another-client'] } }],
    ['has no audience', { claims: { aud: undefined } }],
    ['has expired', { claims: { exp: seconds(-120) } }],
    ['never expires', { claims: { exp: undefined } }],
    ['is not valid yet', { claims: { nbf: seconds(600) } }],
    ['does not say when it was issued', { claims: { iat: undefined } }],
    ['is of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['has no issuer', { claims: { iss: undefined } }],
    ['has no subject', { claims: { sub: undefined } }],
    ['has an empty subject', { claims: { sub: '' } }],
    ['has a subject that is no text', { claims: { sub: 7 } }],
    ['has a subject of 256 characters', { claims: { sub: 'a'.repeat(256) } }],
    ['has a subject that PostgreSQL cannot store', { claims: { sub: 'a\0b' } }],
  ];
  test.each(wrong)('one that %s signs nobody in', async (_, making) => {
    const { member, person } = await company();
    const browser = newBrowser();
    await expectNobody(browser, await signIn(browser, member.email, person, making), 502);
  });

  test('a response without one signs nobody in', async () => {
    const { browser, path } = await begun();
    provider.override = (res, asked) => {
      if (asked !== '/token') return false;
      res.writeHead(200, { 'Content-Type': 'application/json' });
      res.end(JSON.stringify({ access_token: 'a', token_type: 'Bearer' }));
      return true;
    };
    const page = await browser.get(path);
    provider.override = null;
    await expectNobody(browser, page, 502);
  });
});

test('typing the e-mail of somebody else opens no way around the limits of passwords', async () => {
  // The attack: making the attacker's network count as a network of the victim, from which more passwords can be tried.
  const { administrator: victim, person } = await company();
  const attacker = newBrowser();
  expect((await signIn(attacker, victim.email, person)).status).toBe(303);
  const ip = attacker.localAddress ?? '';
  await times(100, (i) => consumeAttempt(db, { at: 'password', account: `${i}@guessed.example`, ip }));
  attacker.cookies.clear();
  const guess = { email: victim.email, password: 'wrong' };
  expect((await attacker.submit('/sign-in?with=password', guess, '/sign-in')).status).toBe(429);
});

test('a flood at the tile of an organization locks nobody out who has signed in from their network before', async () => {
  // The attack: a stranger with a few addresses uses up the attempts that the people of the organization share.
  const { member, person } = await company();
  const { organizationId } = member.scope;
  const start = `/single-sign-on/${organizationId}/start`;
  const [familiar, stranger] = [newBrowser(), newBrowser()];
  expect((await familiar.get(provider.authorize(await beginAtTile(familiar, start), person))).status).toBe(303);
  const ip = stranger.localAddress ?? '';
  await consumeAttempt(db, { at: 'single-sign-on-tile', account: organizationId, ip });
  await db.pool.query("update sign_in_failures set points = 100000 where key like 'sso-tile-account:%'");
  expect(await beginAtTile(stranger, start)).toBe('');
  familiar.cookies.clear();
  expect(await beginAtTile(familiar, start)).toContain(provider.issuer);
});

test('a change of the role by groups waits for a write of the API that is under way', async () => {
  const rules = { newPeople: 'viewer', groupsClaim: 'groups', groupRoles: 'Guests = viewer' };
  const { member, person } = await company({ rules });
  const roleNow = async () => (await db.prisma.user.findFirstOrThrow({ where: { email: member.email } })).role;
  const page = await inTransaction(db, async (held) => {
    await held.query('select 1 from organizations where id = $1 for no key update', [member.scope.organizationId]);
    const signedIn = signIn(newBrowser(), member.email, { ...person, groups: ['Guests'] });
    await untilWaiting(db.pool, 1);
    expect(await roleNow()).toBe('member');
    return { signedIn };
  });
  expect((await page.signedIn).status).toBe(303);
  expect(await roleNow()).toBe('viewer');
});

test('the words of the provider, its secret and its codes are in no log', async () => {
  const { member, person } = await company();
  for (const making of [{}, { signature: 'foreign' }] satisfies Making[])
    await signIn(newBrowser(), member.email, person, making);
  const lines = dashboard.logged.join('\n');
  expect(lines.length).toBeGreaterThan(0);
  expect(lines).not.toContain(provider.clientSecret);
  expect(lines).not.toMatch(/code=[0-9a-f]{32}/);
});
