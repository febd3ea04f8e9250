import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { exchangeRaw, parseRaw, rawRequest } from '../support/clients/client.ts';
import { requireConformity } from '../support/contract/contract.ts';
import { untilWaiting } from '../support/postgres/postgres.ts';
import { collectGarbage } from '../support/processes/garbage.ts';
import { listen } from '../support/servers/listen.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';
import { flood, keptRequest } from '../support/traffic/flood.ts';
import { until } from '../support/wait.ts';

const logged: string[] = [];
const logger = pino({ level: 'trace', base: null }, { write: (line) => logged.push(line) });
const server = await useServer({ logger });
const ours = await createTestOrganization(server);

const LIST = '/api/parent_programs';

/** Sends raw HTTP and checks the response against the contract's list operation. */
async function send(line: string, headers: readonly string[] = [], body = '') {
  const text = rawRequest(line, [`Authorization: Bearer ${ours.key}`, ...headers], body);
  return parseRaw(await exchangeRaw(server.url, text));
}

function openSocket(): Socket {
  const { hostname, port } = new URL(server.url);
  return connect({ host: hostname, port: Number(port), noDelay: true });
}

function expectShown(response: Awaited<ReturnType<typeof send>>, { method = 'GET', url = LIST } = {}) {
  requireConformity({ method, url }, response);
}

test.each([
  ['a request line that is not HTTP', '\r\n\r\n\r\nxyz\r\n\r\n'],
  ['binary data', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc])],
  ['an unknown method', 'BREW /api/key HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a nonexistent HTTP version', 'GET /api/key HTTP/9.9\r\nHost: x\r\n\r\n'],
  ['a space in the request target', 'GET /api/key x HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a header without a colon', 'GET /api/key HTTP/1.1\r\nHost x\r\n\r\n'],
  [
    'two different Content-Length headers',
    'POST /api/parent_programs HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
  ],
  ['a negative Content-Length', 'POST /api/parent_programs HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n{}'],
  // The attack: request smuggling. A proxy obeys one of the two headers and the server the other.
  [
    'both Content-Length and Transfer-Encoding',
    'POST /api/key HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  // The attack: a proxy routes by one Host header and the server answers for the other (RFC 9112 section 3.2).
  ['two Host headers', 'GET /api/key HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'],
  ['no Host header in HTTP/1.1', 'GET /api/key HTTP/1.1\r\n\r\n'],
  ['a Host that is no host', 'GET /api/key HTTP/1.1\r\nHost: x/y@z\r\n\r\n'],
  ['HTTP/2.0 in the request line', 'GET /api/key HTTP/2.0\r\nHost: x\r\n\r\n'],
  ['HTTP/0.9 in the request line', 'GET /api/key HTTP/0.9\r\nHost: x\r\n\r\n'],
  ['headers above the size limit', `GET /api/key HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(5000)}\r\n`],
])('400 as the contract defines it, and a closed connection, for %s', async (_, text) => {
  const response = parseRaw(await exchangeRaw(server.url, text));
  expect(response.status).toBe(400);
  expectShown(response, { url: '/api/key' });
});

test.each([
  ['in UTF-8', Buffer.from(`GET ${LIST}?search=Zürich HTTP/1.1\r\nHost: x\r\n\r\n`)],
  ['in Latin-1', Buffer.from(`GET ${LIST}?search=Zürich HTTP/1.1\r\nHost: x\r\n\r\n`, 'latin1')],
  ['in the path', Buffer.from(`DELETE ${LIST}/by_external_id/Zürich HTTP/1.1\r\nHost: x\r\n\r\n`)],
  ['in an absolute URL', Buffer.from(`GET http://x${LIST}?search=Zürich HTTP/1.0\r\n\r\n`)],
  ['that is a space', `GET ${LIST}?search=New York HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['that is a tab', `GET ${LIST}?search=New\tYork HTTP/1.1\r\nHost: x\r\n\r\n`],
])('400 for a URL with an unencoded character %s says to encode it', async (_, text) => {
  const { status, message } = parseRaw(await exchangeRaw(server.url, text));
  expect([status, message]).toEqual([
    400,
    expect.stringMatching(/^The URL contains .* percent-encoded.* --data-urlencode\.$/),
  ]);
});

test.each([
  ['Cookie', 'the cookies, which this API does not use.'],
  ['X-Own', 'X-Own.'],
])('400 for 20 kB in the header %s names it', async (name, words) => {
  const response = await send(
    `GET ${LIST}`,
    Array.from({ length: 100 }, () => `${name}: ${'a=b; '.repeat(40)}`),
  );
  expect([response.status, response.message]).toEqual([400, expect.stringContaining(`bytes: ${words}`)]);
  expectShown(response);
});

test("414 for a request target that exceeds the parser's own limit", async () => {
  const text = `GET /api/key?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const response = parseRaw(await exchangeRaw(server.url, text));
  expect(response.status).toBe(414);
  expectShown(response, { url: '/api/key' });
});

// The bug: headers that arrived in a later packet than the URL got 414, as if the URL were too long.
test('400 for headers that are too large, even if they arrive in several packets', async () => {
  const socket = openSocket();
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.write(`GET /api/key HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(8000)}`);
  // When this response has arrived on another connection, the server has read the first packet.
  await exchangeRaw(server.url, rawRequest('GET /livez'));
  socket.write('x'.repeat(30_000));
  await ended;

  const response = parseRaw(text);
  expect(response.status).toBe(400);
  expect(response.message).toContain('larger than 16 KiB');
  expectShown(response, { url: '/api/key' });
});

// The attack: a client sends a valid request and garbage through a proxy that shares the connection between clients. If the 400
// is written first, the proxy takes it for the response to the valid request, although that request has been carried out.
test('a valid request gets its response before the 400 for the garbage that follows it', async () => {
  const body = JSON.stringify({ name: 'Pipelined' });
  const headers = [
    'Host: x',
    `Authorization: Bearer ${ours.key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  const good = ['POST /api/parent_programs HTTP/1.1', ...headers, '', body].join('\r\n');
  const odd = good.replace('Host: x', 'Host: x\r\nExpect: the-unexpected');
  const received = await exchangeRaw(server.url, `${good}${odd}garbage\r\n\r\n`);
  expect([...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(['201', '201', '400']);
  expectShown(parseRaw(received.slice(received.lastIndexOf('HTTP/1.1 400'))));
});

// The attack: request smuggling. A proxy that supports gzip as a transfer coding sees another body than the server.
test('501 for a transfer coding other than chunked, and nothing is created', async () => {
  const name = 'Compressed transfer';
  const chunk = JSON.stringify({ name });
  const response = await send(
    `POST ${LIST}`,
    ['Content-Type: application/json', 'Transfer-Encoding: gzip, chunked'],
    `${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`,
  );
  expect(response.status).toBe(501);
  expectShown(response, { method: 'POST' });
  expect(await ours.client.get(`${LIST}?search=${encodeURIComponent(name)}`)).toMatchObject({ body: { data: [] } });
});

test('405 for CONNECT', async () => {
  const response = parseRaw(await exchangeRaw(server.url, 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n'));
  expect(response.status).toBe(405);
  expectShown(response);
});

test('200 for HTTP/1.0 without Host', async () => {
  const text = `GET ${LIST} HTTP/1.0\r\nAuthorization: Bearer ${ours.key}\r\n\r\n`;
  const response = parseRaw(await exchangeRaw(server.url, text));
  expect(response.status).toBe(200);
  expectShown(response);
});

const JSON_BODY = ['Content-Type: application/json', 'Content-Length: 12'];

test('a request with Expect: 100-continue gets 100 Continue', async () => {
  const headers = [`Authorization: Bearer ${ours.key}`, ...JSON_BODY, 'Expect: 100-continue'];
  const received = await exchangeRaw(server.url, rawRequest(`POST ${LIST}`, headers, '{"name":"x"}'));
  expect(received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  expectShown(parseRaw(received), { method: 'POST' });
});

test('the server ignores an unknown Expect header', async () => {
  const response = await send(`POST ${LIST}`, [...JSON_BODY, 'Expect: the-unexpected'], '{"name":"x"}');
  expect(response.status).toBe(201);
  expectShown(response, { method: 'POST' });
});

test('the server declines an Upgrade request', async () => {
  const text = rawRequest(`GET ${LIST}`, [`Authorization: Bearer ${ours.key}`]).replace(
    'Connection: close',
    'Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13',
  );
  expect(parseRaw(await exchangeRaw(server.url, text)).status).toBe(200);
});

// The attack: clients disconnect, so that the server leaks database connections or memory.
test('the server stays healthy after fifty clients disconnect in the middle of a body', async () => {
  const text = rawRequest(
    `POST ${LIST}`,
    [`Authorization: Bearer ${ours.key}`, 'Content-Type: application/json', 'Content-Length: 5000'],
    '{"name":"Half',
  );
  const vanish = () =>
    new Promise<void>((resolve) => {
      const socket = openSocket();
      socket.write(text, () => socket.destroy());
      socket.on('close', () => resolve());
    });
  await Promise.all(Array.from({ length: 50 }, vanish));
  const response = await ours.client.get(`${LIST}?search=half`);
  expect(response).toMatchObject({ status: 200, body: { data: [] } });
  await until('no statement to wait for a connection', () => server.db.pool.waitingCount === 0);
});

// The bug: the disconnection was logged as an error of the server, with a stack trace.
test('a client that disconnects in the middle of a body, while its key is looked up, is no error', async () => {
  const { key } = await createTestOrganization(server);
  const before = logged.length;
  const headers = [`Authorization: Bearer ${key}`, 'Content-Type: application/json', 'Content-Length: 5000'];
  const socket = openSocket();
  const blocker = await server.db.pool.connect();
  try {
    await blocker.query('begin');
    await blocker.query('lock table api_keys');
    socket.write(rawRequest(`POST ${LIST}`, headers, '{"name":"Half'));
    await untilWaiting(server.db.pool, 1);
    socket.destroy();
    // When this response has arrived, the server knows that the first connection is closed.
    await exchangeRaw(server.url, rawRequest('GET /livez'));
  } finally {
    await blocker.query('rollback');
    blocker.release();
  }
  // When this request's key has been looked up, so has the key of the first request.
  const { client } = await createTestOrganization(server);
  expect((await client.get('/api/key')).status).toBe(200);
  const lines = logged.slice(before).map((line) => JSON.parse(line));
  expect(lines).toContainEqual(expect.objectContaining({ method: 'POST', path: LIST, aborted: true }));
  expect(lines.filter(({ level }) => level >= 50)).toEqual([]);
});

test.each([
  ['the body', 'body', ['Content-Type: application/json', 'Content-Length: 100'], '{"name": "Nor'],
  ['a chunked body', 'body', ['Content-Type: application/json', 'Transfer-Encoding: chunked'], '64\r\n{"name": "Nor'],
  ['the headers', 'headers', undefined, ''],
])(
  '400 that names what is incomplete, for a client that stops sending in the middle of %s',
  async (_, part, headers, body) => {
    const own = [`Authorization: Bearer ${ours.key}`, ...(headers ?? [])];
    const whole = rawRequest(`POST ${LIST}`, own, body);
    const text = headers === undefined ? whole.slice(0, -10) : whole;
    const response = parseRaw(await exchangeRaw(server.url, text, { endAfterSending: true }));
    expectShown(response, { method: 'POST' });
    expect(response.status).toBe(400);
    expect(response.message).toMatch(new RegExp(`^The ${part} (is|are) incomplete: the client stopped sending before`));
  },
);

test('the connection serves the next request after a refused body', async () => {
  const key = `Authorization: Bearer ${ours.key}`;
  const big = `POST ${LIST} HTTP/1.1\r\nHost: x\r\n${key}\r\nContent-Type: application/json\r\nContent-Length: 110000\r\n\r\n${'x'.repeat(110_000)}`;
  const received = await exchangeRaw(server.url, big + rawRequest('GET /api/key', [key]));
  expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['413', '200']);
});

// Pipelining: clients send the next request before the previous response has arrived (RFC 9112 section 9.3.2).

// The attack: filling the memory over one connection that always has a pending response.
test('the server frees a sent response even if the next request arrived before it', async () => {
  const responses: WeakRef<ServerResponse>[] = [];
  let awaited: ServerResponse | undefined;
  const listening = await listen((_, res) => {
    awaited?.end('x');
    awaited = res;
    responses.push(new WeakRef(res));
  });
  const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  const socket = connect(Number(new URL(listening.url).port), '127.0.0.1', () => socket.write(request.repeat(2)));
  socket.on('data', () => responses.length < 100 && socket.write(request));
  try {
    await until('a hundred requests', () => responses.length === 100);
    await until('the responses to be freed', async () => {
      await collectGarbage();
      return responses.filter((response) => response.deref() !== undefined).length < 10;
    });
  } finally {
    // If the client only sent a FIN, the server would keep the half-closed connection open.
    socket.resetAndDestroy();
    await listening.stop();
  }
});

// The attack: one connection causes as much work as a thousand connections.
test('four requests of a connection are processed at the same time, in order, and it is not read meanwhile', async () => {
  const total = 2000;
  const requestBytes = 10_000;
  const text = (number: number) => {
    const start = `GET /${number} HTTP/1.1\r\nHost: x\r\nPadding: `;
    return `${start.padEnd(requestBytes - 4, 'x')}\r\n\r\n`;
  };
  const pending: ServerResponse[] = [];
  let begun = 0;
  let mostPending = 0;
  let mostAheadBytes = 0;
  let isAnswering = false;
  let flooded: Socket | undefined;
  const noteAhead = () => {
    mostAheadBytes = Math.max(mostAheadBytes, (flooded?.bytesRead ?? 0) - begun * requestBytes);
  };
  await using listening = await listen((req, res) => {
    noteAhead();
    if (req.url === '/other') return void res.end('x');
    expect(req.url).toBe(`/${begun}`);
    flooded = req.socket;
    begun += 1;
    pending.push(res);
    mostPending = Math.max(mostPending, pending.length);
    // Responds to the latest request first. The server must nevertheless send the responses in order.
    if (isAnswering) setImmediate(() => pending.pop()?.end('x'));
  });
  await using flooding = await flood(listening.url, { connections: 1, requests: total, text });
  await until('the first requests', () => begun === 4);
  // While these requests run, the server has time to read as much from the flooding connection as it is willing to read.
  for (let i = 0; i < 500; i += 1) await exchangeRaw(listening.url, keptRequest('GET /other', ['Connection: close']));
  isAnswering = true;
  for (const res of pending.splice(0)) res.end('x');
  await until('all responses', () => flooding.statuses.get(200) === total);
  expect(mostPending).toBe(4);
  // The limit allows for reads that are under way: Node reads at most 64 KiB at a time.
  expect(mostAheadBytes).toBeLessThan(1_000_000);
});

// The server notices the close only when it sends the next response, because until then it does not read the connection.
test('the waiting requests of a closed connection are not processed', async () => {
  const begun: ServerResponse[] = [];
  let isAnswering = false;
  const listening = await listen((_, res) => {
    begun.push(res);
    if (isAnswering) setImmediate(() => res.end('x'));
  });
  const flooding = await flood(listening.url, { connections: 1, requests: 200, text: () => keptRequest('GET /') });
  await until('the first requests', () => begun.length === 4);
  await flooding.stop();
  isAnswering = true;
  // When this response arrives, the reset of the first connection has also arrived, even on a busy machine.
  await exchangeRaw(listening.url, keptRequest('GET /', ['Connection: close']));
  for (const res of begun) res.end('x');
  await listening.stop();
  expect(begun.length).toBeLessThan(50);
});
