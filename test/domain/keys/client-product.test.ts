import { mintKey } from '../../../src/domain/keys/api-key.ts';
import { clientProductOf } from '../../../src/domain/keys/key-usage.ts';

test.each([
  ['curl/8.5.0', 'curl/8.5.0'],
  ['python-requests/2.32.3', 'python-requests/2.32.3'],
  ['Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0', 'Mozilla/5.0'],
  ['node', 'node'],
  ['Warehouse export 3', 'Warehouse'],
  [`${'a'.repeat(100)}/1`, 'a'.repeat(60)],
  ['(compatible)', null],
  ['<script>alert(1)</script>', null],
  ['', null],
  [undefined, null],
])('of the User-Agent %p, %p is recorded', (userAgent, product) => {
  expect(clientProductOf(userAgent)).toBe(product);
});

test('a product that contains an API key is not recorded', () => {
  // The risk: a program sends its key in the wrong header, and everybody who sees the key's page could use the key.
  const { key } = mintKey('live');
  for (const userAgent of [key, `${key}/1.0`, `app/${key}`, `Bearer-${key}`, key.slice('charter_live_'.length)])
    expect([userAgent, clientProductOf(userAgent)]).toEqual([userAgent, null]);
});
