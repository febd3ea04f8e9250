import { readArguments } from '../arguments.ts';

export const HELP = `npm run bench              measures Charter against a bare node:http + pg server ("raw"), about 25 minutes
npm run bench -- --quick   one pass through the cases that have a goal, about a minute. The servers do not get fully warm,
                           so the result is only an indication
npm run bench -- --overload  measures one client while others send more than the server can serve, about 7 minutes
npm run bench -- --growth  measures how requests slow down from 1,000 to 10,000,000 rows and from 10 to 100,000
                           organizations, about 12 minutes. The first run creates five databases in .data/growth (14 GB),
                           which takes half an hour; an interrupted run keeps those that are complete
npm run bench -- --readme  also writes the result into scripts/bench/README.md, with its plot; that of --overload into the
                           guide "Guarantees", and that of --growth, with its plot, into the guide "Scaling"
npm run bench -- --fresh   deletes the data of earlier runs first
npm run --silent bench -- --json   prints one JSON object instead of the table

The first run creates 1,200,000 rows in .data/bench (2 GB), which takes some minutes. Later runs use them again. A page
has 25 rows. For each request, raw executes two prepared statements, one for the key and one for the same rows. It
validates nothing, and has the same V8 heap settings as Charter. This process sends the requests, over 16 connections.
Charter and raw are separate processes. Charter runs in production mode and logs to a file; it validates responses only in
the cases that say so. All of them share the machine with PostgreSQL, so let nothing else run.

The two sides of a comparison are measured alternately, in short rounds and three passes through all cases. A rate is all
requests divided by all seconds, and a ratio is one rate divided by another, shown with those of the slowest and the
fastest pass. Two processes of the same code differ by some per cent, so the response check is compared within a process.
A missed goal is marked, but is no error. A status other than 200, 201, 304 and 503 is an error. 503s are one if they are
more than a hundredth of the responses.
`;

export type Rounds = { readonly count: number; readonly seconds: number };

export type Pace = {
  readonly isQuick: boolean;
  /** How long a server that has just started is warmed up. */
  readonly warmUpSeconds: number;
  /** The number of passes through all cases, because a shared machine can be slower for many seconds. */
  readonly passes: number;
  /** The rounds of each pass, an even number. */
  readonly rounds: Rounds;
  /** The rounds of cases for which a few per cent matter, because the speed of the machine also changes within a second. */
  readonly closeRounds: Rounds;
};

export type Options = {
  readonly help: boolean;
  readonly json: boolean;
  readonly readme: boolean;
  readonly fresh: boolean;
  readonly overload: boolean;
  readonly growth: boolean;
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

/** Throws an error with the help for an unknown option. */
export function readOptions(): Options {
  const flag = { type: 'boolean', default: false } as const;
  const help = { ...flag, short: 'h' } as const;
  const { quick, ...others } = readArguments(
    { help, json: flag, readme: flag, fresh: flag, overload: flag, growth: flag, quick: flag },
    HELP,
  );
  return { ...others, pace: quick ? QUICK : FULL };
}
