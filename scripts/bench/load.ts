import { keepAsking } from './connection.ts';
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
  /** Requests per second. */
  readonly rate: number;
  /** How long each request took. */
  readonly milliseconds: readonly number[];
  /** Processor time for a thousand requests; NaN where the system does not tell. */
  readonly serverCpuMs: number;
  readonly postgresCpuMs: number;
};

export type Drive = { readonly seconds: number; readonly connections?: number };

/** Keeps the connections busy for so long. Throws on any answer but 200, 201 and 304: its speed would say nothing. */
export async function drive(
  { server, requests }: Load,
  { seconds, connections = CONNECTIONS }: Drive,
): Promise<Sample> {
  const { origin } = server;
  const times: number[] = [];
  const others = new Set<number>();
  const onAnswer = (status: number, milliseconds: number) => {
    times.push(milliseconds);
    if (status !== 200 && status !== 201 && status !== 304) others.add(status);
  };
  const asked = Array.from({ length: connections }, (_, i) =>
    requests(i, connections).map((each) => bytesOf(each, origin)),
  );
  const before = await cpuSecondsOf(server);
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  await Promise.all(asked.map((each) => keepAsking({ origin, requests: each, until, onAnswer })));
  const took = (performance.now() - startedAt) / 1000;
  const after = await cpuSecondsOf(server);
  if (others.size > 0) throw new Error(`${origin} answered ${[...others].join(', ')}.`);
  return {
    ...{ rate: times.length / took, milliseconds: times },
    serverCpuMs: ((after.server - before.server) * 1e6) / times.length,
    postgresCpuMs: ((after.postgres - before.postgres) * 1e6) / times.length,
  };
}

function bytesOf({ method = 'GET', path, headers, body = '' }: Asked, origin: string): Buffer {
  const length = method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body) };
  const fields = Object.entries({ host: new URL(origin).host, ...headers, ...length });
  const lines = [`${method} ${path} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
