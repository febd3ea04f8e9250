import type { readArguments } from '../command-line.ts';

export const HELP = `npm run bench                compares Charter with a bare node:http + pg server ("raw"), about 25 minutes
npm run bench -- --quick     one pass, about two minutes. The servers do not get fully warm, so it is only an indication
npm run bench -- --only TEXT measures the cases whose title contains the text; "haproxy": what HAProxy adds in front of
                             cells, which needs the package haproxy of Debian
npm run bench -- --overload  measures one client while others send more than the server can serve, about 6 minutes
npm run bench -- --growth    measures how requests slow down from 1,000 to 10,000,000 rows and from 10 to 100,000
                             organizations, about 12 minutes. The first run creates five databases in .data/growth (14 GB),
                             which takes half an hour; an interrupted run keeps those that are complete
npm run bench -- --fresh     deletes the data of earlier runs first

The result is Markdown on standard output, for scripts/bench/README.md, which says what is measured and how. The command
fails if a ratio is below its floor. The first run creates 1,200,000 rows in .data/bench (2 GB), which takes some minutes.
Let nothing else run on the machine.
`;

export type Rounds = { readonly count: number; readonly seconds: number };

export type Pace = {
  /** How long a server is warmed up after its start. */
  readonly warmUpSeconds: number;
  /** The number of passes through all cases. One pass is not enough, because a shared machine can be slow for many seconds. */
  readonly passes: number;
  /** The rounds of each pass. Their number is even. */
  readonly rounds: Rounds;
  /**
   * The rounds of a case for which a few per cent matter. They are short, because the speed of the machine also changes within a
   * second.
   */
  readonly closeRounds: Rounds;
};

export const FULL: Pace = {
  warmUpSeconds: 30,
  passes: 3,
  rounds: { count: 4, seconds: 1 },
  closeRounds: { count: 120, seconds: 0.125 },
};
export const QUICK: Pace = {
  warmUpSeconds: 2.5,
  passes: 1,
  rounds: { count: 4, seconds: 0.25 },
  closeRounds: { count: 12, seconds: 0.125 },
};

const flag = { type: 'boolean', default: false } as const;
export const OPTIONS = {
  quick: flag,
  only: { type: 'string', default: '' },
  overload: flag,
  growth: flag,
  fresh: flag,
} as const;
export type Options = ReturnType<typeof readArguments<typeof OPTIONS>>;
