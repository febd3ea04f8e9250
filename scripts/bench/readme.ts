import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAgainstRaw } from './cases.ts';
import type { Figure } from './figures.ts';
import { plot } from './plot.ts';
import { machine, type Result, shortfallsOf } from './report.ts';

const root = join(import.meta.dirname, '../..');
const PICTURE = 'scripts/bench/speed.svg';
const BEGIN = '<!-- Written by npm run bench -- --readme -->';
const END = '<!-- The end of what it writes -->';

/** Puts the run into the README, in the place of the last one, and draws its picture. */
export async function writeReadme(
  results: readonly Result[],
  figures: readonly Figure[],
  { quick, now }: { quick: boolean; now: Date },
): Promise<void> {
  const path = join(root, 'README.md');
  const text = await readFile(path, 'utf8');
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`README.md lacks the lines "${BEGIN}" and "${END}".`);
  const day = now.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
  const kind = `${day}, ${quick ? 'a short run (`--quick`)' : 'a full run'}`;
  const bars = results
    .filter(({ measured }) => isAgainstRaw(measured))
    .map(({ measured: { title, goal }, comparison: { ratio } }) => ({ title, ratio, goal }));
  await writeFile(join(root, PICTURE), plot(bars));
  await writeFile(path, text.slice(0, before) + sectionOf(results, figures, kind) + text.slice(after));
}

function sectionOf(results: readonly Result[], figures: readonly Figure[], kind: string): string {
  return `${BEGIN}

${kind}, on \`${machine()}\`.
Server, PostgreSQL and load share it; 16 connections, fsync on. CPU and SQL: the processor time that the server and
PostgreSQL take for 1,000 requests.

![How many times as fast as raw](${PICTURE})

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
    ...[measured.title, rate.toFixed(0), p50Ms.toFixed(1), p99Ms.toFixed(1)],
    ...[serverCpuMs.toFixed(0), postgresCpuMs.toFixed(0)],
    `${comparison.ratio.toFixed(2)} of ${measured.base.title}`,
    goal.filter((word) => word !== '').join(', '),
  ];
  return `| ${cells.join(' | ')} |`;
}
