import type { Actor } from '../../../src/domain/actor.ts';
import { makeOwnLink } from '../../../src/service/accounts/access-links.ts';
import { inviteUser } from '../../../src/service/accounts/people.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { removeDomain } from '../../../src/service/single-sign-on/domains.ts';
import { removeConnection, saveConnection, saveRules } from '../../../src/service/single-sign-on/settings.ts';
import { addSecondFactor, codeAt, createAccount, newAuditSource } from '../../support/data/accounts.ts';
import { createScope } from '../../support/data/actors.ts';
import { PASSWORD } from '../../support/data/password.ts';
import { beginWith, buttonUrlIn, connect, LOCAL, PUBLIC_URL, urlIn } from '../../support/data/single-sign-on.ts';
import { Browser, type Page, wordsOf } from '../../support/http/dashboard.ts';
import { useDashboard } from '../../support/http/dashboard-server.ts';
import {
  type Making,
  startIdentityProvider,
  type TestPerson,
  useIdentityProvider,
} from '../../support/http/identity-provider.ts';

const dashboard = await useDashboard({ webhooks: LOCAL, publicUrl: PUBLIC_URL });
const { db } = dashboard;
const provider = await useIdentityProvider();

let made = 0;

type Company = {
  readonly domain: string;
  readonly administrator: Actor;
  readonly member: Actor;
  readonly person: TestPerson;
};

/** An organization whose people may sign in at the provider. Its member is linked to the person there. */
async function company(
  options: { rules?: Parameters<typeof connect>[2]['rules']; at?: typeof provider } = {},
): Promise<Company> {
  made += 1;
  const domain = `company-${made}.example`;
  const scope = await createScope(db);
  const named = async (role: 'administrator' | 'member') => {
    const account = await createAccount(db, { scope, role });
    const email = `${role}@${domain}`;
    await db.prisma.user.updateMany({ where: { id: account.userId }, data: { email } });
    return { ...account, email };
  };
  const [administrator, member] = [await named('administrator'), await named('member')];
  const { at = provider, rules = {} } = options;
  await connect(db, administrator, { provider: at, rules });
  const person = { sub: `member-${made}`, email: member.email, email_verified: true };
  const { organizationId } = scope;
  await db.prisma.ssoIdentity.create({
    data: { organizationId, userId: member.userId, issuer: at.issuer, subject: person.sub },
  });
  return { domain, administrator, member, person };
}

let address = 0;
function newBrowser(): Browser {
  address += 1;
  return new Browser(dashboard.url, { localAddress: `127.0.8.${address}` });
}

async function isIn(browser: Browser): Promise<boolean> {
  return (await browser.get('/profile')).status === 200;
}

/** Signs in at the provider, which makes the ID token as it is told. */
async function signIn(browser: Browser, email: string, person: TestPerson, making: Making = {}): Promise<Page> {
  return browser.get(provider.authorize(await beginWith(browser, email), person, making));
}

async function expectNobody(browser: Browser, page: Page, status: number): Promise<void> {
  expect([page.status, await isIn(browser)]).toEqual([status, false]);
}

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
    const other = await startIdentityProvider();
    await connect(db, administrator, { provider: other });
    await expectNobody(browser, await browser.get(response), 400);
    await other.close();
  });

  test('the same subject of another issuer is another person', async () => {
    // The attack: the attacker runs a provider of their own, whose subjects are those of the honest one.
    const { person } = await company();
    const evil = await startIdentityProvider();
    const theirs = await company({ at: evil });
    const browser = newBrowser();
    const url = await beginWith(browser, theirs.member.email);
    await expectNobody(browser, await browser.get(evil.authorize(url, person)), 403);
    await evil.close();
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
    ['must be understood in a way that nobody defined', { header: { crit: ['b64'], b64: false } }],
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

describe('the e-mail', () => {
  /** A person whom nobody is linked to. */
  const stranger = (email: unknown, more: object = {}) => ({ sub: crypto.randomUUID(), email, ...more });

  test.each([false, 'false', 0, null, 'yes', {}])('is nobody’s if it is not verified (%j)', async (email_verified) => {
    // The attack: some providers send "false" as a string, which is true in many languages.
    const { member, administrator } = await company({ rules: { newPeople: 'member' } });
    const browser = newBrowser();
    const page = await signIn(browser, member.email, stranger(administrator.email, { email_verified }));
    await expectNobody(browser, page, 403);
  });

  test.each([
    ['another domain', 'ada@elsewhere.example'],
    ['a subdomain', 'ada@sub.DOMAIN'],
    ['a domain that ends alike', 'ada@evil-DOMAIN'],
    ['two addresses', 'ada@elsewhere.example, ada@DOMAIN'],
    ['a quoted address', '"ada@DOMAIN"@elsewhere.example'],
    ['a domain within a domain', 'ada@DOMAIN.elsewhere.example'],
    ['no address', 'ada'],
    ['a list', ['ada@DOMAIN']],
    ['nothing', undefined],
  ])('gives nobody an account if it is of %s', async (_, email) => {
    const { member, domain } = await company({ rules: { newPeople: 'member' } });
    const browser = newBrowser();
    const text = JSON.stringify(email)?.replaceAll('DOMAIN', domain);
    const page = await signIn(browser, member.email, stranger(text === undefined ? undefined : JSON.parse(text)));
    await expectNobody(browser, page, 403);
    const emails = await db.prisma.user.count({ where: { email: { contains: 'elsewhere.example' } } });
    expect(emails).toBe(0);
  });

  test('of a user of another organization opens nothing, and does not reveal the user', async () => {
    const mine = await company({ rules: { newPeople: 'member' } });
    const theirs = await createAccount(db);
    const email = `taken@${mine.domain}`;
    await db.prisma.user.updateMany({ where: { id: theirs.userId }, data: { email } });
    const other = await company();
    const words = [];
    for (const [at, from] of [
      [email, mine],
      [`nobody@${other.domain}`, other],
    ] as const) {
      const browser = newBrowser();
      const page = await signIn(browser, from.member.email, stranger(at));
      await expectNobody(browser, page, 403);
      words.push(wordsOf(page));
    }
    expect(words[0]).toBe(words[1]);
    expect((await db.prisma.user.findUnique({ where: { email } }))?.organizationId).toBe(theirs.scope.organizationId);
  });

  test('of an administrator, which somebody has chosen at the provider, opens nothing without the password', async () => {
    const { member, administrator } = await company({ rules: { newPeople: 'member' } });
    const browser = newBrowser();
    const page = await signIn(browser, member.email, stranger(administrator.email));
    const path = page.headers['location'] ?? '';
    expect([page.status, path]).toEqual([303, expect.stringMatching(/\/confirm\//)]);
    expect(await isIn(browser)).toBe(false);
    await expectNobody(browser, await browser.submit(path, { password: 'wrong' }), 422);
    await expectNobody(browser, await browser.submit(path, { password: '' }), 422);
  });

  test('that has changed at the provider changes nothing here', async () => {
    const { member, person, administrator } = await company();
    const browser = newBrowser();
    expect((await signIn(browser, member.email, { ...person, email: administrator.email })).status).toBe(303);
    expect(wordsOf(await browser.get('/profile'))).toContain(member.email);
  });

  test('of a linked user does not link another person, who got it later', async () => {
    const { member } = await company();
    const browser = newBrowser();
    await expectNobody(browser, await signIn(browser, member.email, stranger(member.email)), 403);
  });

  test('of a deactivated user opens nothing, linked or not', async () => {
    const { member, person, administrator } = await company({ rules: { newPeople: 'member' } });
    const other = await createAccount(db, { scope: administrator.scope });
    const email = `former@${member.email.split('@')[1]}`;
    await db.prisma.user.updateMany({ where: { id: other.userId }, data: { email } });
    const ids = [member.userId, other.userId];
    await db.prisma.user.updateMany({ where: { id: { in: ids } }, data: { deactivatedAt: new Date() } });
    const browser = newBrowser();
    await expectNobody(browser, await signIn(browser, member.email, person), 403);
    await expectNobody(browser, await signIn(browser, member.email, stranger(email)), 403);
  });
});

describe('the confirmation', () => {
  async function toConfirm() {
    const found = await company();
    const browser = newBrowser();
    const { email } = found.administrator;
    const page = await signIn(browser, found.member.email, { sub: crypto.randomUUID(), email });
    return { ...found, browser, path: page.headers['location'] ?? '' };
  }

  test('links and signs in with the right password, once', async () => {
    const { browser, path, administrator } = await toConfirm();
    const form = await browser.form(path);
    const fields = { ...Object.fromEntries(form.fields), password: PASSWORD };
    expect((await browser.post(path, fields)).headers['location']).toBe('/profile');
    expect(wordsOf(await browser.get('/profile'))).toContain(administrator.email);
    browser.cookies.delete('charter');
    await expectNobody(browser, await browser.post(path, fields), 400);
  });

  test('works only in the browser that signed in at the provider', async () => {
    const { path } = await toConfirm();
    const other = newBrowser();
    const form = await other.form('/sign-in');
    expect((await other.get(path)).status).toBe(400);
    const page = await other.post(path, { form_token: new Map(form.fields).get('form_token'), password: PASSWORD });
    await expectNobody(other, page, 400);
  });

  test('needs the second factor, too', async () => {
    const { browser, path, administrator } = await toConfirm();
    const now = dashboard.now();
    const { uri } = await addSecondFactor(db, administrator, now);
    await expectNobody(browser, await browser.submit(path, { password: PASSWORD, code: '000000' }), 422);
    await expectNobody(browser, await browser.submit(path, { password: PASSWORD }), 422);
    const page = await browser.submit(path, { password: PASSWORD, code: codeAt(uri, now) });
    expect(page.headers['location']).toBe('/profile');
  });

  test('is limited like a sign-in', async () => {
    const { browser, path } = await toConfirm();
    for (let i = 0; i < 10; i += 1) expect((await browser.submit(path, { password: 'wrong' })).status).toBe(422);
    await expectNobody(browser, await browser.submit(path, { password: PASSWORD }), 429);
  });

  test('ends after ten minutes, and with the connection', async () => {
    const { browser, path } = await toConfirm();
    const form = await browser.form(path);
    dashboard.passMinutes(10);
    await expectNobody(
      browser,
      await browser.post(path, { ...Object.fromEntries(form.fields), password: PASSWORD }),
      400,
    );
  });

  test('by an invitation takes the invited person only', async () => {
    // The attack: somebody who finds the link of a colleague signs in at the provider as themselves.
    const { administrator, domain } = await company();
    const email = `invited@${domain}`;
    const { link } = orThrow(await inviteUser(db, administrator, { email, name: 'Invited', role: 'manager' }));
    const browser = newBrowser();
    const begin = async () => {
      const page = await browser.submit(`/welcome/${link.token}`, {}, `/welcome/${link.token}/single-sign-on`);
      return /^0; url=(.*)$/.exec(page.headers['refresh'] ?? '')?.[1] ?? '';
    };
    const thief = { sub: crypto.randomUUID(), email: administrator.email };
    const page = await browser.get(provider.authorize(await begin(), thief));
    expect(page.headers['location']).toMatch(/\/confirm\//);
    expect(await isIn(browser)).toBe(false);
    const invited = { sub: crypto.randomUUID(), email };
    expect((await browser.get(provider.authorize(await begin(), invited))).headers['location']).toBe('/profile');
    expect(wordsOf(await browser.get('/profile'))).toContain(email);
    // The link is used up.
    expect((await newBrowser().get(`/welcome/${link.token}`)).status).toBe(404);
  });
});

describe('an access link', () => {
  /** The response of the provider to a sign-in from the link. */
  async function comeBack(browser: Browser, token: string, person: TestPerson): Promise<Page> {
    const page = await browser.submit(`/welcome/${token}`, {}, `/welcome/${token}/single-sign-on`);
    return browser.get(provider.authorize(urlIn(page) ?? '', person));
  }

  async function reset({ email }: Actor): Promise<string> {
    const link = await makeOwnLink(db, { email, auditSource: newAuditSource(), now: dashboard.now() });
    if (link === null) throw new Error(`${email} gets no link.`);
    return link.token;
  }

  test('does not replace the second factor of the account', async () => {
    // The attack: the mailbox gets a reset link, and its e-mail an account at the provider.
    const { administrator } = await company();
    const { uri } = await addSecondFactor(db, administrator, dashboard.now());
    const token = await reset(administrator);
    const browser = newBrowser();
    const stranger = { sub: crypto.randomUUID(), email: administrator.email };
    const path = (await comeBack(browser, token, stranger)).headers['location'] ?? '';
    expect(path).toMatch(/\/confirm\//);
    const asked = await browser.get(path);
    expect([asked.text.includes('name="password"'), asked.text.includes('name="code"')]).toEqual([false, true]);
    for (const code of ['', '000000']) await expectNobody(browser, await browser.submit(path, { code }), 422);
    expect(await db.prisma.ssoIdentity.count({ where: { userId: administrator.userId } })).toBe(0);
    // Its owner has the code. The link replaces the password, and is used up.
    const page = await browser.submit(path, { code: codeAt(uri, dashboard.now()) });
    expect([page.headers['location'], await isIn(browser)]).toEqual(['/profile', true]);
    expect((await newBrowser().get(`/welcome/${token}`)).status).toBe(404);
  });

  test('that was used meanwhile confirms nothing', async () => {
    const { administrator } = await company();
    const { uri } = await addSecondFactor(db, administrator, dashboard.now());
    const token = await reset(administrator);
    const browser = newBrowser();
    const stranger = { sub: crypto.randomUUID(), email: administrator.email };
    const path = (await comeBack(browser, token, stranger)).headers['location'] ?? '';
    const form = await browser.form(path);
    await newBrowser().submit(`/welcome/${token}`, { password: 'seven otters juggle 93 lanterns' });
    const fields = { ...Object.fromEntries(form.fields), code: codeAt(uri, dashboard.now()) };
    await expectNobody(browser, await browser.post(path, fields), 422);
    expect(await db.prisma.ssoIdentity.count({ where: { userId: administrator.userId } })).toBe(0);
  });

  test('is void once the account is linked, whatever confirmed it', async () => {
    // The attack: a link that somebody kept sets a password, which the provider cannot end.
    const { administrator, domain } = await company();
    const email = `invited@${domain}`;
    const { link } = orThrow(await inviteUser(db, administrator, { email, name: 'Ida', role: 'member' }));
    const kept = await reset({ ...administrator, email });
    await comeBack(newBrowser(), link.token, { sub: crypto.randomUUID(), email });
    const other = await reset(administrator);
    const browser = newBrowser();
    const toConfirm = await signIn(browser, administrator.email, { sub: 'ada', email: administrator.email });
    await browser.submit(toConfirm.headers['location'] ?? '', { password: PASSWORD });
    expect(await isIn(browser)).toBe(true);
    for (const token of [kept, other]) expect((await newBrowser().get(`/welcome/${token}`)).status).toBe(404);
  });
});

describe('a change of the settings while the provider is asked', () => {
  /** Signs in as somebody who is linked, and as somebody new. The change is made before the provider's response. */
  async function signInDuring(
    change: (theirs: Company) => Promise<unknown>,
  ): Promise<{ status: number; in: boolean }[]> {
    const results = [];
    for (const isNew of [false, true]) {
      const theirs = await company({ rules: { newPeople: 'viewer' } });
      const email = isNew ? `new@${theirs.domain}` : theirs.member.email;
      const browser = newBrowser();
      const person = isNew ? { sub: crypto.randomUUID(), email } : theirs.person;
      const response = provider.authorize(await beginWith(browser, email), person);
      provider.override = async (_, path) => {
        if (path === '/token') await change(theirs);
        return false;
      };
      const page = await browser.get(response);
      provider.override = null;
      results.push({ status: page.status, in: await isIn(browser) });
      if (isNew) expect(await db.prisma.user.count({ where: { email } })).toBe(0);
    }
    return results;
  }

  const REFUSED = { status: 400, in: false };
  const connection = ({ issuer, clientId, clientSecret } = provider) => ({ issuer, clientId, clientSecret });

  test.each([
    ['to another client', () => ({ ...connection(), clientId: 'another' })],
    ['to another issuer', () => ({ ...connection(), issuer: 'https://login.example' })],
  ])('of the connection %s signs nobody in', async (_, content) => {
    const save = ({ administrator }: Company) =>
      saveConnection(db, administrator, { ...content(), targets: LOCAL }).then(orThrow);
    expect(await signInDuring(save)).toEqual([REFUSED, REFUSED]);
  });

  test('that removes the connection signs nobody in', async () => {
    const remove = ({ administrator }: Company) => removeConnection(db, administrator).then(orThrow);
    expect(await signInDuring(remove)).toEqual([REFUSED, REFUSED]);
  });

  test('that removes the connection, or changes its client, begins no sign-in', async () => {
    const change = ({ administrator }: Company) =>
      saveConnection(db, administrator, { ...connection(), clientId: 'another', targets: LOCAL }).then(orThrow);
    const remove = ({ administrator }: Company) => removeConnection(db, administrator).then(orThrow);
    for (const act of [change, remove]) {
      // A provider whose metadata nobody has read yet.
      const slow = await startIdentityProvider();
      const theirs = await company({ at: slow });
      slow.override = async () => {
        await act(theirs);
        return false;
      };
      const page = await newBrowser().submit('/sign-in', { email: theirs.member.email });
      expect([page.status, urlIn(page)]).toEqual([400, null]);
      const { organizationId } = theirs.administrator.scope;
      expect(await db.prisma.ssoSignIn.count({ where: { organizationId } })).toBe(0);
      await slow.close();
    }
  });

  test('of the rules counts for somebody new', async () => {
    const rules = { newPeople: '', groupsClaim: '', groupRoles: '' };
    const close = ({ administrator }: Company) => saveRules(db, administrator, rules).then(orThrow);
    expect(await signInDuring(close)).toEqual([
      { status: 303, in: true },
      { status: 403, in: false },
    ]);
  });

  test.each([
    [
      'of the client',
      400,
      ({ administrator }: Company) =>
        saveConnection(db, administrator, { ...connection(), clientId: 'another', targets: LOCAL }).then(orThrow),
    ],
    [
      'of the domain',
      403,
      ({ administrator, domain }: Company) => removeDomain(db, administrator, { domain }).then(orThrow),
    ],
  ])('%s refuses a confirmation that waits', async (_, status, change) => {
    const theirs = await company();
    const browser = newBrowser();
    const { email } = theirs.administrator;
    const page = await signIn(browser, theirs.member.email, { sub: crypto.randomUUID(), email });
    const form = await browser.form(page.headers['location'] ?? '');
    await change(theirs);
    const fields = { ...Object.fromEntries(form.fields), password: PASSWORD };
    await expectNobody(browser, await browser.post(form.action, fields), status);
    expect(await db.prisma.ssoIdentity.count({ where: { userId: theirs.administrator.userId } })).toBe(0);
  });
});

describe('redirects', () => {
  test.each(['https://evil.example/', '//evil.example/profile', '/\\evil.example', 'javascript:alert(1)'])(
    'a sign-in does not lead to %s',
    async (next) => {
      const { member, person } = await company();
      const browser = newBrowser();
      const response = provider.authorize(await beginWith(browser, member.email, next), person);
      expect((await browser.get(response)).headers['location']).toBe('/profile');
    },
  );

  test.each([
    ['another site', 'https://evil.example/profile'],
    ['a path that is too long to be stored once it is encoded', `/profile?search=${'€'.repeat(300)}`],
  ])('nor does one that begins at the provider lead to %s', async (_, target) => {
    const { administrator, person } = await company();
    const browser = newBrowser();
    const start = `/single-sign-on/${administrator.scope.organizationId}/start`;
    const begun = await browser.get(`${start}?target_link_uri=${encodeURIComponent(target)}`);
    const response = provider.authorize(buttonUrlIn(begun), person);
    expect((await browser.get(response)).headers['location']).toBe('/profile');
  });

  test('a link to the start at the organization of an attacker leads no browser on by itself', async () => {
    const { administrator } = await company();
    const begun = await newBrowser().get(`/single-sign-on/${administrator.scope.organizationId}/start`);
    expect([begun.status, begun.headers['location'], begun.headers['refresh']]).toEqual([200, undefined, undefined]);
    expect(begun.text).toContain(new URL(buttonUrlIn(begun)).host);
  });

  test('a sign-in from a tile ends the session that the browser had before', async () => {
    const { administrator, member, person } = await company();
    const browser = newBrowser();
    await browser.submit('/sign-in?with=password', { email: administrator.email, password: PASSWORD }, '/sign-in');
    const copy = newBrowser();
    copy.cookies.set('charter', browser.cookies.get('charter') ?? '');
    expect(await isIn(copy)).toBe(true);
    const begun = await browser.get(`/single-sign-on/${administrator.scope.organizationId}/start`);
    expect(wordsOf(begun)).toContain('Another session of this browser ends.');
    await browser.get(provider.authorize(buttonUrlIn(begun), person));
    expect(wordsOf(await browser.get('/profile'))).toContain(member.email);
    expect(await isIn(copy)).toBe(false);
  });

  test('a start for another issuer, or at an organization without a connection, leads nowhere', async () => {
    const { administrator } = await company();
    const browser = newBrowser();
    const start = `/single-sign-on/${administrator.scope.organizationId}/start`;
    expect((await browser.get(`${start}?iss=https://evil.example`)).status).toBe(404);
    const { organizationId } = await createScope(db);
    for (const path of ['start', 'callback', `confirm/${'A'.repeat(43)}`])
      for (const id of [organizationId, 'x', crypto.randomUUID()])
        expect((await browser.get(`/single-sign-on/${id}/${path}`)).status).toBe(404);
  });
});

describe('a provider that lies about itself', () => {
  async function start(metadata: Record<string, unknown>, override: typeof provider.override = null) {
    const lying = await startIdentityProvider();
    lying.metadata = metadata;
    lying.override = override;
    const { member, person } = await company({ at: lying });
    const browser = newBrowser();
    const page = await browser.submit('/sign-in', { email: member.email });
    return { lying, browser, page, person };
  }

  test.each([
    ['http://169.254.169.254/latest/meta-data/', 302],
    ['http://10.0.0.1/', 301],
    ['/elsewhere', 307],
  ])('a redirect of its metadata to %s is not followed', async (location, status) => {
    const { lying, browser, page } = await start({}, (res) => {
      res.writeHead(status, { Location: location });
      res.end();
      return true;
    });
    expect(page.status).toBe(502);
    expect(lying.requested).toEqual(['/.well-known/openid-configuration']);
    expect(await isIn(browser)).toBe(false);
    await lying.close();
  });

  test.each(['token_endpoint', 'jwks_uri'])('its %s at an internal address is not requested', async (name) => {
    const { lying, browser, page, person } = await start({ [name]: 'http://169.254.169.254/latest/meta-data/' });
    const url = /^0; url=(.*)$/.exec(page.headers['refresh'] ?? '')?.[1] ?? '';
    await expectNobody(browser, await browser.get(lying.authorize(url, person)), 503);
    await lying.close();
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', 'mailto:a@b.example', '/authorize', 7])(
    'its authorization_endpoint %j is no link of ours',
    async (authorization_endpoint) => {
      const { lying, page } = await start({ authorization_endpoint });
      expect([page.status, page.headers['refresh'], buttonUrlIn(page)]).toEqual([502, undefined, '']);
      await lying.close();
    },
  );

  test.each([
    ['announced', { 'Content-Length': String(100 * 1024 * 1024) }],
    ['not announced', {}],
  ])('100 MB of metadata, %s, are not read', async (_, headers) => {
    let sent = 0;
    const { lying, page } = await start({}, (res) => {
      res.writeHead(200, { 'Content-Type': 'application/json', ...headers });
      const chunk = Buffer.alloc(64 * 1024, ' ');
      const write = () => {
        while (!res.destroyed && sent < 100 * 1024 * 1024) {
          sent += chunk.length;
          if (!res.write(chunk)) return void res.once('drain', write);
        }
      };
      write();
      return true;
    });
    expect(page.status).toBe(503);
    expect(sent).toBeLessThan(10 * 1024 * 1024);
    await lying.close();
  });

  test.each([
    ['another issuer', { issuer: 'https://honest.example' }],
    ['a template of issuers, as Microsoft’s shared ones do', { issuer: 'https://login.example/{tenantid}/v2.0' }],
  ])('metadata of %s are refused', async (_, metadata) => {
    const { lying, page } = await start(metadata);
    expect([page.status, page.headers['refresh']]).toEqual([502, undefined]);
    await lying.close();
  });

  test.each(['<html>', '[]', 'null', '{}', '{"issuer":7}'])(
    'metadata of %s are a clear page, and no fault',
    async (text) => {
      const { lying, page } = await start({}, (res) => {
        res.writeHead(200, { 'Content-Type': 'application/json' });
        res.end(text);
        return true;
      });
      expect(page.status).toBe(502);
      await lying.close();
    },
  );

  test('a provider that is down is a clear page, and no fault', async () => {
    const down = await startIdentityProvider();
    const { member } = await company({ at: down });
    await down.close();
    const page = await newBrowser().submit('/sign-in', { email: member.email });
    expect([page.status, wordsOf(page)]).toEqual([503, expect.stringContaining('does not answer')]);
  });

  test('what it says about an error is not shown, and its markup is harmless in the audit log', async () => {
    const { member, administrator } = await company();
    const browser = newBrowser();
    const url = new URL(await beginWith(browser, member.email));
    const [script, state] = ['<script>alert(1)</script>', url.searchParams.get('state')];
    const query = new URLSearchParams({
      state: state ?? '',
      iss: provider.issuer,
      error: 'access_denied',
      error_description: script,
    });
    const page = await browser.get(`${new URL(url.searchParams.get('redirect_uri') ?? '').pathname}?${query}`);
    await expectNobody(browser, page, 403);
    expect(page.text).not.toContain('alert(1)');
    const where = { organizationId: administrator.scope.organizationId, action: 'user.sign_in_failed' };
    expect((await db.prisma.auditEvent.findFirst({ where }))?.detail).toEqual({
      step: 'single sign-on',
      why: expect.not.stringContaining('<'),
    });
  });
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
