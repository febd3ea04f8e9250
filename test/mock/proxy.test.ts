// A server that is not ours, in every way in which it can disagree with the contract.
import { formatKey } from '../../src/domain/api-key.ts';
import { type Watched, watch } from '../support/proxy.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const LIST = '/api/parent_programs';
const ID = '019c2291-34b8-752e-bca9-6513269e0d37';
const KEY = formatKey('live', 'x'.repeat(40));
const HEADERS = {
  'X-Request-Id': '019de2fc-03da-7f1e-9c55-2f6de0b7a914',
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
};
const BODY = {
  ...{ id: ID, name: 'Nightly sync', permissions: [], expires_at: null },
  organization: { id: ID, name: 'Aurora' },
};

type Answer = { status?: number; headers?: Record<string, string>; body?: unknown };
type Asked = { method?: string; url?: string; headers?: Record<string, string>; body?: unknown };

let answer: Answer;
let upstream: Upstream;
let proxy: Watched;
beforeAll(async () => {
  upstream = await startUpstream((_, res) => {
    res.writeHead(answer.status ?? 200, { ...HEADERS, ...answer.headers });
    res.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? BODY));
  });
  proxy = await watch(upstream.url);
});
afterAll(async () => {
  await proxy.close();
  await upstream.close();
});
beforeEach(() => {
  answer = {};
});

/** What is printed of one request against the contract, where it is answered so. */
async function disagreements(given: Answer, { method = 'GET', url = '/api/key', headers, body }: Asked = {}) {
  answer = given;
  proxy.lines.length = 0;
  const before = proxy.tally.disagreements;
  const passed = await fetch(`${proxy.url}${url}`, {
    method,
    headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // Never does the proxy answer in the server's place.
  expect(passed.status).toBe(given.status ?? 200);
  const marked = proxy.lines.filter((line) => line.startsWith('! '));
  expect(proxy.tally.disagreements - before).toBe(marked.length);
  return marked.map((line) => line.replace(/^! .+? -> \d+: /, ''));
}

test('an answer that the contract shows is none', async () => {
  expect(await disagreements({})).toEqual([]);
  expect(proxy.lines).toEqual(['  GET /api/key -> 200']);
});

test.each<[string, Answer, RegExp]>([
  // Prism's proxy would answer this one from the contract, and nobody would know.
  ['501', { status: 501, body: { message: 'Not yet.' } }, /^the contract does not show the status 501\.$/],
  ['another success', { status: 202 }, /^the contract does not show the status 202\.$/],
  ['an empty header', { headers: { 'X-Request-Id': '' } }, /^the header x-request-id must NOT have fewer/],
  ['a header that is not shown', { headers: { 'X-Secret': 'x' } }, /does not show the header x-secret\.$/],
  ['a header of another value', { headers: { 'Cache-Control': 'public' } }, /^the header cache-control must be equal/],
  ['another content type', { headers: { 'Content-Type': 'text/html' } }, /^the content type is text\/html, not app/],
  ['no JSON', { body: '<html>' }, /^the body is not readable JSON\.$/],
  ['a field too many', { body: { ...BODY, secret: 'x' } }, /^the body .*additional properties \(secret\)\.$/],
  ['a field of another type', { body: { ...BODY, name: 5 } }, /^the body \/name must be string\.$/],
  ['a field too few', { body: { ...BODY, name: undefined } }, /^the body must have required property 'name'\.$/],
])('%s is told in one line', async (_, given, line) => {
  expect(await disagreements(given)).toEqual([expect.stringMatching(line)]);
});

test('a missing header is told', async () => {
  const given = { status: 503, body: { message: 'Later.' } };
  expect(await disagreements(given)).toEqual(['the header Retry-After is missing.']);
});

test('each disagreement has its line, and no value of a header that is not shown is printed', async () => {
  const given = { headers: { 'Set-Cookie': 'session=secret', 'Cache-Control': 'public' }, body: { id: 5 } };
  const told = await disagreements(given);
  expect(told).toHaveLength(3);
  expect(told.join('\n')).not.toContain('secret');
});

test('a path that the contract does not have', async () => {
  expect(await disagreements({}, { url: '/api/nothing' })).toEqual(['the contract does not show this path.']);
});

test.each<[string, Asked, number]>([
  ['an unknown parameter', { url: '/api/key?verbose=1' }, 422],
  ['what is no key', { headers: { Authorization: 'Bearer x' } }, 401],
  ['what the answer cannot be', { headers: { Accept: 'text/html' } }, 406],
  ['a percent-encoding that is none', { url: '/api/key?a=%ff' }, 400],
])('a request with %s that the server accepts', async (_, asked, status) => {
  expect(await disagreements({}, asked)).toEqual([
    expect.stringMatching(`^the contract forbids this request \\(${status}: .+\\), but the server accepts it\\.$`),
  ]);
});

test('a body that the contract forbids and the server accepts', async () => {
  const program = {
    ...{ id: ID, name: 'x', description: null, external_id: null, metadata: {} },
    ...{ created_at: '2026-02-03T08:14:27.512Z', updated_at: '2026-02-03T08:14:27.512Z' },
  };
  const given = { status: 201, headers: { ETag: '"x"', Location: `${LIST}/${ID}` }, body: program };
  const asked = { method: 'POST', url: LIST, body: { name: 'x', colour: 'green' } };
  expect(await disagreements(given, asked)).toEqual([
    expect.stringMatching(/^the contract forbids this request \(422: colour is not a field/),
  ]);
  expect(await disagreements(given, { ...asked, body: { name: 'x' } })).toEqual([]);
});

test('a request that the contract allows and the server refuses for its form', async () => {
  const given = { status: 405, headers: { Allow: 'GET' }, body: { message: 'No.' } };
  expect(await disagreements(given)).toEqual(['the contract allows this request, but the server refuses it with 405.']);
});

test('a request that is refused for another reason than the contract has', async () => {
  const given = { status: 422, body: { message: 'No.', errors: { a: ['No.'] } } };
  expect(await disagreements(given, { headers: { Accept: 'text/html' } })).toEqual([
    expect.stringMatching(/^the contract forbids this request \(406: .+\), but the server responds with 422\.$/),
  ]);
});

test('what only the server can know is no disagreement', async () => {
  const challenge = { 'WWW-Authenticate': 'Bearer realm="charter", error="invalid_token"' };
  expect(await disagreements({ status: 401, headers: challenge, body: { message: 'Revoked.' } })).toEqual([]);
  expect(await disagreements({ status: 500, body: { message: 'A bug.' } })).toEqual([]);
});

test('keys of either environment are left to the server', async () => {
  const headers = { Authorization: `Bearer ${formatKey('test', 'x'.repeat(40))}` };
  expect(await disagreements({}, { headers })).toEqual([]);
});

test('no line holds a key, or a control character', async () => {
  await disagreements({}, { url: `/api/key?key=${KEY}` });
  expect(proxy.lines.join('\n')).not.toContain(KEY);
  await disagreements({ body: { ...BODY, '\u001b[31m': 'x' } });
  expect(proxy.lines.join('')).not.toContain('\u001b');
});

test('alike disagreements are counted together, the most frequent first', async () => {
  const own = await watch(upstream.url);
  answer = { headers: { 'X-New': 'x' } };
  const get = (url: string) => fetch(`${own.url}${url}`, { headers: { Authorization: `Bearer ${KEY}` } });
  for (let i = 0; i < 3; i += 1) await get('/api/key');
  await get('/api/nothing');
  expect(own.tally.summary()).toEqual([
    '4 requests, 4 disagreements with the contract.',
    '     3  getKey 200: the contract does not show the header x-new.',
    '     1  /api/nothing 200: the contract does not show this path.',
  ]);
  await own.close();
});

test('a server that breaks off, or is not there, is told of, and the proxy lives', async () => {
  const broken = await startUpstream((_, res) => res.socket?.destroy());
  const own = await watch(broken.url);
  const get = () => fetch(`${own.url}/api/key`, { headers: { Authorization: `Bearer ${KEY}` } });
  expect((await get()).status).toBe(502);
  await broken.close();
  expect((await get()).status).toBe(502);
  expect(own.lines).toEqual(
    Array(2).fill(expect.stringMatching(/^! GET \/api\/key -> 502: the server gave no response: /)),
  );
  expect(own.tally.summary()[0]).toBe('2 requests, 2 disagreements with the contract.');
  await own.close();
});
