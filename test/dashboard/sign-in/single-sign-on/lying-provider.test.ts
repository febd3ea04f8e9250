import { wordsOf } from '../../../support/dashboard/dashboard.ts';
import { PASSWORD } from '../../../support/data/accounts.ts';
import { createScope, times } from '../../../support/data/actors.ts';
import { beginAtTile, beginWith, useCompanies } from '../../../support/providers/companies.ts';
import { startIdentityProvider } from '../../../support/providers/identity-provider.ts';

// Attacks by a provider, and by links.

const { db, provider, company, newBrowser, isIn, expectNobody } = await useCompanies();

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
  ])('a sign-in that begins at the provider does not lead to %s', async (_, target) => {
    const { administrator, person } = await company();
    const browser = newBrowser();
    const start = `/single-sign-on/${administrator.scope.organizationId}/start`;
    const url = await beginAtTile(browser, `${start}?target_link_uri=${encodeURIComponent(target)}`);
    const response = provider.authorize(url, person);
    expect((await browser.get(response)).headers['location']).toBe('/profile');
  });

  test('a link to the start at the organization of an attacker leads no browser on by itself', async () => {
    const { administrator } = await company();
    const begun = await newBrowser().get(`/single-sign-on/${administrator.scope.organizationId}/start`);
    expect([begun.status, begun.headers['location'], begun.headers['refresh']]).toEqual([200, undefined, undefined]);
    expect(begun.text).toContain(new URL(provider.issuer).host);
  });

  test('links to the start begin nothing and use up nobody’s attempts', async () => {
    // The attack: a page of another site loads images from these URLs to lock its visitors out of single sign-on.
    const { administrator, member } = await company();
    const { organizationId } = administrator.scope;
    const browser = newBrowser();
    provider.requested.length = 0;
    await times(30, () => browser.get(`/single-sign-on/${organizationId}/start?login_hint=${member.email}`));
    expect(await db.prisma.ssoSignIn.count({ where: { organizationId } })).toBe(0);
    expect(provider.requested).toEqual([]);
    expect(await beginWith(browser, member.email)).toContain(provider.issuer);
  });

  test('a sign-in from a tile ends the session that the browser had before', async () => {
    const { administrator, member, person } = await company();
    const browser = newBrowser();
    await browser.submit('/sign-in?with=password', { email: administrator.email, password: PASSWORD }, '/sign-in');
    const copy = newBrowser();
    copy.cookies.set('charter', browser.cookies.get('charter') ?? '');
    expect(await isIn(copy)).toBe(true);
    const start = `/single-sign-on/${administrator.scope.organizationId}/start`;
    expect(wordsOf(await browser.get(start))).toContain('Another session of this browser ends.');
    await browser.get(provider.authorize(await beginAtTile(browser, start), person));
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
    'its authorization_endpoint %j is not linked',
    async (authorization_endpoint) => {
      const { lying, page } = await start({ authorization_endpoint });
      const isLinked = page.text.includes(`href="${authorization_endpoint}`);
      expect([page.status, page.headers['refresh'], isLinked]).toEqual([502, undefined, false]);
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
    'metadata of %s get a clear page without a fault',
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
