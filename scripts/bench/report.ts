// The result as Markdown.
import { availableParallelism, cpus, totalmem } from 'node:os';
import type { Case, Comparison, Summary } from './compare.ts';
import type { Proxied } from './proxy.ts';

export type Result = { readonly measured: Case; readonly comparison: Comparison };
/** What a first page costs one server. */
export type Cost = { readonly title: string; readonly summary: Summary };

export function isBelowFloor({ measured, comparison }: Result): boolean {
  return !(comparison.ratio >= measured.floor);
}

export function resultTable(results: readonly Result[]): string {
  const columns = ['case', 'requests/s', 'p50 ms', 'p99 ms', 'CPU ms', 'SQL ms', 'ratio', 'floor'];
  return markdownTable(columns, results.map(rowOf));
}

function rowOf(result: Result): string[] {
  const { measured, comparison } = result;
  const { rate, p50Ms, p99Ms, serverCpuMs, postgresCpuMs } = comparison.subject;
  const digits = measured.floor < 1 ? 3 : 2;
  const [lowest, highest] = [Math.min(...comparison.ratioOfPasses), Math.max(...comparison.ratioOfPasses)];
  const range = lowest === highest ? '' : ` (${lowest.toFixed(digits)} to ${highest.toFixed(digits)})`;
  return [
    measured.title,
    grouped(rate),
    ...[p50Ms, p99Ms].map((number) => number.toFixed(1)),
    ...[serverCpuMs, postgresCpuMs].map((number) => number.toFixed(0)),
    `${comparison.ratio.toFixed(digits)}${range} of ${measured.base.title} (${grouped(comparison.base.rate)})`,
    `${measured.floor}${isBelowFloor(result) ? ', **MISSED**' : ''}`,
  ];
}

/** Processor time is compared with that of raw. */
export function costTable(costs: readonly Cost[]): string {
  const total = ({ summary }: Cost) => summary.serverCpuMs + summary.postgresCpuMs;
  const raw = costs.find(({ title }) => title.startsWith('raw'));
  const rows = costs.map((cost) => [
    cost.title,
    grouped(cost.summary.rate),
    cost.summary.serverCpuMs.toFixed(0),
    cost.summary.postgresCpuMs.toFixed(0),
    raw === undefined ? '' : (total(cost) / total(raw)).toFixed(2),
  ]);
  return markdownTable(['a first page from', 'requests/s', 'CPU ms', 'SQL ms', 'processor time beside raw'], rows);
}

/** The processor time of HAProxy comes on top of that of Charter and PostgreSQL. */
export function proxyTable(proxied: readonly Proxied[]): string {
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

/** Aligns the first column to the left, and the others to the right. */
export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = columns.map((_, i) => (i === 0 ? '---' : '--:')).join('|');
  return [`| ${columns.join(' | ')} |`, `|${rule}|`, ...rows.map((row) => `| ${row.join(' | ')} |`), ''].join('\n');
}

/** The day, and the machine. */
export function heading(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  const options = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
  const day = new Date().toLocaleDateString('en-GB', options);
  const machine = `${availableParallelism()} cores (${model}), ${gibibytes} GiB, Node ${process.versions.node}`;
  return `${day}, on \`${machine}\`.\n`;
}

/** A whole number as people read it: 17,696. */
export function grouped(number: number): string {
  return Math.round(number).toLocaleString('en');
}
