import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAgainstRaw } from './cases.ts';
import { grouped } from './numbers.ts';
import type { Trial } from './overload.ts';
import { plot } from './plot.ts';
import { machine, type Result, type Run, ratioOf, remarksOf } from './report.ts';

const root = join(import.meta.dirname, '../..');
const PLOT = 'scripts/bench/speed.svg';
const END = '<!-- The end of what it writes -->';

/** Replaces the last run in the README, and its plot. */
export async function writeReadme(run: Run): Promise<void> {
  const bars = run.results
    .filter(({ measured }) => isAgainstRaw(measured))
    .map(({ measured: { title, goal }, comparison: { ratio } }) => ({ title, ratio, goal }));
  await writeFile(join(root, PLOT), plot(bars));
  await replaceSection('<!-- Written by npm run bench -- --readme -->', sectionOf(run));
}

/** Replaces the last run of the trials under overload in the README. */
export async function writeTrials(trials: readonly Trial[], now: Date): Promise<void> {
  const rows = trials.map(
    ({ load, promise, value, isMissed }) => `| ${load} | ${promise} | ${value}${isMissed ? ', missed' : ''} |`,
  );
  const section = `${dayOf(now)}, on \`${machine()}\`, which the server, PostgreSQL and the
load generator share; without the response cache and without rate limits for keys.

| while | promised to the others | measured |
|---|---|---|
${rows.join('\n')}

`;
  await replaceSection('<!-- Written by npm run bench -- --overload --readme -->', section);
}

/** Replaces the lines between this one and the next end. */
async function replaceSection(begin: string, section: string): Promise<void> {
  const path = join(root, 'README.md');
  const text = await readFile(path, 'utf8');
  const before = text.indexOf(begin);
  const after = text.indexOf(END, before);
  if (before < 0 || after < 0) throw new Error(`README.md lacks the lines "${begin}" and "${END}".`);
  await writeFile(path, `${text.slice(0, before)}${begin}\n\n${section}${text.slice(after)}`);
}

function dayOf(now: Date): string {
  return now.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
}

function sectionOf({ results, figures, pace, now }: Run): string {
  const kind = pace.isQuick ? 'a quick run (`--quick`)' : 'a full run';
  return `${dayOf(now)}, ${kind}, on \`${machine()}\`.
The server, PostgreSQL and the load generator share the machine; 16 connections, fsync on. CPU and SQL are the processor
time of the server and of PostgreSQL for 1,000 requests. In parentheses: the lowest and the highest ratio of ${pace.passes} passes.

![Requests per second as a multiple of those of raw. A solid line across a bar is its goal, a dashed line is raw](${PLOT})

| case | requests/s | p50 ms | p99 ms | CPU ms | SQL ms | ratio | goal |
|---|--:|--:|--:|--:|--:|--:|--:|
${results.map(rowOf).join('\n')}

${figures.map(({ title, value, isMissed }) => `- ${title}: ${value}${isMissed ? ', missed' : ''}`).join('\n')}

`;
}

function rowOf(result: Result): string {
  const { measured, comparison } = result;
  const { rate, p50Ms, p99Ms, serverCpuMs, postgresCpuMs } = comparison.subject;
  const goal = [measured.goal?.toFixed(2) ?? '', ...remarksOf(result).map((word) => word.toLowerCase())];
  const cells = [
    ...[measured.title, grouped(rate), p50Ms.toFixed(1), p99Ms.toFixed(1)],
    ...[serverCpuMs.toFixed(0), postgresCpuMs.toFixed(0)],
    `${ratioOf(result)} of ${measured.base.title} (${grouped(comparison.base.rate)})`,
    goal.filter((word) => word !== '').join(', '),
  ];
  return `| ${cells.join(' | ')} |`;
}
