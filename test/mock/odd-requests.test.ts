// The mock responds to every input without crashing, and to HTTP as the contract says. What a client library can send is compared
// with the server in test/contract/parity.test.ts.
import { once } from 'node:events';
import { connect } from 'node:net';
import { mock as mocked } from 'node:test';
import { exchangeRaw, parseRaw, rawRequest } from '../support/clients/client.ts';
import { startTestMock, useMock } from '../support/servers/mock.ts';

const faults: string[] = [];
const mock = await useMock({ print: (line) => line.startsWith('The mock itself failed') && faults.push(line) });
afterEach(async () => {
  expect((await mock.client.get('/api/key')).status).toBe(200);
  expect(faults.splice(0)).toEqual([]);
});

const LIST = '/api/parent_programs';
const auth = () => `Authorization: Bearer ${mock.key}`;

test.each([
  ['a request line that is not HTTP', '\r\n\r\n\r\nxyz\r\n\r\n', 400],
  ['binary data', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc]), 400],
  ['a space in the request target', 'GET /api/key x HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ['a header without a colon', 'GET /api/key HTTP/1.1\r\nHost x\r\n\r\n', 400],
  ['a NUL in a header', 'GET /api/key HTTP/1.1\r\nHost: x\r\nPrefer: \0\r\n\r\n', 400],
  ['headers above the size limit', `GET /api/key HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(5000)}\r\n`, 400],
  ['one huge header', `GET /api/key HTTP/1.1\r\nHost: x\r\nPrefer: ${'x'.repeat(20_000)}\r\n\r\n`, 400],
  ['a request target above the size limit', `GET /api/key?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414],
  [
    'two Content-Length headers',
    'POST /api/key HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
    400,
  ],
  [
    'a length and chunks',
    'POST /api/key HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['HTTP/0.9, without a version', 'GET /api/key\r\n\r\n', 400],
])('%s', async (_, text, status) => {
  expect(parseRaw(await exchangeRaw(mock.url, text)).status).toBe(status);
});

test.each([
  ['GET /__proto__', 404],
  ['GET /api/%5f%5fproto%5f%5f', 404],
  ['GET /api/parent_programs?limit[__proto__]=1', 422],
  ['GET http://elsewhere.example/api/key', 200],
  ['GET http://[::1/x', 404],
  ['GET //api/key', 404],
  ['GET /api/parent_programs?#fragment', 422],
  ['OPTIONS *', 404],
])('%s: %p', async (line, status) => {
  expect(parseRaw(await exchangeRaw(mock.url, rawRequest(line, [auth()]))).status).toBe(status);
});

test.each([
  ['Authorization with non-ASCII bytes', [() => 'Authorization: Bearer \xff\xfe'], 401],
  ['Prefer with non-ASCII bytes', [auth, () => 'Prefer: code=\xff, example="__proto__'], 422],
  ['a Prefer header without a preference', [auth, () => 'Prefer: ,;=,=;"'], 200],
  ['Prefer with the names of built-in properties', [auth, () => 'Prefer: code=__proto__, example=constructor'], 422],
  ['an invalid Accept', [auth, () => 'Accept: ;;;'], 406],
  ['a second Host', [auth, () => 'Host:'], 400],
  ['Origin with non-ASCII bytes', [auth, () => 'Origin: \xff'], 200],
])('%s: %p', async (_, headers, status) => {
  const text = rawRequest(
    `GET ${LIST}`,
    headers.map((header) => header()),
  );
  expect(parseRaw(await exchangeRaw(mock.url, Buffer.from(text, 'latin1'))).status).toBe(status);
});

test.each([
  ['fewer bytes than its Content-Length', ['Content-Length: 500'], '{"name":', 400],
  ['chunks without a valid size', ['Transfer-Encoding: chunked'], 'zz\r\n{}\r\n', 400],
  ['a truncated chunk', ['Transfer-Encoding: chunked'], '5\r\n{"', 400],
  ['chunks above the size limit', ['Transfer-Encoding: chunked'], `1a000\r\n${' '.repeat(0x1a000)}\r\n0\r\n\r\n`, 413],
  ['an unknown transfer coding', ['Transfer-Encoding: what'], '{}', 501],
  ['unterminated nested arrays', [`Content-Length: 20000`], '['.repeat(20_000), 400],
])('a body of %s: %p', async (_, headers, body, status) => {
  const head = rawRequest(`POST ${LIST}`, [auth(), 'Content-Type: application/json', ...headers]);
  const received = await exchangeRaw(mock.url, Buffer.from(head + body, 'latin1'), { endAfterSending: true });
  expect(parseRaw(received).status).toBe(status);
});

test('the mock handles a preflight with non-ASCII bytes', async () => {
  const headers = ['Origin: x', 'Access-Control-Request-Method: \xff', 'Access-Control-Request-Headers: \xfe, a\tb'];
  const text = Buffer.from(rawRequest(`OPTIONS ${LIST}`, headers), 'latin1');
  expect(parseRaw(await exchangeRaw(mock.url, text)).status).toBe(204);
});

test('the mock survives a thousand requests of random bytes', async () => {
  const random = () => Buffer.from(crypto.getRandomValues(new Uint8Array(200)));
  const head = Buffer.from(`POST ${LIST} HTTP/1.1\r\nHost: x\r\n${auth()}\r\nPrefer: `, 'latin1');
  for (let i = 0; i < 100; i += 1) {
    const texts = Array.from({ length: 10 }, (_, j) =>
      j % 2 === 0 ? random() : Buffer.concat([head, random(), Buffer.from('\r\n\r\n')]),
    );
    await Promise.all(texts.map((text) => exchangeRaw(mock.url, text, { endAfterSending: true }).catch(() => '')));
  }
});

test('it closes at once, whatever its clients do', async () => {
  const ours = await startTestMock();
  const open = async (text: string, answered = true) => {
    const socket = connect(Number(new URL(ours.url).port), '127.0.0.1');
    const closed = once(socket, 'close');
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(text);
    if (answered) await once(socket, 'data');
    socket.resume();
    return { closed };
  };
  const get = (path: string, ...headers: string[]) =>
    rawRequest(`GET ${path}`, [`Authorization: Bearer ${ours.key}`, ...headers]);
  const sockets = [
    await open('', false),
    await open(get('/api/key')),
    await open(get('/api/key', 'Prefer: delay=30000'), false),
    await open(get('/api/key').slice(0, 20), false),
    await open(`${get('/api/key')}${get('/api/key').slice(0, 20)}`),
    await open(rawRequest(`POST ${LIST}`, [`Authorization: Bearer ${ours.key}`, 'Content-Length: 9']), false),
    await open(`CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`),
  ];
  // Closing the mock needs no timer. With fake timers, a graceful shutdown would wait for ever.
  mocked.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  try {
    await ours.close();
  } finally {
    mocked.timers.reset();
  }
  await Promise.all(sockets.map(({ closed }) => closed));
});
