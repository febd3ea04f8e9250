// Plants faults in copies of the checkout, one at a time in each copy, and runs the check that must catch the fault.
import { availableParallelism } from 'node:os';
import { Interruption } from '../child.ts';
import { applyEdit, type Checkout, makeCheckout } from './checkout.ts';
import { type Catcher, type Fault, isTest } from './faults.ts';
import { judge, judgeByTests, type Verdict } from './judge.ts';

export type Trial = {
  readonly fault: Fault;
  readonly isCaught: boolean;
  /** The first line of the error that the catcher reports, or the reason why the fault could not be tried. */
  readonly line: string;
  readonly seconds: number;
};

type TryOptions = {
  readonly onTrial: (trial: Trial) => void;
};

/**
 * The number of concurrent trials. It exceeds the number of CPUs, because tests spend part of their time waiting for PostgreSQL
 * and timers.
 */
const AT_ONCE = Math.min(4, availableParallelism() + 1);

/**
 * Tries faults in several checkouts concurrently, one at a time in each. Faults with the same catcher are tried one after the
 * other in the same checkout.
 */
export async function tryAll(faults: readonly Fault[], { onTrial }: TryOptions): Promise<void> {
  const left = [...Map.groupBy(faults, ({ caughtBy }) => caughtBy)];
  const made = await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, left.length) }, makeCheckout));
  const checkouts = made.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  // Gives the checkout the next catcher as soon as the checkout is free.
  const lane = async (checkout: Checkout) => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [catcher, own] = next;
      // If a check fails even without a fault, its failure with a fault proves nothing.
      const problem = await problemWithoutFault(checkout, catcher);
      for (const fault of own) {
        if (problem === null) onTrial(await tryOne(checkout, fault));
        else onTrial({ fault, isCaught: false, line: problem, seconds: 0 });
      }
    }
  };
  try {
    throwIfRejected(made);
    throwIfRejected(await Promise.allSettled(checkouts.map(lane)));
  } finally {
    await Promise.all(checkouts.map((checkout) => checkout.remove()));
  }
}

function throwIfRejected(results: readonly PromiseSettledResult<unknown>[]): void {
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Returns why the catcher fails without a planted fault; `null` if it passes. */
async function problemWithoutFault(checkout: Checkout, catcher: Catcher): Promise<string | null> {
  try {
    const { isFine, printed } = await runCatcher(checkout, catcher);
    return isFine ? null : `It fails without any planted fault. Correct that first.\n${printed}`;
  } catch (error) {
    if (error instanceof Interruption || !(error instanceof Error)) throw error;
    return error.message;
  }
}

async function runCatcher(checkout: Checkout, catcher: Catcher): Promise<Verdict> {
  return isTest(catcher) ? judgeByTests(checkout, [catcher]) : judge(checkout, catcher);
}

/**
 * Plants one fault and runs its catcher. If the fault cannot be planted or the catcher cannot run, the fault counts as not
 * caught; `line` then says why.
 */
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
