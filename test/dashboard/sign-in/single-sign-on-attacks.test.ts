import { consumeAttempt } from '../../../src/service/sign-in/attempt-limits.ts';
import { times } from '../../support/data/actors.ts';
import { beginAtTile, beginWith, connect } from '../../support/data/single-sign-on.ts';
import { untilWaiting } from '../../support/postgres/postgres.ts';
import { inTransaction } from '../../support/postgres/transaction.ts';
import { type Company, useCompanies } from '../../support/providers/companies.ts';
import { type Making, startIdentityProvider } from '../../support/providers/identity-provider.ts';

const { dashboard, db, provider, company, newBrowser, isIn, signIn, expectNobody } = await useCompanies();

test('the person whom the attacks below imitate is signed in', async () => {
  const { member, person } = await company();
  const browser = newBrowser();
  const page = await signIn(browser, member.email, person);
  expect([page.status, page.headers['location'], await isIn(browser)]).toEqual([303, '/profile', true]);
});

describe('the code and the state', () => {
  test('a stolen code in the response to another sign-in is refused by its nonce', async () => {
    // The attack: code injection, at a provider that does not check PKCE.
    const { member, person } = await company();
    provider.checksVerifier = false;
    const [victim, attacker] = [newBrowser(), newBrowser()];
    const stolen = provider.codeFor(await beginWith(victim, member.email), person);
    const own = new URL(provider.authorize(await beginWith(attacker, member.email), person), provider.issuer);
    own.searchParams.set('code', stolen);
    const page = await attacker.get(own.pathname + own.search);
    provider.checksVerifier = true;
    await expectNobody(attacker, page, 502);
  });

  test('a stolen code is refused by PKCE', async () => {
    const { member, person } = await company();
    const [victim, attacker] = [newBrowser(), newBrowser()];
    const stolen = provider.codeFor(await beginWith(victim, member.email), person);
    const own = new URL(provider.authorize(await beginWith(attacker, member.email), person), provider.issuer);
    own.searchParams.set('code', stolen);
    await expectNobody(attacker, await attacker.get(own.pathname + own.search), 502);
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
    // The attack: login CSRF. The victim opens the attacker's response, and works in the attacker's account.
    const { member, person } = await company();
    const [attacker, victim] = [newBrowser(), newBrowser()];
    const response = provider.authorize(await beginWith(attacker, member.email), person);
    await victim.get('/sign-in');
    await expectNobody(victim, await victim.get(response), 400);
    await expectNobody(newBrowser(), await newBrowser().get(response), 400);
    expect((await attacker.get(response)).status).toBe(303);
  });

  test('a response is accepted once', async () => {
    const { member, person } = await company();
    const browser = newBrowser();
    const response = provider.authorize(await beginWith(browser, member.email), person);
    expect((await browser.get(response)).status).toBe(303);
    browser.cookies.delete('charter');
    await expectNobody(browser, await browser.get(response), 400);
  });

  test('a state is accepted once, even with a fresh code, and under concurrent requests', async () => {
    const { member, person } = await company();
    const browser = newBrowser();
    const url = await beginWith(browser, member.email);
    const responses = Array.from({ length: 4 }, () => provider.authorize(url, person));
    const pages = await Promise.all(responses.map((response) => browser.get(response)));
    expect(pages.map(({ status }) => status).toSorted()).toEqual([303, 400, 400, 400]);
  });

  test.each([
    ['unknown', 'A'.repeat(43)],
    ['malformed', 'state'],
    ['empty', ''],
    ['missing', null],
  ])('a state that is %s is refused', async (_, state) => {
    const { member, person } = await company();
    const browser = newBrowser();
    const response = new URL(provider.authorize(await beginWith(browser, member.email), person), provider.issuer);
    if (state === null) response.searchParams.delete('state');
    else response.searchParams.set('state', state);
    await expectNobody(browser, await browser.get(response.pathname + response.search), 400);
  });

  test('a state after ten minutes is refused', async () => {
    const { member, person } = await company();
    const browser = newBrowser();
    const response = provider.authorize(await beginWith(browser, member.email), person);
    dashboard.passMinutes(10);
    await expectNobody(browser, await browser.get(response), 400);
  });

  test('two states in one response are not two chances', async () => {
    const { member, person } = await company();
    const browser = newBrowser();
    const response = provider.authorize(await beginWith(browser, member.email), person);
    await expectNobody(browser, await browser.get(`${response}&state=${'A'.repeat(43)}`), 502);
  });

  test('the ID token in the URL, as of the implicit flow, signs nobody in', async () => {
    const { member } = await company();
    const browser = newBrowser();
    const url = new URL(await beginWith(browser, member.email));
    const back = `${new URL(url.searchParams.get('redirect_uri') ?? '').pathname}?state=${url.searchParams.get('state')}&iss=${provider.issuer}`;
    await expectNobody(browser, await browser.get(`${back}&id_token=a.b.c`), 502);
  });
});

describe('mix-up', () => {
  test('the response of one connection is refused at the address of another one', async () => {
    const [mine, other] = [await company(), await company()];
    const browser = newBrowser();
    const response = provider.authorize(await beginWith(browser, mine.member.email), mine.person);
    const moved = response.replace(mine.administrator.scope.organizationId, other.administrator.scope.organizationId);
    expect(moved).not.toBe(response);
    await expectNobody(browser, await browser.get(moved), 400);
  });

  test('each connection has a redirect URL of its own', async () => {
    const [mine, other] = [await company(), await company()];
    const redirectOf = async ({ member }: Company) =>
      new URL(await beginWith(newBrowser(), member.email)).searchParams.get('redirect_uri');
    expect(await redirectOf(mine)).toContain(mine.administrator.scope.organizationId);
    expect(await redirectOf(mine)).not.toBe(await redirectOf(other));
  });

  test.each([
    ['names another issuer', 'https://evil.example'],
    ['names none, although the provider always does', null],
  ])('a response that %s is refused, and its code is sent nowhere', async (_, issuer) => {
    // The attack: the code of an honest provider is sent to the token endpoint of the attacker's (RFC 9207).
    const { member, person } = await company();
    const browser = newBrowser();
    const response = new URL(provider.authorize(await beginWith(browser, member.email), person), provider.issuer);
    if (issuer === null) response.searchParams.delete('iss');
    else response.searchParams.set('iss', issuer);
    provider.requested.length = 0;
    await expectNobody(browser, await browser.get(response.pathname + response.search), 502);
    expect(provider.requested).not.toContain('/token');
  });

  test('a sign-in that began at the issuer before a change of the connection is refused', async () => {
    const { member, person, administrator } = await company();
    const browser = newBrowser();
    const response = provider.authorize(await beginWith(browser, member.email), person);
    await using other = await startIdentityProvider();
    await connect(db, administrator, { provider: other });
    await expectNobody(browser, await browser.get(response), 400);
  });

  test('the same subject of another issuer is another person', async () => {
    // The attack: the attacker runs a provider of their own, whose subjects are those of the honest one.
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
    const { member, person } = await company();
    const browser = newBrowser();
    const response = provider.authorize(await beginWith(browser, member.email), person);
    provider.override = (res, path) => {
      if (path !== '/token') return false;
      res.writeHead(200, { 'Content-Type': 'application/json' });
      res.end(JSON.stringify({ access_token: 'a', token_type: 'Bearer' }));
      return true;
    };
    const page = await browser.get(response);
    provider.override = null;
    await expectNobody(browser, page, 502);
  });
});

test('typing the e-mail of somebody else opens no way around the limits of passwords', async () => {
  // The attack: a network of the attacker becomes one of the victim's, from which more passwords can be tried.
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
  // The attack: a stranger at a few addresses uses up the attempts that the people of the organization share.
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
