import { parseArgs } from 'node:util';

export const HELP = `npm run bench                    measures Charter against a bare node:http + pg server ("raw"), about fifteen minutes
npm run bench -- --quick         the same in fewer rounds with one process of each kind, and no figures beside the table; about
                                 a minute, in which not all of a server's code gets fast: a hint, not a result
npm run bench -- --json          prints one JSON object instead of the table
npm run bench -- --readme        also puts the table and its plot into the README
npm run bench -- --fresh         throws the data of earlier runs away first

The first run makes 1,200,000 rows in .data/bench, which takes some minutes; later runs use them again.
Raw runs two prepared statements a request, for the key and for the same rows, and validates nothing. Load comes from
this process, over 16 connections; Charter (production, logging to a file) and raw are processes of their own, two of
each that take turns; all share the machine with PostgreSQL. What is compared is measured in turn, in short rounds: a rate
is the median of its rounds, a ratio the median of the rounds' ratios. Falling short of a goal is marked and no error; any answer but 200, 201 and 304
is one.
`;

export type Pace = {
  /** Processes of each kind, which take turns: two of the same code differ by up to a tenth. */
  readonly processes: number;
  readonly warmUpSeconds: number;
  readonly roundSeconds: number;
  /** Of each process. */
  readonly rounds: number;
};

export type Options = {
  readonly help: boolean;
  readonly json: boolean;
  readonly readme: boolean;
  readonly fresh: boolean;
  readonly pace: Pace;
  readonly quick: boolean;
};

// Short rounds, because the machine's own pace changes within seconds.
const FULL: Pace = { processes: 2, warmUpSeconds: 4, roundSeconds: 1, rounds: 10 };
// Most of it warms up: a server that has just started is a third as fast.
const QUICK: Pace = { processes: 1, warmUpSeconds: 1.25, roundSeconds: 0.25, rounds: 3 };

/** Throws a TypeError that names what is not understood. */
export function readOptions(): Options {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({ options: { help: flag, json: flag, readme: flag, fresh: flag, quick: flag } });
  return {
    help: values.help,
    json: values.json,
    readme: values.readme,
    fresh: values.fresh,
    quick: values.quick,
    pace: values.quick ? QUICK : FULL,
  };
}
