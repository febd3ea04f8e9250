// Tells lies one at a time, each in a copy of the tree, and asks whoever is said to catch it.
import { type Checkout, makeCheckout } from './checkout.ts';
import { startCompiler } from './compiler.ts';
import { judge, judgeByTests, type Verdict, verdictOfCompiler } from './judge.ts';
import { type Catcher, isTest, type Lie } from './lie.ts';
import { Interruption } from './running.ts';

export type Trial = {
  readonly lie: Lie;
  readonly isCaught: boolean;
  /** What the catcher says first; why it cannot say anything, where it cannot. */
  readonly line: string;
  readonly seconds: number;
};

type Job = (checkout: Checkout) => Promise<void>;

/**
 * Two at a time, each in a checkout of its own. What catches is asked first without any lie: whoever finds fault with the
 * honest tree proves nothing. Throws where one does.
 */
export async function tryAll(
  lies: readonly Lie[],
  isTimeLeft: () => boolean,
  onTrial: (trial: Trial) => void,
): Promise<void> {
  const catchers = [...new Set(lies.map(({ caughtBy }) => caughtBy))];
  const checkouts = await makeTwo();
  try {
    await share(checkouts, honestyOf(catchers));
    const forCompiler = lies.filter(({ caughtBy }) => caughtBy === 'types');
    const others = lies.filter(({ caughtBy }) => caughtBy !== 'types');
    const first: Job[] =
      forCompiler.length === 0 ? [] : [(checkout) => tryWithCompiler(checkout, forCompiler, onTrial)];
    const rest = others.map(
      (lie): Job =>
        async (checkout) => {
          if (isTimeLeft()) onTrial(await tryOne(checkout, lie, () => askOf(checkout, lie.caughtBy)));
        },
    );
    await share(checkouts, [...first, ...rest]);
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

/** Whoever is free takes the next job; once one has failed, no other begins. */
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

/** The compiler is asked when it is started. Of the tests two halves, so that both checkouts have the most of the work. */
function honestyOf(catchers: readonly Catcher[]): readonly Job[] {
  const tests = catchers.filter(isTest);
  const halves = [0, 1].map((half) => tests.filter((_, i) => i % 2 === half)).filter((files) => files.length > 0);
  const checks = catchers.flatMap((catcher) => (isTest(catcher) || catcher === 'types' ? [] : [catcher]));
  return [
    ...checks.map(
      (check): Job =>
        async (checkout) =>
          refuseDishonest(await judge(checkout, check)),
    ),
    ...halves.map(
      (files): Job =>
        async (checkout) =>
          refuseDishonest(await judgeByTests(checkout, files)),
    ),
  ];
}

function refuseDishonest({ isFine, printed }: Verdict): void {
  if (!isFine) throw new Error(`Without any lie, this is wrong already. Mend it first.\n${printed}`);
}

async function askOf(checkout: Checkout, catcher: Catcher): Promise<Verdict> {
  return isTest(catcher) ? judgeByTests(checkout, [catcher]) : judge(checkout, catcher);
}

async function tryWithCompiler(
  checkout: Checkout,
  lies: readonly Lie[],
  onTrial: (trial: Trial) => void,
): Promise<void> {
  const compiler = startCompiler(checkout.folder);
  const ask = async () => verdictOfCompiler(await compiler.check());
  try {
    refuseDishonest(await ask());
    for (const lie of lies) onTrial(await tryOne(checkout, lie, ask));
  } finally {
    await compiler.stop();
  }
}

async function tryOne(checkout: Checkout, lie: Lie, ask: () => Promise<Verdict>): Promise<Trial> {
  return timed(lie, async (told) => {
    const undo = await checkout.plant(lie);
    told();
    return ask().finally(undo);
  });
}

/**
 * The seconds are those since it was told. A lie that cannot be told, or that nobody can judge, is not caught: its line
 * says why, and it is to be mended.
 */
async function timed(lie: Lie, work: (told: () => void) => Promise<Verdict>): Promise<Trial> {
  let startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  try {
    const { isFine, line } = await work(() => {
      startedAt = performance.now();
    });
    return { lie, isCaught: !isFine, line, seconds: seconds() };
  } catch (error) {
    if (error instanceof Interruption || !(error instanceof Error)) throw error;
    return { lie, isCaught: false, line: error.message, seconds: seconds() };
  }
}
