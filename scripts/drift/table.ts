import { isTest } from './fault.ts';
import { kindOf } from './judge.ts';
import type { Trial } from './trials.ts';

/** Markdown: a table of all trials, then the number of faults that each kind of catcher caught. */
export function tableOf(trials: readonly Trial[]): string {
  const rows = trials.map(({ fault, isCaught, line, seconds }) => [
    fault.title,
    isCaught ? kindOf(fault.caughtBy) : '**nothing**',
    isTest(fault.caughtBy) ? `\`${fault.caughtBy}\`${line === '' ? '' : `: ${line}`}` : line,
    seconds.toFixed(1),
  ]);
  return [
    '| planted fault | caught by | first error | seconds |',
    '|---|---|---|--:|',
    ...rows.map((cells) => `| ${cells.map(cell).join(' | ')} |`),
    '',
    '| caught by | faults | seconds, on average | at most |',
    '|---|--:|--:|--:|',
    ...totalsOf(trials).map((cells) => `| ${cells.join(' | ')} |`),
    '',
  ].join('\n');
}

function totalsOf(trials: readonly Trial[]): string[][] {
  const caught = trials.filter(({ isCaught }) => isCaught);
  const byKind = Map.groupBy(caught, ({ fault }) => kindOf(fault.caughtBy));
  const lines = [...byKind].map(([kind, those]) => {
    const seconds = those.map((trial) => trial.seconds);
    const sum = seconds.reduce((a, b) => a + b, 0);
    return [kind, String(those.length), (sum / those.length).toFixed(1), Math.max(...seconds).toFixed(1)];
  });
  return [...lines, ['nothing', String(trials.length - caught.length), '', '']];
}

const LONGEST = 160;

function cell(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  const short = line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1)}…`;
  return short.replaceAll('|', '\\|');
}
