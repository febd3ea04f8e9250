// Measures the CPU time and the latency that HAProxy in front of cells adds to a request.
import { randomBytes } from 'node:crypto';
import { startCellsHaproxy } from '../../test/support/processes/haproxy.ts';
import { alternate, type Comparison, compare, type Pair, warmUp } from './compare.ts';
import type { Data } from './data.ts';
import type { Load, Sample } from './load.ts';
import type { Pace } from './options.ts';
import { markdownTable } from './report.ts';
import { each } from './requests.ts';
import type { RunningServer } from './servers.ts';

/** The numbers of connections: 1 shows the latency, 16 shows the CPU time. */
const CONNECTIONS = [1, 16];
const MOVED_KEYS = 10_000;

/**
 * The result for one number of connections. The subject is requests through HAProxy; its server CPU time is that of HAProxy. The
 * base is requests to the server directly.
 */
type Proxied = { readonly connections: number; readonly comparison: Comparison };

/** Starts HAProxy with the configuration for cells, without TLS. The process id in the result is that of HAProxy. */
export async function startProxy({ origin, postgresPid }: RunningServer): Promise<RunningServer> {
  const port = Number(new URL(origin).port);
  const haproxy = await startCellsHaproxy([port, port, port]);
  const moved = Array.from({ length: MOVED_KEYS }, () => `${randomBytes(32).toString('hex')} us1\n`);
  await haproxy.useMovedKeys(moved.join(''));
  return { origin: haproxy.url, pid: haproxy.pid(), postgresPid, stop: () => haproxy.stop() };
}

/**
 * Measures cached first pages of 100 organizations. Rounds through HAProxy and rounds without HAProxy alternate. Returns the
 * result as a table.
 */
export async function measureProxy(
  { direct, proxy }: { readonly direct: RunningServer; readonly proxy: RunningServer },
  { small, pace }: Data & { readonly pace: Pace },
): Promise<string> {
  const proxied: Proxied[] = [];
  for (const connections of CONNECTIONS) {
    const load = (server: RunningServer): Load => ({ ...each(server, small), connections });
    const pair = { subject: await warmUp(load(proxy), pace), base: await warmUp(load(direct), pace) };
    const passes: Pair<Sample>[] = [];
    for (let pass = 0; pass < pace.passes; pass += 1) passes.push(await alternate(pair, pace.closeRounds));
    proxied.push({ connections, comparison: compare(passes) });
  }
  return proxyTable(proxied);
}

/** Returns the result as a Markdown table. The CPU time of HAProxy is added to that of Charter and PostgreSQL. */
function proxyTable(proxied: readonly Proxied[]): string {
  const row = (what: string, direct: number, byProxy: number, digits: number) => [
    what,
    direct.toFixed(digits),
    byProxy.toFixed(digits),
    (byProxy / direct).toFixed(2),
  ];
  const latencies = proxied.map(({ connections, comparison: { subject, base } }) =>
    row(`p50 in ms, ${connections} connection${connections === 1 ? '' : 's'}`, base.p50Ms, subject.p50Ms, 2),
  );
  const costs = proxied.slice(-1).map(({ connections, comparison: { subject, base } }) => {
    const direct = base.serverCpuMs + base.postgresCpuMs;
    return row(`CPU ms of 1,000 requests, ${connections} connections`, direct, direct + subject.serverCpuMs, 0);
  });
  return markdownTable(['a cached first page', 'direct', 'by HAProxy', 'ratio'], [...latencies, ...costs]);
}
