import { apiSecurityHeaders } from '../src/security-headers.ts';
import { startDashboard, type TestDashboard } from './support/dashboard-server.ts';

let plain: TestDashboard;
let secure: TestDashboard;
beforeAll(async () => {
  plain = await startDashboard({ publicUrl: 'http://charter.example.org' });
  secure = await startDashboard({ databaseUrl: plain.databaseUrl, publicUrl: 'https://charter.example.org' });
});
afterAll(async () => {
  await secure.close();
  await plain.close();
});

const HSTS = 'max-age=31536000';

test.each(['/livez', '/openapi.json', '/docs/', '/sign-in', '/profile', '/nothing'])(
  '%s forbids sniffing and framing, and only with an https PUBLIC_URL every later visit without HTTPS',
  async (path) => {
    // The attack: somebody on the line answers the next visit by plain HTTP; a page of another site frames ours.
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
  expect(apiSecurityHeaders({ isHttps: false })).toEqual({ 'X-Content-Type-Options': 'nosniff' });
  expect(apiSecurityHeaders({ isHttps: true })).toEqual({
    'X-Content-Type-Options': 'nosniff',
    'Strict-Transport-Security': HSTS,
  });
});
