import { exchangeRaw, parseRaw, rawRequest } from '../support/clients/client.ts';
import { requireConformity } from '../support/contract/contract.ts';
import { expectLinearTime } from '../support/linear-time.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();
const ours = await createTestOrganization(server);

const LIST = '/api/parent_programs';

/** Sends the request and checks the response against the contract's list operation, whatever the form of the request target. */
async function send(line: string, headers: readonly string[] = [], body = '') {
  const text = rawRequest(line, [`Authorization: Bearer ${ours.key}`, ...headers], body);
  return parseRaw(await exchangeRaw(server.url, text));
}

function expectShown(response: Awaited<ReturnType<typeof send>>, { method = 'GET', url = LIST } = {}) {
  requireConformity({ method, url }, response);
}

test.each([
  '/api/parent%5Fprograms',
  '/%61pi/parent_programs',
  'http://charter.test/api/parent_programs',
  'HTTP://other.test:9999/api/parent_programs?limit=5',
  'https://charter.test/api/parent_programs',
  'http://[::1/api/parent_programs',
  '/api/parent_programs?',
])('GET %s returns the list', async (target) => {
  const response = await send(`GET ${target}`);
  expect(response.status).toBe(200);
  expectShown(response);
});

// GET / redirects a client that does not ask for HTML to the API catalog (RFC 9727).
test.each(['/', 'http://charter.test', 'http://charter.test?x'])('the catalog for GET %s', async (target) => {
  const received = await exchangeRaw(server.url, rawRequest(`GET ${target}`));
  expect(received).toMatch(/^HTTP\/1\.1 303 .*\r\nLocation: \/\.well-known\/api-catalog\r\n/s);
});

test.each([
  '/api',
  '/api/',
  '/api/parent_programs/',
  '/api//parent_programs',
  '//api/parent_programs',
  '//evil',
  '//evil.test/api/parent_programs',
  '//a@b#x',
  '//%@b#x',
  '/api/parent_programs/a/b',
  '/api/parent_programs%2F',
  '/api%2Fparent_programs',
  '/API/parent_programs',
  '/api/Parent_Programs',
  '/api/parent_programs;x=1',
  '/api/./parent_programs',
  '/api/key/../parent_programs',
  '/api/%2e%2e/api/parent_programs',
  '/%ff/parent_programs',
  '/%',
  '/api/parent_programs%00',
  '/__proto__',
  '/api/constructor',
  '/api/parent_programs#x',
  '*',
  'http://[::1/api/parent_programs/',
  'http://a:b@c:d:e/api/parent_programs/',
  'http:///api/parent_programs/x/y',
  'ftp://charter.test/api/parent_programs',
  'ftp://[::1/livez',
])('404 as the contract defines it for GET %s', async (target) => {
  const response = await send(`GET ${target}`);
  expect(response.status).toBe(404);
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  expectShown(response, { url: '/unknown' });
});

test.each(['/api', '/unknown', '/api/parent_programs/'])(
  '404 takes precedence over 401 for %s, with the same message',
  async (url) => {
    const [anonymous, known] = await Promise.all([server.anonymous.get(url), ours.client.get(url)]);
    expect(anonymous.status).toBe(404);
    expect(anonymous.text).toBe(known.text);
  },
);

test.each([
  ['/api/parent_programs/', '/api/parent_programs'],
  ['/api/parent_programs/?limit=5', '/api/parent_programs'],
  ['/api/parent_programs//', '/api/parent_programs'],
  ['/api/key/', '/api/key'],
  [
    '/api/parent_programs/019c2291-34b8-752e-bca9-6513269e0d37/',
    '/api/parent_programs/019c2291-34b8-752e-bca9-6513269e0d37',
  ],
])('404 for %s says that the path is %s', async (url, path) => {
  for (const method of ['GET', 'POST', 'DELETE']) {
    const { status, body } = await ours.client.send(method, url);
    expect({ status, body }).toEqual({
      status: 404,
      body: { message: `There is nothing at this path. Remove the slash at its end: ${path}` },
    });
  }
});

test('404 for a path without its last value names the value', async () => {
  const { status, body } = await ours.client.put('/api/parent_programs/by_external_id/', { name: 'x' });
  expect([status, body.message]).toEqual([
    404,
    'There is nothing at this path. Its last part is empty: /api/parent_programs/by_external_id/{external_id}',
  ]);
});

test.each(['/api/', '/api/unknown/', '/api/key/x/'])('404 for %s suggests no path', async (url) => {
  expect((await ours.client.get(url)).body.message).toBe(
    'There is nothing at this path. See the paths in the API document.',
  );
});

test('414 for an unknown path of 8193 bytes', async () => {
  expect((await server.anonymous.get(`/api/${'x'.repeat(8188)}`)).status).toBe(414);
});

test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])(
  '404 for %s of an unknown path',
  async (method) => {
    expect((await server.anonymous.send(method, '/api/unknown')).status).toBe(404);
  },
);

// The attack: a URL for which a regular expression takes quadratic time, so that few requests keep the server busy.
test.each<[string, number, (size: number) => string]>([
  ['thousands of slashes', 404, (size) => `/api${'/'.repeat(2 * size)}x`],
  ['one parameter thousands of times', 422, (size) => `${LIST}?${'a&'.repeat(size)}`],
])('a URL with %s takes processor time in proportion to its length', async (_, status, urlOf) => {
  await expectLinearTime(async (size) => {
    for (let i = 0; i < 10; i += 1) expect((await send(`GET ${urlOf(size)}`)).status).toBe(status);
  }, 1000);
});
