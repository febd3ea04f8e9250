import { mintKey } from '../../src/domain/keys/api-key.ts';
import { exchangeRaw, parseRaw, rawRequest } from '../support/clients/client.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const INVALID_TOKEN = 'Bearer realm="charter", error="invalid_token"';

const server = await useServer();
const ours = await createTestOrganization(server);

function getKeyWith(authorization: string | string[]) {
  return server.anonymous.get('/api/key', { headers: { Authorization: authorization } });
}

test.each([
  ['another scheme', (key: string) => `Basic ${Buffer.from(`${key}:`).toString('base64')}`],
  ['a scheme without a key', () => 'Bearer'],
  ['a scheme followed only by spaces', () => 'Bearer   '],
  ['two words after the scheme', (key: string) => `Bearer ${key} ${key}`],
  ['a key without a scheme', (key: string) => key],
  ['a scheme that only begins alike', (key: string) => `Bearers ${key}`],
  ['a tab in place of the space', (key: string) => `Bearer\t${key}`],
  ['an empty header', () => ''],
])('401 invalid_token for %s, and the response does not contain the key', async (_, authorization) => {
  const response = await getKeyWith(authorization(ours.key));
  expect(response).toMatchObject({ status: 401, headers: { 'www-authenticate': INVALID_TOKEN } });
  expect(response.text).not.toContain(ours.key);
});

test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer   '])('accepts the scheme "%s"', async (scheme) => {
  expect((await getKeyWith(`${scheme} ${ours.key}`)).status).toBe(200);
});

// The attack: a proxy checks one of two headers, and the server obeys the other.
test('401 for two Authorization headers, one valid and one not in either order, or both valid', async () => {
  const good = `Bearer ${ours.key}`;
  const bad = `Bearer ${mintKey('live').key}`;
  for (const both of [
    [good, bad],
    [bad, good],
    [good, good],
  ]) {
    expect(await getKeyWith(both)).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': INVALID_TOKEN },
      body: { message: 'There are several Authorization headers. Send one.' },
    });
  }
});

// The attack: a proxy sends the requests of several clients over one connection, and one client is served with the key of
// another.
test('judges each request of a connection by its own key', async () => {
  const theirs = await createTestOrganization(server);
  const [good, other] = [`Authorization: Bearer ${ours.key}`, `Authorization: Bearer ${theirs.key}`];
  const unknown = `Authorization: Bearer ${mintKey('live').key}`;
  const cut = good.slice(0, -1);
  const sent = [[good], [good], [other], [], [good], [unknown], [good, good], [cut], [good]];
  const requests = sent.map((headers, i) => {
    const request = rawRequest('GET /api/key', headers);
    return i < sent.length - 1 ? request.replace('Connection: close\r\n', '') : request;
  });
  const received = await exchangeRaw(server.url, requests.join(''));
  const responses = received.split(/(?=HTTP\/1\.1 )/).map(parseRaw);
  expect(responses.map(({ status, text }) => (status === 200 ? JSON.parse(text).organization.id : status))).toEqual([
    ours.id,
    ours.id,
    theirs.id,
    401,
    ours.id,
    401,
    401,
    401,
    ours.id,
  ]);
});

// The attack: reading keys in logs and browser histories, which record URLs (RFC 6750 section 2.3).
test('401 for a key in the query', async () => {
  const response = await server.anonymous.get(`/api/key?access_token=${ours.key}`);
  expect(response).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer realm="charter"' } });
});

test.each<[string, (key: string) => string, string]>([
  ['with one wrong character', (key) => key.replace(/.$/, (last) => (last === '0' ? '1' : '0')), 'is mistyped. Copy'],
  ['without its last character', (key) => key.slice(0, -1), 'is incomplete: it has 58 of 59 characters. Copy'],
  ['without a character in its middle', (key) => key.slice(0, 30) + key.slice(31), 'it has 58 of 59 characters. Copy'],
  ['without all after its prefix', (key) => key.slice(0, -46), 'is incomplete: it has 13 of 59 characters. Copy'],
  ['with a comma after it', (key) => `${key},`, 'has something extra: 1 character is too many. Copy only the key.'],
  ['in quotation marks', (key) => `"${key}"`, 'has something extra: 2 characters are too many. Copy only the key.'],
  ['sent twice', (key) => key + key, 'has something extra: 59 characters are too many. Copy only the key.'],
  [
    'in capitals',
    (key) => key.toUpperCase(),
    'not an API key: a key begins with charter_live_ and ends with 46 letters',
  ],
  ['of the other environment', () => mintKey('test').key, 'a test key, but this server accepts only live keys.'],
  ['that nobody has', () => mintKey('live').key, 'is not known. Check that the whole key was copied.'],
])('401 with a remedy, which does not repeat the key, for a key %s', async (_, change, words) => {
  const { status, headers, body, text } = await getKeyWith(`Bearer ${change(ours.key)}`);
  expect({ status, challenge: headers['www-authenticate'] }).toEqual({ status: 401, challenge: INVALID_TOKEN });
  expect(Object.keys(body)).toEqual(['message']);
  expect(body.message).toContain(words);
  expect(text).not.toContain(ours.key.slice(13, 17));
});

// The attack: a NUL byte, which ends a string in C, or a header so large that it fills the memory.
test('400 as the contract defines it, for NUL in the header', async () => {
  const response = parseRaw(
    await exchangeRaw(server.url, rawRequest('GET /api/key', [`Authorization: Bearer ${ours.key}\0`])),
  );
  expect(response.status).toBe(400);
  expect(response.message).toBe('The request is not readable HTTP/1.1.');
});

test('401 for a key of 12,000 characters, and 400 for headers above the size limit', async () => {
  expect((await getKeyWith(`Bearer ${'x'.repeat(12_000)}`)).status).toBe(401);
  const received = await exchangeRaw(
    server.url,
    rawRequest('GET /api/key', [`Authorization: Bearer ${'x'.repeat(20_000)}`]),
  );
  expect(parseRaw(received).status).toBe(400);
});

// The attack: inferring from the wording of the response whether a path exists.
test('every path of the contract returns the same message for a missing key', async () => {
  const [first, ...others] = await Promise.all(
    ['/api/key', '/api/parent_programs', `/api/parent_programs/${crypto.randomUUID()}`].map((url) =>
      server.anonymous.get(url),
    ),
  );
  for (const other of others) expect(other.text).toBe(first?.text);
});
