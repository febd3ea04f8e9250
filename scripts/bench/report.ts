import { availableParallelism, cpus, totalmem } from 'node:os';
import type { Result } from './compare.ts';

export function isBelowFloor({ measured, comparison }: Result): boolean {
  return !(comparison.ratio >= measured.floor);
}

export function resultTable(results: readonly Result[]): string {
  const columns = ['case', 'requests/s', 'p50 ms', 'p99 ms', 'CPU ms', 'SQL ms', 'ratio', 'floor'];
  return markdownTable(columns, results.map(rowOf)) + costOfBase(results[0]);
}

/** Returns the README's sentence about the CPU times, from the first case. */
function costOfBase(result: Result | undefined): string {
  if (result === undefined) return '';
  const { subject, base } = result.comparison;
  const times = (base.serverCpuMs + base.postgresCpuMs) / (subject.serverCpuMs + subject.postgresCpuMs);
  const { title } = result.measured.base;
  return `\n${result.measured.title}: the processor time of ${title} was ${times.toFixed(1)} times that of Charter.\n`;
}

function rowOf(result: Result): string[] {
  const { measured, comparison } = result;
  const { rate, p50Ms, p99Ms, serverCpuMs, postgresCpuMs } = comparison.subject;
  const digits = measured.floor < 1 ? 3 : 2;
  const [lowest, highest] = [Math.min(...comparison.ratioOfPasses), Math.max(...comparison.ratioOfPasses)];
  const range = lowest === highest ? '' : ` (${lowest.toFixed(digits)} to ${highest.toFixed(digits)})`;
  return [
    measured.title,
    withThousands(rate),
    ...[p50Ms, p99Ms].map((number) => number.toFixed(1)),
    ...[serverCpuMs, postgresCpuMs].map((number) => number.toFixed(0)),
    `${comparison.ratio.toFixed(digits)}${range} of ${measured.base.title} (${withThousands(comparison.base.rate)})`,
    `${measured.floor}${isBelowFloor(result) ? ', **MISSED**' : ''}`,
  ];
}

/** Returns a Markdown table. The first column is aligned to the left, the others to the right. */
export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = columns.map((_, i) => (i === 0 ? '---' : '--:')).join('|');
  return [`| ${columns.join(' | ')} |`, `|${rule}|`, ...rows.map((row) => `| ${row.join(' | ')} |`), ''].join('\n');
}

/** Returns the heading, with the date and the machine. */
export function heading(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  const options = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
  const day = new Date().toLocaleDateString('en-GB', options);
  const machine = `${availableParallelism()} cores (${model}), ${gibibytes} GiB, Node ${process.versions.node}`;
  return `${day}, on \`${machine}\`.\n`;
}

/** Formats a number as an integer with separators, such as 17,696. */
export function withThousands(number: number): string {
  return Math.round(number).toLocaleString('en');
}
