import { readArguments } from '../arguments.ts';

export const HELP = `npm run bench              measures Charter against a bare node:http + pg server ("raw"), about 25 minutes
npm run bench -- --quick   in short rounds, once, and nothing that has no goal; about a minute, in which not all of a
                           server's code gets fast: a hint, not a result
npm run bench -- --readme  also puts the table and its plot into the README
npm run bench -- --fresh   throws the data of earlier runs away first
npm run --silent bench -- --json   prints one JSON object instead of the table

The first run makes 1,200,000 rows in .data/bench, which takes some minutes; later runs use them again. Raw runs two
prepared statements a request, for the key and for the same rows, and validates nothing. Load comes from this process,
over 16 connections; Charter (production, logging to a file) and raw are processes of their own, and all share the
machine with PostgreSQL, so let nothing else run. What is compared is measured in turn, in short rounds, four times with
new processes: a rate is the median of its rounds, a ratio the median of the rounds' ratios, so that it need not be that
of the two rates shown. Falling short of a goal is marked and no error; any answer but 200, 201 and 304 is one.
`;

export type Pace = {
  readonly isQuick: boolean;
  /** Times through all cases, each time with new processes: two of the same code differ by up to a tenth. */
  readonly sets: number;
  /** Of a server that has just started. */
  readonly warmUpSeconds: number;
  readonly roundSeconds: number;
  /** Of each set. */
  readonly rounds: number;
  /** The same, where a few per cent decide about the goal. */
  readonly closeRounds: number;
};

export type Options = {
  readonly help: boolean;
  readonly json: boolean;
  readonly readme: boolean;
  readonly fresh: boolean;
  readonly pace: Pace;
};

// Short rounds, because the machine's own pace changes within seconds.
const FULL: Pace = { isQuick: false, sets: 4, warmUpSeconds: 12, roundSeconds: 1, rounds: 4, closeRounds: 12 };
const QUICK: Pace = { isQuick: true, sets: 1, warmUpSeconds: 2.5, roundSeconds: 0.25, rounds: 4, closeRounds: 4 };

/** Throws what is not understood, with the help. */
export function readOptions(): Options {
  const flag = { type: 'boolean', default: false } as const;
  const help = { ...flag, short: 'h' } as const;
  const { quick, ...others } = readArguments({ help, json: flag, readme: flag, fresh: flag, quick: flag }, HELP);
  return { ...others, pace: quick ? QUICK : FULL };
}
