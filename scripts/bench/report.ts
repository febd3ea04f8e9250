import { availableParallelism, cpus, totalmem } from 'node:os';
import { type Case, isAgainstRaw } from './cases.ts';
import type { Comparison, Summary } from './compare.ts';
import type { Figure } from './figure.ts';
import type { Pace } from './options.ts';
import type { PlanSummary } from './plans.ts';

export type Result = { readonly measured: Case; readonly comparison: Comparison; readonly plan: PlanSummary | null };

export type Run = {
  readonly results: readonly Result[];
  readonly figures: readonly Figure[];
  readonly pace: Pace;
  readonly now: Date;
};

const FIRST_P99_GOAL_MS = 50;
const COLUMNS = ['case', 'requests/s', 'p50 ms', 'p99 ms', 'CPU ms', 'SQL ms', 'ratio', 'goal', 'remarks'];

export function asTable({ results, figures, pace }: Run): string {
  const rows = [COLUMNS, ...results.flatMap(rowsOf)];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((text, column) => align(text, column, widths[column] ?? 0)).join('  '));
  const figureLines = figures.map(({ title, value, isMissed }) => `${title}: ${value}${isMissed ? ' MISSED' : ''}`);
  const notes = [
    'CPU and SQL: processor time of the server and of PostgreSQL for 1,000 requests.',
    pace.isQuick
      ? 'A quick run is only an indication. A full run takes 25 minutes, with nothing else running.'
      : 'In parentheses: the lowest and the highest ratio of a pass.',
  ];
  return `${machine()}\n\n${[...lines.map((line) => line.trimEnd()), '', ...figureLines, ...notes].join('\n')}\n`;
}

export function asJson({ results, figures, pace, now }: Run): string {
  const cases = results.map((result) => ({
    case: result.measured.title,
    against: result.measured.base.title,
    ...result.comparison,
    goal: result.measured.goal,
    plan: result.plan,
    remarks: remarksOf(result),
  }));
  return JSON.stringify({ measured_at: now.toISOString(), machine: machine(), quick: pace.isQuick, cases, figures });
}

function rowsOf(result: Result): string[][] {
  const { measured, comparison, plan } = result;
  const goal = measured.goal?.toFixed(2) ?? '';
  const remarks = [...remarksOf(result), ...(plan === null ? [] : [`found by ${plan.indexes.join(' + ')}`])];
  return [
    [measured.title, ...numbersOf(comparison.subject), ratioOf(result), goal, remarks.join(', ')],
    [`  ${measured.base.title}`, ...numbersOf(comparison.base), '', '', ''],
  ];
}

/** The ratio, and those of the lowest and the highest pass. */
export function ratioOf({ measured: { goal }, comparison: { ratio, ratioOfPasses } }: Result): string {
  const format = (number: number) => number.toFixed(goal !== null && goal <= 1 ? 3 : 2);
  if (ratioOfPasses.length === 1) return format(ratio);
  return `${format(ratio)} (${format(Math.min(...ratioOfPasses))} to ${format(Math.max(...ratioOfPasses))})`;
}

/** Missed goals, and the latency of the first requests after an idle period. */
export function remarksOf({ measured, comparison: { subject, base, ratio, firstP99Ms }, plan }: Result): string[] {
  const isP99Higher = isAgainstRaw(measured) && subject.p99Ms > base.p99Ms;
  return [
    ...(measured.goal !== null && ratio < measured.goal ? ['MISSED'] : []),
    ...(isP99Higher ? ['p99 above raw'] : []),
    ...(measured.idleSeconds === undefined ? [] : [firstRequests(firstP99Ms)]),
    ...(plan?.hasSeqScan ? ['sequential scan'] : []),
  ];
}

/** Of a load that follows an idle period. */
function firstRequests(p99Ms: number): string {
  const isMissed = p99Ms > FIRST_P99_GOAL_MS;
  return `p99 of the first 100: ${p99Ms.toFixed(1)} ms (goal: ${FIRST_P99_GOAL_MS})${isMissed ? ' MISSED' : ''}`;
}

function numbersOf({ rate, p50Ms, p99Ms, serverCpuMs, postgresCpuMs }: Summary): string[] {
  return [rate.toFixed(0), p50Ms.toFixed(2), p99Ms.toFixed(2), serverCpuMs.toFixed(0), postgresCpuMs.toFixed(0)];
}

/** Aligns text to the left, and numbers to the right. */
function align(text: string, column: number, width: number): string {
  return column === 0 || column === COLUMNS.length - 1 ? text.padEnd(width) : text.padStart(width);
}

export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  return `${availableParallelism()} cores (${model}), ${gibibytes} GiB, Node ${process.versions.node}`;
}
