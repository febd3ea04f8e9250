// Plants faults one at a time in copies of the tree, and runs the check that should catch each one.
import { availableParallelism } from 'node:os';
import { Interruption } from '../child.ts';
import { applyEdit, type Checkout, makeCheckout } from './checkout.ts';
import { type Catcher, type Fault, isTest } from './fault.ts';
import { judge, judgeByTests, type Verdict } from './judge.ts';

export type Trial = {
  readonly fault: Fault;
  readonly isCaught: boolean;
  /** The first error that the catcher reports, or why the fault could not be tried. */
  readonly line: string;
  readonly seconds: number;
};

export type TryOptions = {
  /** Whether every catcher first runs without a fault: a check that fails anyway proves nothing. */
  readonly hasBaseline?: boolean;
  readonly onTrial: (trial: Trial) => void;
};

/** Tests wait for PostgreSQL and timers for a part of their time. */
const AT_ONCE = Math.min(4, availableParallelism() + 1);

/** Tries several faults at a time, each in a checkout of its own. Throws if a catcher fails without a fault. */
export async function tryAll(faults: readonly Fault[], { hasBaseline = true, onTrial }: TryOptions): Promise<void> {
  const made = await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, faults.length) }, makeCheckout));
  const checkouts = made.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  try {
    throwIfRejected(made);
    if (hasBaseline && checkouts[0] !== undefined) await runBaseline(checkouts[0], faults);
    const left = [...faults];
    // Each checkout takes the next fault when it is free.
    const lane = async (checkout: Checkout) => {
      for (let fault = left.shift(); fault !== undefined; fault = left.shift()) onTrial(await tryOne(checkout, fault));
    };
    throwIfRejected(await Promise.allSettled(checkouts.map(lane)));
  } finally {
    await Promise.all(checkouts.map((checkout) => checkout.remove()));
  }
}

function throwIfRejected(results: readonly PromiseSettledResult<unknown>[]): void {
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Runs every catcher without a fault. */
async function runBaseline(checkout: Checkout, faults: readonly Fault[]): Promise<void> {
  const catchers = [...new Set(faults.map(({ caughtBy }) => caughtBy))];
  const tests = catchers.filter(isTest);
  const verdicts = [
    ...(await Promise.all(catchers.flatMap((each) => (isTest(each) ? [] : [judge(checkout, each)])))),
    ...(tests.length === 0 ? [] : [await judgeByTests(checkout, tests, { isParallel: true })]),
  ];
  const failed = verdicts.find(({ isFine }) => !isFine);
  if (failed !== undefined)
    throw new Error(`This check fails without any planted fault. Correct that first.\n${failed.printed}`);
}

async function runCatcher(checkout: Checkout, catcher: Catcher): Promise<Verdict> {
  return isTest(catcher) ? judgeByTests(checkout, [catcher]) : judge(checkout, catcher);
}

/** A fault that cannot be planted, or whose check cannot run, counts as not caught; `line` says why. */
async function tryOne(checkout: Checkout, fault: Fault): Promise<Trial> {
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  try {
    const revert = await applyEdit(checkout.folder, fault);
    const { isFine, line } = await runCatcher(checkout, fault.caughtBy).finally(revert);
    return { fault, isCaught: !isFine, line, seconds: seconds() };
  } catch (error) {
    if (error instanceof Interruption || !(error instanceof Error)) throw error;
    return { fault, isCaught: false, line: error.message, seconds: seconds() };
  }
}
