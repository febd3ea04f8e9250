import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAgainstRaw } from './cases.ts';
import { grouped } from './numbers.ts';
import { plot } from './plot.ts';
import { machine, type Result, type Run, ratioOf, shortfallsOf } from './report.ts';

const root = join(import.meta.dirname, '../..');
const PICTURE = 'scripts/bench/speed.svg';
const BEGIN = '<!-- Written by npm run bench -- --readme -->';
const END = '<!-- The end of what it writes -->';

/** Puts the run into the README, in the place of the last one, and draws its picture. */
export async function writeReadme(run: Run): Promise<void> {
  const path = join(root, 'README.md');
  const text = await readFile(path, 'utf8');
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`README.md lacks the lines "${BEGIN}" and "${END}".`);
  const bars = run.results
    .filter(({ measured }) => isAgainstRaw(measured))
    .map(({ measured: { title, goal }, comparison: { ratio } }) => ({ title, ratio, goal }));
  await writeFile(join(root, PICTURE), plot(bars));
  await writeFile(path, text.slice(0, before) + sectionOf(run) + text.slice(after));
}

function sectionOf({ results, figures, pace, now }: Run): string {
  const day = now.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
  const kind = pace.isQuick ? 'a quick run (`--quick`)' : 'a full run';
  return `${BEGIN}

${day}, ${kind}, on \`${machine()}\`.
Server, PostgreSQL and load share it; 16 connections, fsync on.
CPU and SQL: the processor time that the server and PostgreSQL take for 1,000 requests. In parentheses: the lowest and
the highest pass of ${pace.passes}; in some phases of the machine raw suffers more than Charter. Two processes of the same
code differ by some per cent: one serves both sides of the response check.

![How many times as fast as raw; a whole line across a bar is its goal, a dashed one raw](${PICTURE})

| case | requests/s | p50 ms | p99 ms | CPU ms | SQL ms | ratio | goal |
|---|--:|--:|--:|--:|--:|--:|--:|
${results.map(rowOf).join('\n')}

${figures.map(({ title, value, isShort }) => `- ${title}: ${value}${isShort ? ', short' : ''}`).join('\n')}

`;
}

function rowOf(result: Result): string {
  const { measured, comparison } = result;
  const { rate, p50Ms, p99Ms, serverCpuMs, postgresCpuMs } = comparison.subject;
  const goal = [measured.goal?.toFixed(2) ?? '', ...shortfallsOf(result).map((word) => word.toLowerCase())];
  const cells = [
    ...[measured.title, grouped(rate), p50Ms.toFixed(1), p99Ms.toFixed(1)],
    ...[serverCpuMs.toFixed(0), postgresCpuMs.toFixed(0)],
    `${ratioOf(result)} of ${measured.base.title} (${grouped(comparison.base.rate)})`,
    goal.filter((word) => word !== '').join(', '),
  ];
  return `| ${cells.join(' | ')} |`;
}
