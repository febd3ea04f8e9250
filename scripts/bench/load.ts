import autocannon from 'autocannon';
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
  readonly p50Ms: number;
  readonly p99Ms: number;
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
  const times: number[] = [];
  const before = await cpuSecondsOf(server);
  const startedAt = performance.now();
  let endedAt = startedAt;
  let clients = 0;
  const result = await autocannon({
    ...{ url: server.origin, connections, duration: seconds, sampleInt: 100 },
    setupClient(client) {
      client.setRequests(requests(clients++, connections).map((asked) => ({ method: 'GET', ...asked })));
      // Its own histogram counts in whole milliseconds, which is coarser than what is compared here.
      client.on('response', (_status, _bytes, milliseconds) => {
        times.push(milliseconds);
        endedAt = performance.now();
      });
    },
  });
  refuseOthers(server.origin, result);
  const after = await cpuSecondsOf(server);
  times.sort((a, b) => a - b);
  return {
    ...{ rate: times.length / ((endedAt - startedAt) / 1000), p50Ms: at(times, 0.5), p99Ms: at(times, 0.99) },
    serverCpuMs: ((after.server - before.server) * 1e6) / times.length,
    postgresCpuMs: ((after.postgres - before.postgres) * 1e6) / times.length,
  };
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
}

function refuseOthers(origin: string, { statusCodeStats, errors, timeouts }: autocannon.Result): void {
  const others = Object.keys(statusCodeStats ?? {}).filter((status) => !['200', '201', '304'].includes(status));
  if (others.length + errors + timeouts > 0) {
    throw new Error(
      `${origin} answered ${others.join(', ') || 'nothing else'}; ${errors} errors, ${timeouts} time-outs.`,
    );
  }
}
