import { once } from 'node:events';
import { connect } from 'node:net';
import type { RunningServer } from './servers.ts';
import { readCpuSeconds } from './servers.ts';

const CONNECTIONS = 16;

export type RequestSpec = {
  readonly method?: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** The requests that are sent to one server. */
export type Load = {
  readonly server: RunningServer;
  /** The requests of one connection, which are sent in turn, again and again. */
  readonly requests: (connection: number, connections: number) => readonly RequestSpec[];
  /** 16 by default. */
  readonly connections?: number;
  /** The rows that each request writes: the rate counts rows. A request counts once by default. */
  readonly rowsPerRequest?: number;
};

export type Sample = {
  readonly seconds: number;
  /** Responses with 200, 201 or 304 within that time, or the rows that they have written. */
  readonly responses: number;
  /** The duration of each of them, including those that were in progress at the end. */
  readonly milliseconds: readonly number[];
  /** The statuses of all other responses. */
  readonly refusals: readonly number[];
  /** Processor time for all of them; NaN if the system does not report it. */
  readonly serverCpuSeconds: number;
  readonly postgresCpuSeconds: number;
};

/**
 * Keeps the connections busy for a number of seconds, and continues with the requests after those of the last call. Throws
 * on any status but 200, 201, 304 and a few 503, because the speed of errors says nothing.
 */
export type Drive = (seconds: number) => Promise<Sample>;

export type Next = () => Buffer;

/** The time at which a process was last under load, from `performance.now()`, by process id. */
const busyUntil = new Map<number, number>();
/** After this time without load, a server gets some load before it is measured: raw closes its idle connections. */
const IDLE_SECONDS = 10;
const WAKE_SECONDS = 5;
/** A pause of the machine can make a few requests wait for too long, which gets them a 503. It must not end a long run. */
const MAX_REFUSED_SHARE = 0.01;
/** A listener queues no more than 511 new connections. */
const OPENED_AT_ONCE = 100;

/** Prepares a load that first wakes a server that was idle. */
export function prepare(load: Load): Drive {
  const drive = prepareWithoutWaking(load);
  return async (seconds) => {
    const idleSeconds = (performance.now() - (busyUntil.get(load.server.pid) ?? Number.NaN)) / 1000;
    if (idleSeconds > IDLE_SECONDS) await drive(WAKE_SECONDS);
    return drive(seconds);
  };
}

/** Encodes the requests beforehand, because that takes longer than a short round. */
export function prepareWithoutWaking(load: Load): Drive {
  const { server, requests, connections = CONNECTIONS, rowsPerRequest = 1 } = load;
  const sources = Array.from({ length: connections }, (_, i) =>
    cycle(requests(i, connections).map((request) => encode(request, server.origin))),
  );
  return async (seconds) => {
    const sample = await keepBusy(server, { sources, seconds });
    busyUntil.set(server.pid, performance.now());
    const [refused, all] = [sample.refusals.length, sample.refusals.length + sample.milliseconds.length];
    if (refused > all * MAX_REFUSED_SHARE || sample.refusals.some((status) => status !== 503))
      throw new Error(`${server.origin} responded with ${[...new Set(sample.refusals)].join(', ')}.`);
    return { ...sample, responses: sample.responses * rowsPerRequest };
  };
}

type Busy = { readonly sources: readonly Next[]; readonly seconds: number; readonly signal?: AbortSignal | undefined };

/** One connection for each source sends its next request when it has a response, until the time is over or the signal comes. */
export async function keepBusy(server: RunningServer, { sources, seconds, signal }: Busy): Promise<Sample> {
  const opened: Awaited<ReturnType<typeof openConnection>>[] = [];
  while (opened.length < sources.length) {
    const count = Math.min(OPENED_AT_ONCE, sources.length - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: count }, () => openConnection(server.origin)))));
  }
  const milliseconds: number[] = [];
  const refusals: number[] = [];
  let responses = 0;
  const onResponse = (status: number, durationMs: number, isInTime: boolean) => {
    if (status !== 200 && status !== 201 && status !== 304) return void refusals.push(status);
    milliseconds.push(durationMs);
    if (isInTime) responses += 1;
  };
  const before = await readCpuSeconds(server);
  const until = performance.now() + seconds * 1000;
  await Promise.all(sources.map((next, i) => opened[i]?.sendUntil({ next, until, signal, onResponse })));
  const after = await readCpuSeconds(server);
  await Promise.all(opened.map((connection) => connection.close()));
  const [serverCpuSeconds, postgresCpuSeconds] = [after.server - before.server, after.postgres - before.postgres];
  return { seconds, responses, milliseconds, refusals, serverCpuSeconds, postgresCpuSeconds };
}

/** The samples of several rounds as one. */
export function merge(samples: readonly Sample[]): Sample {
  const sum = (of: (sample: Sample) => number) => samples.reduce((total, sample) => total + of(sample), 0);
  return {
    seconds: sum(({ seconds }) => seconds),
    responses: sum(({ responses }) => responses),
    milliseconds: samples.flatMap(({ milliseconds }) => milliseconds),
    refusals: samples.flatMap(({ refusals }) => refusals),
    serverCpuSeconds: sum(({ serverCpuSeconds }) => serverCpuSeconds),
    postgresCpuSeconds: sum(({ postgresCpuSeconds }) => postgresCpuSeconds),
  };
}

function cycle(requests: readonly Buffer[]): Next {
  let turn = 0;
  return () => requests[turn++ % requests.length] ?? Buffer.alloc(0);
}

export function encode({ method = 'GET', path, headers, body = '' }: RequestSpec, origin: string): Buffer {
  const length = method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body) };
  const fields = Object.entries({ host: new URL(origin).host, ...headers, ...length });
  const lines = [`${method} ${path} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

type SendOptions = {
  /** Returns the next request. */
  readonly next: () => Buffer;
  /** The time after which no request is sent, from `performance.now()`. */
  readonly until: number;
  /** Ends it earlier. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the status and duration of each response. */
  readonly onResponse: (status: number, milliseconds: number, isInTime: boolean) => void;
};

type Connection = {
  /** Resolves when the time is over, or the signal has come, and the last response has arrived. */
  sendUntil(options: SendOptions): Promise<void>;
  close(): Promise<void>;
};

const TIMEOUT_MS = 10_000;
const HEAD_END = '\r\n\r\n';

/**
 * A keep-alive connection that sends the next request as soon as it has the response. It parses as little HTTP as possible,
 * to leave the processor to the servers; so the head of a response must arrive in one piece and contain `Content-Length`.
 * Rejects if the server closes the connection or sends nothing for ten seconds.
 */
async function openConnection(origin: string): Promise<Connection> {
  const { hostname, port } = new URL(origin);
  const closed = Promise.withResolvers<never>();
  let read: (bytes: Buffer) => void = () => undefined;
  const socket = connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafe(64 * 1024),
      callback(size, { buffer, byteOffset }) {
        read(Buffer.from(buffer, byteOffset, size));
        return true;
      },
    },
  });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`${origin} sent nothing for ten seconds.`)));
  socket.on('error', closed.reject);
  socket.on('close', () => closed.reject(new Error(`${origin} closed a connection.`)));
  closed.promise.catch(() => undefined); // Those who wait for it handle the rejection.
  await Promise.race([once(socket, 'connect'), closed.promise]);

  function sendUntil({ next, until, signal, onResponse }: SendOptions): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let sentAt = 0;
    let status = 0;
    /** Bytes of the response that have not arrived; null before the first. */
    let missing: number | null = null;

    function send(now: number): void {
      sentAt = now;
      missing = null;
      if (now < until && signal?.aborted !== true) socket.write(next());
      else resolve();
    }

    read = (bytes) => {
      missing = (missing ?? lengthOf(bytes)) - bytes.length;
      if (missing > 0) return;
      if (missing < 0) return void socket.destroy(new Error(`${origin} sent more than its Content-Length.`));
      const now = performance.now();
      onResponse(status, now - sentAt, now < until);
      send(now);
    };

    /** The length of the whole response, from its head. */
    function lengthOf(bytes: Buffer): number {
      const headLength = bytes.indexOf(HEAD_END) + HEAD_END.length;
      const head = bytes.toString('latin1', 0, headLength);
      status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
      const length = status === 304 ? '0' : /\r\nContent-Length: (\d+)/i.exec(head)?.[1];
      if (length !== undefined) return headLength + Number(length);
      socket.destroy(
        new Error(`The response of ${origin} (${status || 'head in several pieces'}) has no Content-Length.`),
      );
      return Number.POSITIVE_INFINITY;
    }

    send(performance.now());
    return Promise.race([promise, closed.promise]);
  }

  async function close(): Promise<void> {
    const closing = once(socket, 'close');
    socket.end();
    await closing;
  }

  return { sendUntil, close };
}
