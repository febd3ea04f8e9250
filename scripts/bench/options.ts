import { readArguments } from '../arguments.ts';

export const HELP = `npm run bench              measures Charter against a bare node:http + pg server ("raw"), about 25 minutes
npm run bench -- --quick   one pass through the cases that have a goal; about a minute, in which not all of a server's
                           code gets fast: a hint, not a result
npm run bench -- --readme  also puts the table and its plot into the README
npm run bench -- --fresh   throws the data of earlier runs away first
npm run --silent bench -- --json   prints one JSON object instead of the table

The first run makes 1,200,000 rows in .data/bench, 2 GB, which takes some minutes; later runs use them again. A page has
25 rows. Raw runs two prepared statements a request, for the key and for the same rows, and validates nothing; V8's heap
is set as Charter's. Load comes from this process, over 16 connections; Charter (production, logging to a file, answers
not held against the contract but where a case says so) and raw are processes of their own, and all share the machine
with PostgreSQL, so let nothing else run. What is compared is measured in turn, in short rounds, in three passes through
all cases: a rate is all requests by all seconds, a ratio that of two rates, with the lowest and the highest pass beside
it. Two processes of the same code differ by some per cent: one serves both sides of the response check. Falling short
of a goal is marked and no error; any answer but 200, 201 and 304 is one.
`;

export type Rounds = { readonly count: number; readonly seconds: number };

export type Pace = {
  readonly isQuick: boolean;
  /** Of a server that has just started: processes of the same code differ by some per cent until they are warm. */
  readonly warmUpSeconds: number;
  /** Times through all cases: for many seconds on end the machine may be slower, and not for all alike. */
  readonly passes: number;
  /** Of each pass, an even number. */
  readonly rounds: Rounds;
  /** The same, where a few per cent decide about the goal: the machine's pace changes within a second, too. */
  readonly closeRounds: Rounds;
};

export type Options = {
  readonly help: boolean;
  readonly json: boolean;
  readonly readme: boolean;
  readonly fresh: boolean;
  readonly pace: Pace;
};

const FULL: Pace = {
  isQuick: false,
  warmUpSeconds: 30,
  passes: 3,
  rounds: { count: 4, seconds: 1 },
  closeRounds: { count: 120, seconds: 0.125 },
};
const QUICK: Pace = {
  isQuick: true,
  warmUpSeconds: 2.5,
  passes: 1,
  rounds: { count: 4, seconds: 0.25 },
  closeRounds: { count: 12, seconds: 0.125 },
};

/** Throws what is not understood, with the help. */
export function readOptions(): Options {
  const flag = { type: 'boolean', default: false } as const;
  const help = { ...flag, short: 'h' } as const;
  const { quick, ...others } = readArguments({ help, json: flag, readme: flag, fresh: flag, quick: flag }, HELP);
  return { ...others, pace: quick ? QUICK : FULL };
}
