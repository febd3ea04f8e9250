import { once } from 'node:events';
import { type ClientRequest, createServer, Agent as HttpAgent } from 'node:http';
import { createServer as createTlsServer, Agent as HttpsAgent } from 'node:https';
import { isIP, Socket, type TcpNetConnectOpts } from 'node:net';
import { type Agents, createSender, type Reply, type Sender, type SenderOptions } from '../../src/delivery/sender.ts';
import { listenLocally } from '../support/servers/port.ts';
import {
  hangsUp,
  respondsWith,
  stallsMidway,
  staysSilent,
  useScriptedServer,
} from '../support/servers/scripted-server.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../support/servers/self-signed.ts';
import { until } from '../support/wait.ts';

const receiver = await useScriptedServer();
const LOCAL = { allowHttp: true, allowedNetworks: ['127.0.0.1'] };

const opened: Sender[] = [];
afterAll(() => {
  for (const sender of opened) sender.close();
});

function senderWith(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({ targets: LOCAL, ...options });
  opened.push(sender);
  return sender;
}

/** Returns agents that count the requested connections and open none, so that nothing is sent even if a check fails. */
function countingAgents(): Agents & { readonly connections: string[] } {
  const connections: string[] = [];
  const createConnection = ({ host = '', lookup }: TcpNetConnectOpts) => {
    const socket = new Socket();
    if (isIP(host) !== 0 || lookup === undefined) {
      connections.push(host);
      process.nextTick(() => socket.destroy(new Error('not connected')));
    } else {
      lookup(host, { all: true }, (error, addresses) => {
        if (error === null) connections.push(...[addresses].flat().map((each) => JSON.stringify(each)));
        socket.destroy(error ?? new Error('not connected'));
      });
    }
    return socket;
  };
  return {
    connections,
    http: Object.assign(new HttpAgent(), { createConnection }),
    https: Object.assign(new HttpsAgent(), { createConnection }),
  };
}

const message = (url: string) => ({ url, headers: { 'webhook-id': 'msg_1' }, body: '{"type":"test"}' });

async function post(sender: Sender, url: string): Promise<Reply> {
  const reply = await sender.send(message(url));
  if (reply === null) throw new Error('It was abandoned.');
  return reply;
}

const FORBIDDEN = 'Charter must not connect to the address of this host.';

// The attack: a URL that leads to a service behind the firewall, in every notation that a URL parser or a resolver knows.
const SPELLINGS = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '0177.0x0.1',
  '127.0.0.1.',
  '１２７.０.０.１',
  '127。0。0。1',
  '0',
  '0.0.0.0',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[fe80::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '10.0.0.1',
  '192.168.0.1',
  '172.16.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '224.0.0.1',
  '255.255.255.255',
];

test.each(SPELLINGS)('https://%s and http://%s are refused without a connection', async (host) => {
  for (const scheme of ['https', 'http']) {
    const agents = countingAgents();
    const sender = senderWith({ targets: { allowHttp: true, allowedNetworks: [] }, agents });
    const reply = await post(sender, `${scheme}://${host}/hook`);
    expect({ reply, connections: agents.connections }).toEqual({
      reply: { status: null, error: FORBIDDEN, body: Buffer.alloc(0) },
      connections: [],
    });
  }
});

test.each([
  ['10.0.0.1'],
  ['127.0.0.1'],
  ['169.254.169.254'],
  ['::1'],
  ['::ffff:127.0.0.1'],
  ['fd00::1'],
  ['64:ff9b::a00:1'],
  ['fe80::1%eth0'],
])('a name that resolves to %s is refused without a connection', async (address) => {
  const agents = countingAgents();
  const resolve = async () => [address];
  const sender = senderWith({ targets: { allowHttp: false, allowedNetworks: [] }, agents, resolve });
  expect((await post(sender, 'https://hook.example/')).error).toBe(FORBIDDEN);
  expect(agents.connections).toEqual([]);
});

test('of the addresses of a name, only those that are not forbidden are tried', async () => {
  const agents = countingAgents();
  const resolve = async () => ['10.0.0.1', '93.184.215.14', '::1', '2606:2800::1'];
  await post(senderWith({ agents, resolve }), 'https://hook.example/');
  expect(agents.connections).toEqual([
    JSON.stringify({ address: '93.184.215.14', family: 4 }),
    JSON.stringify({ address: '2606:2800::1', family: 6 }),
  ]);
});

// The attack: DNS rebinding. 127.0.0.1 stands for a public address, and 127.0.0.2 for a private one with a service on the same
// port.
test('a name that resolves to an allowed address first and to a forbidden one later gets no second connection', async () => {
  const inner = createServer(() => {});
  let connections = 0;
  inner.on('connection', (socket) => {
    connections += 1;
    socket.destroy();
  });
  const { port } = new URL(receiver.url);
  inner.listen(Number(port), '127.0.0.2');
  await once(inner, 'listening');
  const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.2']];
  const sender = senderWith({ resolve: async () => answers.shift() ?? [] });
  receiver.play(respondsWith(200, { Connection: 'close' }));
  const url = `http://rebound.example:${port}/`;
  expect((await post(sender, url)).status).toBe(200);
  for (let i = 0; i < 2; i += 1) expect((await post(sender, url)).error).toBe(FORBIDDEN);
  inner.close();
  expect({ connections, left: answers }).toEqual({ connections: 0, left: [] });
});

test('http:// is refused unless the operator allows it', async () => {
  const agents = countingAgents();
  const sender = senderWith({ targets: { allowHttp: false, allowedNetworks: ['127.0.0.1'] }, agents });
  const { error } = await post(sender, 'http://127.0.0.1/');
  expect(error).toBe('Charter must not send webhooks to http://, only to https://.');
  expect(agents.connections).toEqual([]);
});

test('a redirect is not followed', async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.play(respondsWith(status, { Location: `${receiver.url}/elsewhere` }));
    const reply = await post(senderWith(), receiver.url);
    expect(reply.status).toBe(status);
    expect(receiver.received.map(({ url }) => url)).toEqual(['/']);
  }
});

// The attack: a response body that fills the memory or the disk.
test('the body of a response is read to 1 KiB, and the connection is closed then', async () => {
  let isClosed = false;
  receiver.play((res) => {
    res.once('close', () => (isClosed = true));
    // The response never ends.
    res.write('x'.repeat(10_000));
  });
  let reply: Reply | undefined;
  const posted = post(senderWith({ timeoutSeconds: 600 }), receiver.url).then((received) => (reply = received));
  await until('the response to be cut', () => reply);
  const { status, body } = await posted;
  expect({ status, bytes: body.length }).toEqual({ status: 200, bytes: 1024 });
  // The buffer does not hold the rest of the response.
  expect(body.buffer.byteLength).toBe(1024);
  await until('the connection to be closed', () => isClosed);
});

test('a status counts, even if the body is cut or never ends', async () => {
  receiver.play(stallsMidway);
  let timeoutSeconds = 0.1;
  // On a busy machine, the status may arrive too late. The test then tries again with a longer time limit.
  const cut = await until('a status in time', async () => {
    timeoutSeconds *= 2;
    const reply = await post(senderWith({ timeoutSeconds }), receiver.url);
    return reply.status !== null && reply;
  });
  expect(cut).toEqual({ status: 200, error: '', body: Buffer.from('{"data":') });
  receiver.play((res) => {
    res.writeHead(201, { 'Content-Length': '10' });
    res.write('half', () => res.socket?.destroy());
  });
  const sender = senderWith({ timeoutSeconds: 600 });
  expect(await post(sender, receiver.url)).toEqual({ status: 201, error: '', body: Buffer.from('half') });
});

test('the words for each way to get no response', async () => {
  const sender = senderWith({ timeoutSeconds: 600, resolve: () => Promise.reject(codeError('ENOTFOUND')) });
  receiver.play(staysSilent);
  const errors = [
    (await post(senderWith({ timeoutSeconds: 0.2 }), receiver.url)).error,
    // Nothing listens on this port.
    (await post(sender, 'http://127.0.0.1:1')).error,
    (await post(sender, 'http://nowhere.example')).error,
    (await post(sender, receiver.url.replace('http:', 'https:'))).error,
  ];
  receiver.play(hangsUp);
  errors.push((await post(sender, receiver.url)).error);
  expect(errors).toEqual([
    'No response within 0.2 seconds.',
    'The host refused the connection.',
    'The host has no address in DNS.',
    'The host does not accept TLS connections.',
    'The connection was closed before the response.',
  ]);
});

// A connection to a host with several addresses fails with an AggregateError, whose message is empty. The table in the database
// refuses an empty reason.
test.each([
  [{ code: 'EACCES', message: '' }, 'The connection failed (EACCES).'],
  [
    { code: 'EMFILE', message: 'connect EMFILE 10.0.0.1:443 - Local (undefined:undefined)' },
    'The connection failed (EMFILE).',
  ],
  [
    {
      code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME',
      message: '00C1B3F5227F0000:error:0A000458:SSL routines:ssl3_read_bytes',
    },
    'The TLS handshake failed (ERR_SSL_TLSV1_UNRECOGNIZED_NAME).',
  ],
  [
    { code: 'ECONNREFUSED', syscall: 'queryA', message: 'queryA ECONNREFUSED hook.example' },
    'DNS failed to look up the host.',
  ],
  [
    { code: 'EREFUSED', syscall: 'queryAaaa', message: 'queryAaaa EREFUSED hook.example' },
    'DNS failed to look up the host.',
  ],
  [
    { code: 'ENOTFOUND', syscall: 'queryA', message: 'queryA ENOTFOUND hook.example' },
    'The host has no address in DNS.',
  ],
  [{ message: '' }, 'The connection failed.'],
])('the words for the error %j hold no address', async ({ message, ...code }, words) => {
  const resolve = () => Promise.reject(Object.assign(new Error(message), code));
  expect((await post(senderWith({ resolve }), 'https://hook.example')).error).toBe(words);
});

test.each([
  ['HTTP/1.1 999 Strange\r\nContent-Length: 0\r\n\r\n', 'The status 999 of the response does not exist.'],
  ['SSH-2.0-OpenSSH_9.6\r\n', 'Parse Error: Expected HTTP/'],
])('a response that begins with %j is a failure', async (text, error) => {
  receiver.play((res) => void res.socket?.end(text));
  const reply = await post(senderWith(), receiver.url);
  expect(reply.status).toBeNull();
  expect(reply.error).toContain(error);
});

test('connections are used again, and one that the receiver has just closed costs no attempt', async () => {
  const sockets = new Set<unknown>();
  const sender = senderWith();
  receiver.play((res) => {
    sockets.add(res.socket);
    res.end('fine');
  });
  for (let i = 0; i < 3; i += 1) expect((await post(sender, receiver.url)).status).toBe(200);
  expect(sockets.size).toBe(1);
  let count = 0;
  receiver.play((res) => {
    count += 1;
    if (count === 1) res.socket?.resetAndDestroy();
    else res.end('fine');
  });
  expect((await post(sender, receiver.url)).status).toBe(200);
  expect(count).toBe(2);
});

test('a request that could not be written to a connection that the receiver has closed costs no attempt', async () => {
  let reused = 0;
  class ClosedAgent extends HttpAgent {
    override reuseSocket(socket: Socket, request: ClientRequest): void {
      super.reuseSocket(socket, request);
      reused += 1;
      setImmediate(() => socket.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })));
    }
  }
  const agents = { http: new ClosedAgent({ keepAlive: true }), https: new HttpsAgent() };
  const sender = senderWith({ agents });
  const sockets: unknown[] = [];
  receiver.play((res) => {
    // The server responds only to the first request of each connection.
    if (!sockets.includes(res.socket)) res.end('fine');
    sockets.push(res.socket);
  });
  expect((await post(sender, receiver.url)).status).toBe(200);
  expect((await post(sender, receiver.url)).status).toBe(200);
  expect({ reused, connections: new Set(sockets).size }).toEqual({ reused: 1, connections: 2 });
});

describe('TLS', () => {
  const server = createTlsServer({ key: PRIVATE_KEY, cert: CERTIFICATE }, (req, res) =>
    req.resume().on('end', () => res.end('fine')),
  );
  let port = 0;
  beforeAll(async () => {
    port = await listenLocally(server);
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  const resolve = async () => ['127.0.0.1'];
  const trusting = () => ({ http: new HttpAgent(), https: new HttpsAgent({ ca: CERTIFICATE }) });

  test('a certificate of an unknown authority is refused, even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    const { error, status } = await post(senderWith({ resolve }), `https://hook.example:${port}`);
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    expect({ error, status }).toEqual({ error: 'self-signed certificate', status: null });
  });

  test('a certificate of the host is accepted, and that of another host is not', async () => {
    const sender = senderWith({ resolve, agents: trusting() });
    expect((await post(sender, `https://hook.example:${port}`)).status).toBe(200);
    expect((await post(sender, `https://other.example:${port}`)).error).toContain('does not match certificate');
  });
});

// The attack: a proxy that is set in the environment connects to any address, also to a forbidden one.
test('the proxy variables of the environment are ignored', async () => {
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
  for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : 'http://127.0.0.3:9';
  receiver.play(respondsWith(204));
  const { status } = await post(senderWith(), receiver.url);
  for (const name of names) delete process.env[name];
  expect(status).toBe(204);
});

test('what is sent is a POST with the headers and the body of the message', async () => {
  receiver.play(respondsWith(200));
  await post(senderWith(), `${receiver.url}/hook?tenant=1`);
  expect(receiver.received).toMatchObject([
    {
      method: 'POST',
      url: '/hook?tenant=1',
      headers: { 'webhook-id': 'msg_1', 'content-length': '15' },
      body: '{"type":"test"}',
    },
  ]);
});

test('closing the sender abandons what is in progress', async () => {
  const sender = senderWith();
  receiver.play(staysSilent);
  const sent = sender.send(message(receiver.url));
  await until('the request', () => receiver.received.length === 1);
  sender.close();
  expect(await sent).toBeNull();
});

function codeError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
