import { openConnection } from './connection.ts';
import { cpuSecondsOf } from './cpu.ts';
import type { RunningServer } from './servers.ts';

export const CONNECTIONS = 16;

export type Asked = {
  readonly method?: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** What is asked of one server. */
export type Load = {
  readonly server: RunningServer;
  /** What one of so many connections sends in turn, over and over. */
  readonly requests: (connection: number, connections: number) => readonly Asked[];
};

export type Sample = {
  readonly seconds: number;
  /** Answers within that time. */
  readonly answers: number;
  /** How long each request took, those too that were under way at its end. */
  readonly milliseconds: readonly number[];
  /** Processor time for all of them; NaN where the system does not tell. */
  readonly serverCpuSeconds: number;
  readonly postgresCpuSeconds: number;
};

/**
 * Keeps the connections busy for so long, and goes on with the requests where the last time ended. Throws on any answer but
 * 200, 201 and 304: its speed would say nothing.
 */
export type Drive = (seconds: number) => Promise<Sample>;

/** By the process's id, performance.now(); absent: never. */
const busyUntil = new Map<number, number>();
/** Idle for so long, a server has lost its connections to PostgreSQL, and takes some seconds to be as fast again. */
const IDLE_SECONDS = 30;
const WAKE_SECONDS = 20;

/** Makes the requests ready, which takes longer than a short round. */
export function prepare({ server, requests }: Load, connections = CONNECTIONS): Drive {
  const { origin, pid } = server;
  const sources = Array.from({ length: connections }, (_, i) =>
    over(requests(i, connections).map((asked) => bytesOf(asked, origin))),
  );
  const drive = async (seconds: number): Promise<Sample> => {
    const milliseconds: number[] = [];
    const others = new Set<number>();
    let answers = 0;
    const onAnswer = (status: number, tookMs: number, isInTime: boolean) => {
      milliseconds.push(tookMs);
      if (isInTime) answers += 1;
      if (status !== 200 && status !== 201 && status !== 304) others.add(status);
    };
    const opened = await Promise.all(sources.map(async (next) => ({ next, connection: await openConnection(origin) })));
    const before = await cpuSecondsOf(server);
    const until = performance.now() + seconds * 1000;
    await Promise.all(opened.map(({ next, connection }) => connection.keepAsking({ next, until, onAnswer })));
    const after = await cpuSecondsOf(server);
    await Promise.all(opened.map(({ connection }) => connection.close()));
    busyUntil.set(pid, performance.now());
    if (others.size > 0) throw new Error(`${origin} answered ${[...others].join(', ')}.`);
    return {
      ...{ seconds, answers, milliseconds },
      serverCpuSeconds: after.server - before.server,
      postgresCpuSeconds: after.postgres - before.postgres,
    };
  };
  return async (seconds) => {
    const idleSeconds = (performance.now() - (busyUntil.get(pid) ?? Number.NaN)) / 1000;
    if (idleSeconds > IDLE_SECONDS) await drive(WAKE_SECONDS);
    return drive(seconds);
  };
}

/** The samples of several rounds as one. */
export function merge(samples: readonly Sample[]): Sample {
  const sum = (of: (sample: Sample) => number) => samples.reduce((total, sample) => total + of(sample), 0);
  return {
    seconds: sum(({ seconds }) => seconds),
    answers: sum(({ answers }) => answers),
    milliseconds: samples.flatMap(({ milliseconds }) => milliseconds),
    serverCpuSeconds: sum(({ serverCpuSeconds }) => serverCpuSeconds),
    postgresCpuSeconds: sum(({ postgresCpuSeconds }) => postgresCpuSeconds),
  };
}

/** In turn, over and over. */
function over(requests: readonly Buffer[]): () => Buffer {
  let turn = 0;
  return () => requests[turn++ % requests.length] ?? Buffer.alloc(0);
}

function bytesOf({ method = 'GET', path, headers, body = '' }: Asked, origin: string): Buffer {
  const length = method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body) };
  const fields = Object.entries({ host: new URL(origin).host, ...headers, ...length });
  const lines = [`${method} ${path} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
