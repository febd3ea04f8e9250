// When a connection ends, the server still sends every response that is due. It never resets the connection instead (RFC 9112
// section 9.6).
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { LINGER_MS } from '../src/connections.ts';
import type { Listening, StopOptions } from '../src/server.ts';
import { listen } from './support/servers/listen.ts';
import { until } from './support/wait.ts';

type Peer = { readonly socket: Socket; readonly seen: { text: string; isEnded: boolean; error: string | undefined } };

/** Connects a client that never closes its side of the connection by itself. */
async function connectTo({ url }: Listening): Promise<Peer> {
  const seen: Peer['seen'] = { text: '', isEnded: false, error: undefined };
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), allowHalfOpen: true });
  socket.on('data', (chunk) => {
    seen.text += chunk.toString();
  });
  socket.on('end', () => {
    seen.isEnded = true;
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    seen.error = error.code;
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return { socket, seen };
}

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const statuses = ({ seen }: Peer) => [...seen.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
const closings = ({ seen }: Peer) => seen.text.match(/^Connection: close\r$/gm)?.length ?? 0;
const untilEnded = (peer: Peer) => until('the end of the connection', () => peer.seen.isEnded);

let served: string[] = [];
/** The paths of the requests to /flooding and /polite whose connections are closed. */
let closed: string[] = [];
/** Functions that each send a response to a request for /slow. */
let waiting: (() => void)[] = [];
const answerAll = () => {
  for (const respond of waiting.splice(0)) respond();
};

/** Responds to /slow when the test calls `answerAll`, and to everything else immediately. */
const app: RequestListener = (req, res) => {
  served.push(req.url ?? '');
  if (/flooding|polite/.test(req.url ?? '')) req.socket.once('close', () => closed.push(req.url ?? ''));
  if (req.url === '/large') return void res.on('close', () => (ended += 1)).end(LARGE);
  if (req.url === '/slow') return void waiting.push(() => res.end('slow'));
  req.resume();
  res.end('ok');
};

/** A body that is larger than the operating system's buffers for a connection. */
const LARGE = Buffer.alloc(32 * 1024 * 1024);
/** The number of responses with LARGE that have ended. */
let ended = 0;

let listening: Listening;
let peers: Peer[];
beforeEach(async () => {
  [served, closed, waiting, peers, ended] = [[], [], [], [], 0];
  listening = await listen(app);
});
afterEach(async () => {
  for (const { socket } of peers) socket.destroy();
  await listening.stop();
});

/** Begins a shutdown. Resolves when the server has stopped listening: from then on, responses have `Connection: close`. */
async function beginStop(options?: StopOptions): Promise<{ stopped: Promise<void> }> {
  const stopped = listening.stop(options);
  await until('the listener to be closed', async () => {
    const probe = await connectTo(listening).catch(() => null);
    probe?.socket.destroy();
    return probe === null;
  });
  return { stopped };
}

async function open(text = ''): Promise<Peer> {
  const peer = await connectTo(listening);
  peers.push(peer);
  peer.socket.write(text);
  return peer;
}

test('a client that closes its sending side after its request gets the response, and its connection is closed', async () => {
  const peer = await open('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await until('the request', () => waiting.length === 1);
  peer.socket.end();
  // When this response has arrived, the server has read that the first client has closed its sending side.
  const other = await open(GET);
  await until('the other response', () => statuses(other).length === 1);
  answerAll();
  await untilEnded(peer);
  expect([statuses(peer), closings(peer), peer.seen.error]).toEqual([[200], 1, undefined]);
  await until('its end', () => peer.socket.destroyed);
});

test('a client that closes its sending side after several requests gets every response', async () => {
  const peer = await open(GET.replace('/', '/slow') + GET + GET);
  await until('the requests', () => served.length === 3);
  peer.socket.end();
  const other = await open(GET);
  await until('the other response', () => statuses(other).length === 1);
  answerAll();
  await untilEnded(peer);
  expect(statuses(peer)).toEqual([200, 200, 200]);
});

// A reset could destroy the response before the client has read it.
test('what arrives after the last response causes no reset', async () => {
  // The server reads on for LINGER_MS only. On a busy machine, an attempt may take longer, and is repeated.
  await until('a try within that time', async () => {
    const startedAt = performance.now();
    const peer = await open('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await untilEnded(peer);
    for (let i = 0; i < 2; i += 1) {
      peer.socket.write('x');
      // If the server had reset the connection, the reset would arrive during this request, and the next write would fail.
      const other = await open(GET);
      await until('the other response', () => statuses(other).length === 1);
    }
    const seen = [statuses(peer), peer.seen.error];
    if (performance.now() - startedAt > LINGER_MS) return false;
    expect(seen).toEqual([[200], undefined]);
    return true;
  });
});

// The attack: clients never close their connections, until the server has none left for others.
test('a connection that the server has ended is freed, even if the client never closes it', async () => {
  const peer = await open('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const garbage = await open('what is this\r\n\r\n');
  await Promise.all([untilEnded(peer), untilEnded(garbage)]);
  // The operating system answers with a reset only if the server has freed the connection.
  await until('both to be freed', () => {
    for (const { socket } of [peer, garbage]) if (!socket.destroyed) socket.write('x');
    return [peer, garbage].every(({ seen }) => seen.error !== undefined);
  });
});

// The attack: clients request large responses and do not read them, until the server has no connections or memory left.
test('a connection whose client does not read its response is closed', async () => {
  await using stalling = await listen(app, { stalledSeconds: 1 });
  const peer = await connectTo(stalling);
  peer.socket.pause();
  peer.socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
  // The server of this connection has the default limit of 60 seconds, so it does not close the connection during the test.
  const other = await open();
  other.socket.pause();
  other.socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
  await until('a response to be given up', () => ended > 0);
  expect(ended).toBe(1);
  peer.socket.destroy();
});

const HEADERS_LATE = 'The headers of the request did not arrive within 1 seconds.';
const BODY_LATE = 'The request did not arrive within 2 seconds.';
const POST = 'POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n';

describe('requests that do not arrive in time', () => {
  let impatient: Listening;
  beforeEach(async () => {
    impatient = await listen(app, { limits: { headersSeconds: 1, requestSeconds: 2 } });
  });
  afterEach(() => impatient.stop());

  test.each([
    ['headers', 'GET / HTTP/1.1\r\nHost: x\r\n', HEADERS_LATE],
    ['headers after an earlier request', `${GET}GET / HTTP/1.1\r\nHost: x\r\n`, HEADERS_LATE],
    ['a body', `${POST}12345`, BODY_LATE],
  ])('408 that says what was late: %s', async (_, text, message) => {
    const peer = await connectTo(impatient);
    peer.socket.write(text);
    await untilEnded(peer);
    const [head = '', body = ''] = peer.seen.text.slice(peer.seen.text.lastIndexOf('HTTP/1.1')).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\nX-Request-Id: [0-9a-f-]{36}\r\n/);
    expect(head).toMatch(/^Cache-Control: no-store\r$/m);
    expect(head).toMatch(/^Content-Type: application\/json; charset=utf-8\r$/m);
    expect(head).toMatch(/^Connection: close$/m);
    expect(JSON.parse(body)).toEqual({ message });
    peer.socket.destroy();
  });

  // The risk: a process that gets no processor time looks for late requests before it reads those that have arrived meanwhile.
  test.each([
    ['headers', '', GET],
    ['a body', POST, '1234567890'],
  ])('no 408 for %s that arrived while the process was starved', async (_, early, rest) => {
    const peer = await connectTo(impatient);
    peer.socket.write(early);
    const other = await connectTo(impatient);
    other.socket.write(GET);
    // The server accepts connections in their order, so it has accepted the other one, too.
    await until('the other response', () => statuses(other).length === 1);
    await until('the head', () => early === '' || waiting.length === 1);
    // The next things that happen after an immediate are timers, such as that of Node's check for late requests.
    await setImmediate();
    peer.socket.write(rest);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
    await setImmediate();
    answerAll();
    await until('the response', () => statuses(peer).length === 1);
    expect(statuses(peer)).toEqual([200]);
    for (const { socket } of [peer, other]) socket.destroy();
  });

  // The client may repeat the refused request. If the late body were read, the request would be carried out twice.
  test('a body that arrives after the 408 is not read', async () => {
    let whole = 0;
    await using counting = await listen((req) => void req.resume().on('end', () => (whole += 1)), {
      limits: { headersSeconds: 1, requestSeconds: 1 },
    });
    const peer = await connectTo(counting);
    peer.socket.write(`${POST}12345`);
    await untilEnded(peer);
    peer.socket.end('67890');
    await until('the connection to be closed', () => peer.socket.destroyed);
    expect([statuses(peer), whole]).toEqual([[408], 0]);
  });

  test('no 408 after the response to a request whose body is late', async () => {
    const peer = await connectTo(impatient);
    peer.socket.write(`${POST.replace('/slow', '/')}12345`);
    await untilEnded(peer);
    expect([statuses(peer), peer.seen.error]).toEqual([[200], undefined]);
    peer.socket.destroy();
  });
});

describe('during a shutdown', () => {
  test('a response in progress, and one to the next request of an idle connection, say Connection: close', async () => {
    const slow = await open('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    const idle = await open(GET);
    await until('both requests', () => served.length === 2 && statuses(idle).length === 1);
    const { stopped } = await beginStop({ idleSeconds: 20 });
    idle.socket.write(GET);
    await untilEnded(idle);
    answerAll();
    await untilEnded(slow);
    for (const { socket } of [slow, idle]) socket.end();
    await stopped;
    expect([slow, idle].map((peer) => [statuses(peer), closings(peer), peer.seen.error])).toEqual([
      [[200], 1, undefined],
      [[200, 200], 1, undefined],
    ]);
  });

  test('all pipelined requests in progress get a response, and the last one says Connection: close', async () => {
    const peer = await open(GET.replace('/', '/slow').repeat(3));
    await until('the requests', () => waiting.length === 3);
    const { stopped } = await beginStop();
    answerAll();
    await untilEnded(peer);
    peer.socket.end();
    await stopped;
    expect(statuses(peer)).toEqual([200, 200, 200]);
    expect(closings(peer)).toBe(1);
    expect(peer.seen.text.lastIndexOf('HTTP/1.1')).toBeLessThan(peer.seen.text.indexOf('Connection: close'));
  });

  // A client must be able to repeat the later requests on another server without creating a row twice. A reset could destroy the
  // last response.
  test('a request after the one with Connection: close is not processed, and resets nothing', async () => {
    const peer = await open(GET);
    await until('the first response', () => statuses(peer).length === 1);
    const { stopped } = await beginStop({ idleSeconds: 20 });
    peer.socket.write(GET.replace('/', '/first') + GET.replace('/', '/second') + GET.replace('/', '/third'));
    await untilEnded(peer);
    peer.socket.write(GET.replace('/', '/fourth'));
    peer.socket.end();
    await stopped;
    expect(served).toEqual(['/', '/first']);
    expect(peer.seen.error).toBeUndefined();
    expect(statuses(peer)).toEqual([200, 200]);
  });

  test('an idle connection is closed without a reset, even if a request arrives at that moment', async () => {
    const peer = await open(GET);
    await until('the first response', () => statuses(peer).length === 1);
    const { stopped } = await beginStop();
    await untilEnded(peer);
    peer.socket.write(GET);
    await new Promise<void>((resolve) => peer.socket.end(resolve));
    await stopped;
    expect(peer.seen.error).toBeUndefined();
    expect(served).toEqual(['/']);
  });

  test('a request that is arriving is completed', async () => {
    const fresh = await open('GET /fre');
    const [kept, idle] = [await open(GET), await open(GET)];
    await until('the responses', () => [kept, idle].every((peer) => statuses(peer).length === 1));
    const { stopped } = await beginStop({ idleSeconds: 2 });
    kept.socket.write('GET /ke');
    await untilEnded(idle);
    idle.socket.end();
    fresh.socket.write('sh HTTP/1.1\r\nHost: x\r\n\r\n');
    kept.socket.write('pt HTTP/1.1\r\nHost: x\r\n\r\n');
    await Promise.all([untilEnded(fresh), untilEnded(kept)]);
    for (const { socket } of [fresh, kept]) socket.end();
    await stopped;
    expect([fresh, kept].map((peer) => [statuses(peer), closings(peer), peer.seen.error])).toEqual([
      [[200], 1, undefined],
      [[200, 200], 1, undefined],
    ]);
  });

  test('new connections are served for drainSeconds', async () => {
    const stopped = listening.stop({ drainSeconds: 1 });
    const peer = await open(GET);
    await untilEnded(peer);
    expect([statuses(peer), closings(peer)]).toEqual([[200], 1]);
    peer.socket.end();
    await stopped;
    await expect(fetch(listening.url)).rejects.toThrow();
  });

  // The attack: filling the memory with requests that the server does not process.
  test('a client that goes on sending requests is cut off', async () => {
    const [flooding, polite] = [await open(GET.replace('/', '/flooding')), await open(GET.replace('/', '/polite'))];
    await until('the first responses', () => [flooding, polite].every((peer) => statuses(peer).length === 1));
    const { stopped } = await beginStop({ idleSeconds: 20 });
    polite.socket.write(GET);
    flooding.socket.write(GET.repeat(200));
    await until('it to be cut off', () => closed.length > 0);
    // The polite client, which sends nothing more, has two seconds to close its connection.
    expect(closed).toEqual(['/flooding']);
    await stopped;
    expect(served.toSorted()).toEqual(['/', '/', '/flooding', '/polite']);
  });
});
