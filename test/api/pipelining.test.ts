// Clients that send the next request before the previous response has arrived (RFC 9112 section 9.3.2).
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { exchangeRaw } from '../support/clients/raw.ts';
import { collectGarbage } from '../support/processes/garbage.ts';
import { listen } from '../support/servers/listen.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';
import { flood, keptRequest } from '../support/traffic/flood.ts';
import { until } from '../support/wait.ts';

const server = await useServer();

// If the refusal came first, a client would take it for the response to its first request.
test.each([
  ['', []],
  [', even if its Expect header is unknown', ['Expect: the-unexpected']],
])('a pending response precedes the refusal of pipelined garbage%s', async (_, headers) => {
  const { key } = await createTestOrganization(server);
  const whole = ['GET /api/key HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`, ...headers, '', ''].join('\r\n');
  const received = await exchangeRaw(server.url, `${whole}what is this\r\n\r\n`);
  expect([...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(['200', '400']);
});

// Attack: filling memory over one connection that always has a pending response.
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
    // After a FIN, the server would wait for a half-closed client.
    socket.resetAndDestroy();
    await listening.stop();
  }
});

// The attack: one connection with as much work as a thousand others.
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
  const listening = await listen((req, res) => {
    noteAhead();
    if (req.url === '/other') return void res.end('x');
    expect(req.url).toBe(`/${begun}`);
    flooded = req.socket;
    begun += 1;
    pending.push(res);
    mostPending = Math.max(mostPending, pending.length);
    // The latest first: the responses are still sent in order.
    if (isAnswering) setImmediate(() => pending.pop()?.end('x'));
  });
  const flooding = await flood(listening.url, { connections: 1, requests: total, text });
  try {
    await until('the first requests', () => begun === 4);
    // As many turns of the event loop as it takes to read everything.
    for (let i = 0; i < 500; i += 1) await exchangeRaw(listening.url, keptRequest('GET /other', ['Connection: close']));
    isAnswering = true;
    for (const res of pending.splice(0)) res.end('x');
    await until('all responses', () => flooding.statuses.get(200) === total);
    expect(mostPending).toBe(4);
    // Node reads at most 64 KiB at a time.
    expect(mostAheadBytes).toBeLessThan(1_000_000);
  } finally {
    await flooding.stop();
    await listening.stop();
  }
});

// The server learns of the close with the next response: it does not read the connection meanwhile.
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
  // A later connection: the reset of the first one has arrived by then, also on a busy machine.
  await exchangeRaw(listening.url, keptRequest('GET /', ['Connection: close']));
  for (const res of begun) res.end('x');
  await listening.stop();
  expect(begun.length).toBeLessThan(50);
});
