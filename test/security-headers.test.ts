import { apiSecurityHeaders } from '../src/security-headers.ts';
import { exchangeRaw, parseRaw } from './support/clients/client.ts';
import { useDashboard } from './support/dashboard/dashboard-server.ts';
import { listen } from './support/servers/listen.ts';

const plain = await useDashboard({ publicUrl: 'http://charter.example.org' });
const secure = await useDashboard({ databaseUrl: plain.databaseUrl, publicUrl: 'https://charter.example.org' });

const HSTS = 'max-age=31536000';

test.each(['/livez', '/openapi.json', '/docs/', '/sign-in', '/profile', '/nothing'])(
  '%s forbids sniffing and framing, and only with an https PUBLIC_URL every later visit without HTTPS',
  async (path) => {
    // The attack: somebody in the network answers the next visit by plain HTTP, or a page of another site frames our page.
    for (const { url, isSecure } of [plain, secure]) {
      const { headers } = await fetch(url + path, { redirect: 'manual', headers: { Accept: 'text/html' } });
      expect([path, Object.fromEntries(headers)]).toEqual([
        path,
        expect.objectContaining({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' }),
      ]);
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('strict-transport-security')).toBe(isSecure ? HSTS : null);
      expect(headers.get('x-powered-by')).toBeNull();
    }
  },
);

test('the API gets those of the headers that concern it', () => {
  expect(apiSecurityHeaders('http://charter.example.org')).toEqual({ 'X-Content-Type-Options': 'nosniff' });
  expect(apiSecurityHeaders('https://charter.example.org')).toEqual({
    'X-Content-Type-Options': 'nosniff',
    'Strict-Transport-Security': HSTS,
  });
});

test.each(['/nothing', '/api/nothing'])(
  'the 404 for %s has no header of a web page, for a client that accepts JSON',
  async (path) => {
    const { status, headers } = await fetch(secure.url + path);
    expect(status).toBe(404);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'strict-transport-security': HSTS,
    });
    for (const name of ['content-security-policy', 'x-frame-options', 'referrer-policy'])
      expect(headers.get(name)).toBeNull();
  },
);

test('a request that is not readable HTTP gets the headers of the API, too', async () => {
  for (const [publicUrl, hsts] of [
    ['http://charter.example.org', undefined],
    ['https://charter.example.org', HSTS],
  ]) {
    const server = await listen(() => {}, { publicUrl });
    const { status, headers } = parseRaw(await exchangeRaw(server.url, 'unreadable\r\n\r\n'));
    await server.stop();
    expect(status).toBe(400);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['strict-transport-security']).toBe(hsts);
  }
});
