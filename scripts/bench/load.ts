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

/** Requests to one server. */
export type Load = {
  readonly server: RunningServer;
  /** Returns the requests of one connection. The connection sends them in this order again and again. */
  readonly requests: (connection: number, connections: number) => readonly RequestSpec[];
  /** The number of connections. The default is 16. */
  readonly connections?: number;
  /** The number of rows that each request writes; the default is 1. If it is set, rates are in rows per second. */
  readonly rowsPerRequest?: number;
};

export type Sample = {
  readonly seconds: number;
  /** The number of responses with 200, 201 or 304 within the time. If requests write several rows, the number of rows. */
  readonly responses: number;
  /** The durations of these responses, and of those that were pending at the end. */
  readonly milliseconds: readonly number[];
  /** The statuses of all other responses. */
  readonly refusals: readonly number[];
  /** The CPU time of the server; NaN if the system does not report it. */
  readonly serverCpuSeconds: number;
  readonly postgresCpuSeconds: number;
};

/**
 * Sends requests over all connections for a number of seconds. Continues where the last call stopped. Throws if the status of a
 * response is not 200, 201 or 304, because errors per second are not a result. Tolerates a few responses with 503.
 */
export type Drive = (seconds: number) => Promise<Sample>;

export type Next = () => Buffer;

/** When each process was last under load, by process id. The times are those of `performance.now()`. */
const busyUntil = new Map<number, number>();
/** The idle time after which a server gets some load before it is measured. The raw server closes idle connections. */
const IDLE_SECONDS = 10;
const WAKE_SECONDS = 5;
/**
 * The tolerated fraction of 503 responses. If the machine pauses, a few requests wait so long that they get a 503, which must not
 * end a long run.
 */
const MAX_REFUSED_SHARE = 0.01;
/** The number of connections that are opened at the same time. It is below 511, the length of a listener's queue. */
const OPENED_AT_ONCE = 100;

/** Prepares a load. If the server is idle, the load runs for a few seconds before the measurement. */
export function prepare(load: Load): Drive {
  const drive = prepareWithoutWaking(load);
  return async (seconds) => {
    const idleSeconds = (performance.now() - (busyUntil.get(load.server.pid) ?? Number.NaN)) / 1000;
    if (idleSeconds > IDLE_SECONDS) await drive(WAKE_SECONDS);
    return drive(seconds);
  };
}

/**
 * Prepares a load like `prepare`, but does not wake an idle server. Encodes the requests in advance, because encoding can take
 * longer than a short measurement.
 */
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

/**
 * Opens a connection for each source. Each connection sends its next request when it gets a response, until the time is over or
 * `signal` aborts.
 */
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

/** Returns the samples of several rounds as one sample. */
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
  readonly next: () => Buffer;
  /** The time of `performance.now()` after which no request is sent. */
  readonly until: number;
  readonly signal?: AbortSignal | undefined;
  /** Called after each response. `isInTime` is whether it arrived before `until`. */
  readonly onResponse: (status: number, milliseconds: number, isInTime: boolean) => void;
};

type Connection = {
  /** Sends requests until the time `until` or until `signal` aborts. Resolves after the last response. */
  sendUntil(options: SendOptions): Promise<void>;
  close(): Promise<void>;
};

const TIMEOUT_MS = 10_000;
const HEAD_END = '\r\n\r\n';

/**
 * Opens a keep-alive connection that sends its next request as soon as it gets a response. It parses as little HTTP as possible,
 * to leave the CPU to the servers: the head of a response must arrive in one piece and contain `Content-Length`. Rejects if the
 * server closes the connection or sends nothing for ten seconds.
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
  closed.promise.catch(() => undefined); // The callers of `sendUntil` handle the rejection.
  await Promise.race([once(socket, 'connect'), closed.promise]);

  function sendUntil({ next, until, signal, onResponse }: SendOptions): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let sentAt = 0;
    let status = 0;
    /** The number of missing bytes of the response; `null` before the first byte. */
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

    /** Returns the length of the whole response, which follows from its head. */
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
