import { kindOf } from './judge.ts';
import { isTest } from './lie.ts';
import type { Trial } from './trials.ts';

/** Markdown: every trial, then how many each kind of catcher has caught. */
export function tableOf(trials: readonly Trial[]): string {
  const rows = trials.map(({ lie, isCaught, line, seconds }) => [
    lie.title,
    isCaught ? kindOf(lie.caughtBy) : '**nothing**',
    isTest(lie.caughtBy) ? `\`${lie.caughtBy}\`${line === '' ? '' : `: ${line}`}` : line,
    seconds.toFixed(1),
  ]);
  return [
    '| lie | caught by | which says | seconds |',
    '|---|---|---|--:|',
    ...rows.map((cells) => `| ${cells.map(cell).join(' | ')} |`),
    '',
    '| caught by | lies | seconds, on average | at most |',
    '|---|--:|--:|--:|',
    ...totalsOf(trials).map((cells) => `| ${cells.join(' | ')} |`),
    '',
  ].join('\n');
}

function totalsOf(trials: readonly Trial[]): string[][] {
  const caught = trials.filter(({ isCaught }) => isCaught);
  const byKind = Map.groupBy(caught, ({ lie }) => kindOf(lie.caughtBy));
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
