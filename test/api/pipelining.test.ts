// Clients that send the next request before the previous response has arrived (RFC 9112 section 9.3.2).
import { type ServerResponse, STATUS_CODES } from 'node:http';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { listen } from '../../src/server.ts';
import { exchangeRaw } from '../support/raw.ts';
import { createTestOrganization, useServer } from '../support/server.ts';
import { until } from '../support/wait.ts';

const server = await useServer();

// A client that sent both would take the refusal of the second request for the response to the first.
test.each([
  ['', []],
  [', even if its Expect header is unknown', ['Expect: the-unexpected']],
])('no response to pipelined garbage while the previous response is pending%s', async (_, headers) => {
  const { key } = await createTestOrganization(server);
  const whole = ['GET /api/key HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`, ...headers, '', ''].join('\r\n');
  expect(await exchangeRaw(server.url, `${whole}what is this\r\n\r\n`)).not.toContain(STATUS_CODES[400]);
});

// Attack: filling memory over one connection that always has a pending response.
test('the server frees a sent response even if the next request arrived before it', async () => {
  const responses: WeakRef<ServerResponse>[] = [];
  let awaited: ServerResponse | undefined;
  const listening = await listen(
    (_, res) => {
      awaited?.end('x');
      awaited = res;
      responses.push(new WeakRef(res));
    },
    { host: '127.0.0.1', port: 0 },
  );
  const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  const socket = connect(Number(new URL(listening.url).port), '127.0.0.1', () => socket.write(request.repeat(2)));
  socket.on('data', () => responses.length < 100 && socket.write(request));
  try {
    await until('a hundred requests', () => responses.length === 100);
    await until('the responses to be freed', () => {
      collectGarbage();
      return responses.filter((response) => response.deref() !== undefined).length < 10;
    });
  } finally {
    socket.destroy();
    await listening.stop();
  }
});

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
