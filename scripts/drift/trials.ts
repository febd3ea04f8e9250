// Plants faults one at a time in a copy of the tree, and runs the check that should catch each one.
import { Interruption } from '../child.ts';
import { type Checkout, makeCheckout } from './checkout.ts';
import { type Catcher, type Fault, isTest } from './fault.ts';
import { judge, judgeByTests, type Verdict } from './judge.ts';

export type Trial = {
  readonly fault: Fault;
  readonly isCaught: boolean;
  /** The first error that the catcher reports, or why the fault could not be tried. */
  readonly line: string;
  readonly seconds: number;
};

type Job = (checkout: Checkout) => Promise<void>;

export type TryOptions = {
  readonly isTimeLeft?: () => boolean;
  /** Whether every catcher first runs without a fault: a check that fails anyway proves nothing. */
  readonly hasBaseline?: boolean;
  readonly onTrial: (trial: Trial) => void;
};

/** Tries two faults at a time, each in a checkout of its own. Throws if a catcher fails without a fault. */
export async function tryAll(
  faults: readonly Fault[],
  { isTimeLeft = () => true, hasBaseline = true, onTrial }: TryOptions,
): Promise<void> {
  const catchers = [...new Set(faults.map(({ caughtBy }) => caughtBy))];
  const checkouts = await makeTwo();
  try {
    if (hasBaseline) await share(checkouts, baselineJobs(catchers));
    const jobs = faults.map(
      (fault): Job =>
        async (checkout) => {
          if (isTimeLeft()) onTrial(await tryOne(checkout, fault, () => runCatcher(checkout, fault.caughtBy)));
        },
    );
    await share(checkouts, jobs);
  } finally {
    await Promise.all(checkouts.map((checkout) => checkout.remove()));
  }
}

async function makeTwo(): Promise<readonly Checkout[]> {
  const made = await Promise.allSettled([makeCheckout(), makeCheckout()]);
  const checkouts = made.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = made.find((result) => result.status === 'rejected');
  if (failed === undefined) return checkouts;
  await Promise.all(checkouts.map((checkout) => checkout.remove()));
  throw failed.reason;
}

/** Each checkout takes the next job when it is free. After a job has failed, no other job starts. */
async function share(checkouts: readonly Checkout[], jobs: readonly Job[]): Promise<void> {
  const left = [...jobs];
  const results = await Promise.allSettled(
    checkouts.map(async (checkout) => {
      for (let job = left.shift(); job !== undefined; job = left.shift()) {
        await job(checkout).catch((error) => {
          left.length = 0;
          throw error;
        });
      }
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Runs every catcher without a fault. The test files are split in two halves, one for each checkout. */
function baselineJobs(catchers: readonly Catcher[]): readonly Job[] {
  const tests = catchers.filter(isTest);
  const halves = [0, 1].map((half) => tests.filter((_, i) => i % 2 === half)).filter((files) => files.length > 0);
  const checks = catchers.flatMap((catcher) => (isTest(catcher) ? [] : [catcher]));
  return [
    ...checks.map(
      (check): Job =>
        async (checkout) =>
          throwIfFailed(await judge(checkout, check)),
    ),
    ...halves.map(
      (files): Job =>
        async (checkout) =>
          throwIfFailed(await judgeByTests(checkout, files)),
    ),
  ];
}

function throwIfFailed({ isFine, printed }: Verdict): void {
  if (!isFine) throw new Error(`This check fails without any planted fault. Correct that first.\n${printed}`);
}

async function runCatcher(checkout: Checkout, catcher: Catcher): Promise<Verdict> {
  return isTest(catcher) ? judgeByTests(checkout, [catcher]) : judge(checkout, catcher);
}

/**
 * Measures the time from when the fault is in place. A fault that cannot be planted, or whose check cannot run, counts as not
 * caught; `line` says why.
 */
async function tryOne(checkout: Checkout, fault: Fault, check: () => Promise<Verdict>): Promise<Trial> {
  let startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  try {
    const remove = await checkout.plant(fault);
    startedAt = performance.now();
    const { isFine, line } = await check().finally(remove);
    return { fault, isCaught: !isFine, line, seconds: seconds() };
  } catch (error) {
    if (error instanceof Interruption || !(error instanceof Error)) throw error;
    return { fault, isCaught: false, line: error.message, seconds: seconds() };
  }
}
