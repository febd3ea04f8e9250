import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../tool.ts';
import { isAgainstRaw } from './cases.ts';
import type { GrowthRun } from './growth.ts';
import { plotGrowth } from './growth-plot.ts';
import { costSection, growthSection } from './growth-report.ts';
import { grouped } from './numbers.ts';
import type { Trial } from './overload.ts';
import { plot } from './plot.ts';
import { machine, type Result, type Run, ratioOf, remarksOf } from './report.ts';

const FOLDER = 'scripts/bench';
const PLOT = 'speed.svg';
const END = '<!-- The end of what it writes -->';
const README = `${FOLDER}/README.md`;
const GUIDES = 'openapi/guides';
const SCALING = join(GUIDES, 'scaling.md');
const GROWTH_PLOT = 'images/growth.svg';

/** Replaces the last run in the README of this folder, and its plot. */
export async function writeReadme(run: Run): Promise<void> {
  const bars = run.results
    .filter(({ measured }) => isAgainstRaw(measured))
    .map(({ measured: { title, goal }, comparison: { ratio } }) => ({ title, ratio, goal }));
  await writeFile(join(root, FOLDER, PLOT), plot(bars));
  const section = { begin: '<!-- Written by npm run bench -- --readme -->', end: END, text: sectionOf(run) };
  await replaceSection(README, section);
}

/** Replaces the last run of the trials under overload in the guide "Guarantees". */
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
  const begin = '## Measured beside a client that sends too much\n';
  await replaceSection(join(GUIDES, 'guarantees.md'), { begin, end: '\n### ', text: section });
}

/** Replaces the figures of the guide "Scaling", and its plot. */
export async function writeGrowth(run: GrowthRun, now: Date): Promise<void> {
  await writeFile(join(root, GUIDES, GROWTH_PLOT), plotGrowth(run.growths));
  const growth = growthSection(run, { day: dayOf(now), picture: GROWTH_PLOT });
  // Between headings, because a guide cannot have comments: the page without JavaScript would show them.
  await replaceSection(SCALING, { begin: '## How requests grow\n', end: '\n### ', text: growth });
  await replaceSection(SCALING, { begin: '### Figures\n', end: '\n## ', text: costSection(run) });
}

type Section = { readonly begin: string; readonly end: string; readonly text: string };

/** Replaces the text between a line and the next end. */
async function replaceSection(file: string, { begin, end, text }: Section): Promise<void> {
  const path = join(root, file);
  const old = await readFile(path, 'utf8');
  const before = old.indexOf(begin);
  const after = old.indexOf(end, before + begin.length);
  if (before < 0 || after < 0) throw new Error(`${file} lacks the lines "${begin.trim()}" and "${end.trim()}".`);
  const gap = begin.endsWith('\n') ? '\n' : '\n\n';
  await writeFile(path, `${old.slice(0, before)}${begin}${gap}${text}${old.slice(after)}`);
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
    measured.title,
    grouped(rate),
    p50Ms.toFixed(1),
    p99Ms.toFixed(1),
    serverCpuMs.toFixed(0),
    postgresCpuMs.toFixed(0),
    `${ratioOf(result)} of ${measured.base.title} (${grouped(comparison.base.rate)})`,
    goal.filter((word) => word !== '').join(', '),
  ];
  return `| ${cells.join(' | ')} |`;
}
