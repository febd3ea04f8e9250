// The proxy in front of a server that violates the contract in every possible way.
import { once } from 'node:events';
import { connect } from 'node:net';
import { formatKey } from '../../src/domain/keys/api-key.ts';
import { exchangeRaw, parseRaw, rawRequest } from '../support/clients/client.ts';
import { exampleOf } from '../support/contract/contract.ts';
import { startTestProxy } from '../support/servers/mock.ts';
import { startUpstream } from '../support/servers/scripted-server.ts';
import { until } from '../support/wait.ts';

const LIST = '/api/parent_programs';
const ID = '019c2291-34b8-752e-bca9-6513269e0d37';
const KEY = formatKey('live', 'x'.repeat(40));
const HEADERS = {
  'X-Request-Id': '019de2fc-03da-7f1e-9c55-2f6de0b7a914',
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
};
const BODY = {
  id: ID,
  name: 'Nightly sync',
  permissions: [],
  expires_at: null,
  organization: { id: ID, name: 'Aurora' },
  integration: null,
};

type UpstreamResponse = { status?: number; headers?: Record<string, string>; body?: unknown };
type SentRequest = { method?: string; url?: string; headers?: Record<string, string>; body?: unknown };

let response: UpstreamResponse;
const upstream = await startUpstream((_, res) => {
  res.writeHead(response.status ?? 200, { ...HEADERS, ...response.headers });
  res.end(typeof response.body === 'string' ? response.body : JSON.stringify(response.body ?? BODY));
});
afterAll(() => upstream.close());
const proxy = await startTestProxy(upstream.url);
afterAll(() => proxy.close());
beforeEach(() => {
  response = {};
});

/** Sends one request whose response from the server is `given`, and returns the lines that the proxy prints. */
async function disagreements(
  given: UpstreamResponse,
  { method = 'GET', url = '/api/key', headers, body }: SentRequest = {},
) {
  response = given;
  proxy.lines.length = 0;
  const before = proxy.tally.disagreements;
  const forwarded = await fetch(`${proxy.url}${url}`, {
    method,
    headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // The proxy must never respond in place of the server.
  expect(forwarded.status).toBe(given.status ?? 200);
  const marked = proxy.lines.filter((line) => line.startsWith('! '));
  expect(proxy.tally.disagreements - before).toBe(marked.length);
  return marked.map((line) => line.replace(/^! .+? -> \d+: /, ''));
}

test('the proxy prints nothing for a valid response', async () => {
  expect(await disagreements({})).toEqual([]);
  expect(proxy.lines).toEqual(['  GET /api/key -> 200']);
});

test.each<[string, UpstreamResponse, RegExp]>([
  // Prism's proxy would silently replace this response with a response from the contract.
  ['502', { status: 502, body: { message: 'Not yet.' } }, /^the contract does not show the status 502\.$/],
  ['another success', { status: 202 }, /^the contract does not show the status 202\.$/],
  ['an empty header', { headers: { 'X-Request-Id': '' } }, /^the header x-request-id must NOT have fewer/],
  ['an undeclared header', { headers: { 'X-Secret': 'x' } }, /does not show the header x-secret\.$/],
  [
    'a header with another value',
    { headers: { 'Cache-Control': 'public' } },
    /^the header cache-control must be equal/,
  ],
  ['another content type', { headers: { 'Content-Type': 'text/html' } }, /^the content type is text\/html, not app/],
  ['no JSON', { body: '<html>' }, /^the body is not readable JSON\.$/],
  ['a field too many', { body: { ...BODY, secret: 'x' } }, /^the body .*additional properties \(secret\)\.$/],
  ['a field with another type', { body: { ...BODY, name: 5 } }, /^the body \/name must be string\.$/],
  ['a field too few', { body: { ...BODY, name: undefined } }, /^the body must have required property 'name'\.$/],
])('the proxy reports %s in one line', async (_, given, line) => {
  expect(await disagreements(given)).toEqual([expect.stringMatching(line)]);
});

test('the proxy reports a missing header', async () => {
  const given = { status: 503, body: { message: 'Later.' } };
  expect(await disagreements(given)).toEqual(['the header Retry-After is missing.']);
});

test('each violation has its own line, and the value of an undeclared header is not printed', async () => {
  const given = { headers: { 'Set-Cookie': 'session=secret', 'Cache-Control': 'public' }, body: { id: 5 } };
  const printed = await disagreements(given);
  expect(printed).toHaveLength(3);
  expect(printed.join('\n')).not.toContain('secret');
});

test('the proxy reports a path that the contract does not have', async () => {
  expect(await disagreements({}, { url: '/api/nothing' })).toEqual(['the contract does not show this path.']);
});

test.each<[string, SentRequest, number]>([
  ['an unknown parameter', { url: '/api/key?verbose=1' }, 422],
  ['a malformed key', { headers: { Authorization: 'Bearer x' } }, 401],
  ['an Accept that no response can meet', { headers: { Accept: 'text/html' } }, 406],
  ['an invalid percent-encoding', { url: '/api/key?a=%ff' }, 400],
])('the proxy reports a request with %s that the server accepts', async (_, sent, status) => {
  expect(await disagreements({}, sent)).toEqual([
    expect.stringMatching(`^the contract forbids this request \\(${status}: .+\\), but the server accepts it\\.$`),
  ]);
});

test('the proxy reports an invalid body that the server accepts', async () => {
  const body = { ...exampleOf('ParentProgramMinimal'), id: ID };
  const given = { status: 201, headers: { ETag: '"x"', Location: `${LIST}/${ID}` }, body };
  const sent = { method: 'POST', url: LIST, body: { name: 'x', colour: 'green' } };
  expect(await disagreements(given, sent)).toEqual([
    expect.stringMatching(/^the contract forbids this request \(422: colour is not a field/),
  ]);
  expect(await disagreements(given, { ...sent, body: { name: 'x' } })).toEqual([]);
});

test('the proxy reports a valid request that the server refuses as malformed', async () => {
  const given = { status: 405, headers: { Allow: 'GET' }, body: { message: 'No.' } };
  expect(await disagreements(given)).toEqual(['the contract allows this request, but the server refuses it with 405.']);
});

test('the proxy reports a refusal for another reason than the contract gives', async () => {
  const given = { status: 422, body: { message: 'No.', errors: { a: ['No.'] } } };
  expect(await disagreements(given, { headers: { Accept: 'text/html' } })).toEqual([
    expect.stringMatching(/^the contract forbids this request \(406: .+\), but the server responds with 422\.$/),
  ]);
});

test('the proxy does not report a refusal that depends on data only the server has', async () => {
  const challenge = { 'WWW-Authenticate': 'Bearer realm="charter", error="invalid_token"' };
  expect(await disagreements({ status: 401, headers: challenge, body: { message: 'Revoked.' } })).toEqual([]);
  expect(await disagreements({ status: 500, body: { message: 'A bug.' } })).toEqual([]);
});

test('the proxy leaves the check of keys and environments to the server', async () => {
  const headers = { Authorization: `Bearer ${formatKey('test', 'x'.repeat(40))}` };
  expect(await disagreements({}, { headers })).toEqual([]);
});

test('no printed line contains a key or a control character', async () => {
  await disagreements({}, { url: `/api/key?key=${KEY}` });
  expect(proxy.lines.join('\n')).not.toContain(KEY);
  await disagreements({ body: { ...BODY, '\u001b[31m': 'x' } });
  expect(proxy.lines.join('')).not.toContain('\u001b');
});

test('the summary groups equal violations, the most frequent first', async () => {
  await using own = await startTestProxy(upstream.url);
  response = { headers: { 'X-New': 'x' } };
  const get = (url: string) => fetch(`${own.url}${url}`, { headers: { Authorization: `Bearer ${KEY}` } });
  for (let i = 0; i < 3; i += 1) await get('/api/key');
  await get('/api/nothing');
  expect(own.tally.summary()).toEqual([
    '4 requests, 4 disagreements with the contract.',
    '     3  getKey 200: the contract does not show the header x-new.',
    '     1  /api/nothing 200: the contract does not show this path.',
  ]);
});

test('the proxy reports a server that disconnects or is unreachable, and keeps running', async () => {
  await using broken = await startUpstream((_, res) => res.socket?.destroy());
  await using own = await startTestProxy(broken.url);
  const get = () => fetch(`${own.url}/api/key`, { headers: { Authorization: `Bearer ${KEY}` } });
  expect((await get()).status).toBe(502);
  await broken.close();
  expect((await get()).status).toBe(502);
  expect(own.lines).toEqual(
    Array(2).fill(expect.stringMatching(/^! GET \/api\/key -> 502: the server gave no response: /)),
  );
  expect(own.tally.summary()[0]).toBe('2 requests, 2 disagreements with the contract.');
});

test('413, and no disagreement, for a body that is too large to be forwarded', async () => {
  await using own = await startTestProxy(upstream.url);
  const received = await exchangeRaw(own.url, rawRequest(`POST ${LIST}`, [`Content-Length: ${65 * 1024 * 1024}`]));
  expect(parseRaw(received)).toMatchObject({ status: 413, message: expect.stringContaining('at most 64 MiB') });
  expect(own.lines).toEqual([expect.stringMatching(`^  POST ${LIST} -> 413: not forwarded`)]);
  expect(own.tally.summary()).toEqual(['0 requests, 0 disagreements with the contract.']);
});

test('a client that disconnects before the end of its body is no disagreement of the server', async () => {
  await using own = await startTestProxy(upstream.url);
  const socket = connect(Number(new URL(own.url).port), '127.0.0.1');
  socket.write(rawRequest(`POST ${LIST}`, ['Content-Length: 100', 'Expect: 100-continue'], '{'));
  // From now on, the proxy is reading the body.
  await once(socket, 'data');
  socket.destroy();
  await until('the line of the request', () => own.lines.length > 0);
  expect(own.lines).toEqual([`  POST ${LIST}: not forwarded, because the client disconnected`]);
  expect(own.tally.summary()).toEqual(['0 requests, 0 disagreements with the contract.']);
});
