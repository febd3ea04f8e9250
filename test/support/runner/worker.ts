import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { registerHooks } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Circus } from '@jest/types';
import { addEventHandler, getState } from 'jest-circus';
import { randomNumbers } from '../data/random-numbers.ts';

// Adds to jest-light-runner what Jest's own runner has: a time limit for every test and hook, a failure for every unhandled
// error, and a random order. The top level of a test file, which opens servers and databases, gets the same time limit. The
// `afterAll` hooks of a block run in reverse order, so that the last opened resource closes first.

/** The time limits, which end only tests that hang. They are longer than a wait that fails, and than a test on a busy machine. */
const [TEST_LIMIT_MS, SOAK_LIMIT_MS] = [900_000, 3_600_000];
/** The time limit of each test and each hook of the current test file, and of its top level. */
let limitMs = TEST_LIMIT_MS;

const shuffled = new WeakSet<Circus.DescribeBlock>();

addEventHandler((event, { currentDescribeBlock, rootDescribeBlock }) => {
  if (event.name === 'add_test') limit(currentDescribeBlock.tests.at(-1), event.timeout);
  if (event.name === 'add_hook') {
    const { hooks } = currentDescribeBlock;
    limit(hooks.at(-1), event.timeout);
    if (event.hookType === 'afterAll') hooks.unshift(...hooks.splice(-1));
  }
  if (shuffled.has(rootDescribeBlock)) return;
  shuffled.add(rootDescribeBlock);
  // Shuffles in a hook, because the runner collects the tests before it runs the hooks.
  const fn = () => shuffle(rootDescribeBlock, randomNumbers(Number(process.env['CHARTER_TEST_SEED'])));
  const hook = { type: 'beforeAll', fn, asyncError: new Error(), parent: rootDescribeBlock, seenDone: false } as const;
  rootDescribeBlock.hooks.unshift({ ...hook, timeout: undefined });
});

// The runner imports `name.test.ts?<time>`. This hook gives it a module that imports the test file through `loadTestFile`.
registerHooks({
  load(url, context, nextLoad) {
    if (!/\.(?:test|soak)\.ts\?\d+$/.test(url)) return nextLoad(url, context);
    const source = `import { loadTestFile } from '${import.meta.url}'; await loadTestFile('${url}&limited');`;
    return { format: 'module', source, shortCircuit: true };
  },
});

/**
 * Imports a test file within the time limit. If the import fails, runs the `afterAll` hooks, which close what the file has
 * opened.
 */
export async function loadTestFile(url: string): Promise<void> {
  limitMs = url.includes('.soak.ts?') ? SOAK_LIMIT_MS : TEST_LIMIT_MS;
  const { CHARTER_TEST_RECORDS: records } = process.env;
  // This `afterAll` hook is added first, so it runs last.
  if (records !== undefined) afterAll(await recordExecution(fileURLToPath(url), records));
  try {
    await withinLimit(() => import(url), limitMs);
  } catch (error) {
    const hooks: readonly { type: string; fn: unknown }[] = getState().rootDescribeBlock.hooks;
    for (const { type, fn } of hooks) {
      if (type === 'afterAll' && typeof fn === 'function') await Promise.resolve(fn()).catch(() => {});
    }
    throw error;
  }
}

function limit(entry: { fn: unknown } | undefined, timeoutMs = limitMs): void {
  const work = entry?.fn;
  if (entry === undefined || typeof work !== 'function') return;
  entry.fn = () => withinLimit(() => work(), timeoutMs);
}

/** Rejects after the time limit, or with an unhandled error that was thrown in the meantime. */
async function withinLimit(work: () => unknown, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It took longer than ${timeoutMs / 1000} seconds.`)), timeoutMs);
    failNow = reject;
  });
  try {
    await Promise.race([work(), tooLate]);
    // Rejections are reported after the turn of the event loop in which they occurred.
    await new Promise(setImmediate);
    for (const [promise, reason] of unhandled) {
      unhandled.delete(promise);
      throw reason instanceof Error ? reason : new Error(`Nothing handled a rejection: ${reason}`);
    }
  } finally {
    clearTimeout(timer);
    unhandled.clear();
    failNow = undefined;
  }
}

const unhandled = new Map<Promise<unknown>, unknown>();
let failNow: ((error: unknown) => void) | undefined;
// The channel closes if the runner was killed. A killed runner cannot stop its workers, so the workers stop by themselves.
process.on('disconnect', () => process.exit(1));
// A rejection that is handled later does not count, because a test may start several operations that should fail, and await them
// one after another.
process.on('unhandledRejection', (reason, promise) => unhandled.set(promise, reason));
process.on('rejectionHandled', (promise) => unhandled.delete(promise));
process.on('uncaughtException', (error) => {
  // An error between two tests is reported by the next test.
  if (failNow === undefined) unhandled.set(Promise.resolve(), error);
  else failNow(error);
});

function shuffle(block: Circus.DescribeBlock, random: () => number): void {
  const { children } = block;
  for (let i = children.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    const [one, other] = [children[i], children[j]];
    if (one === undefined || other === undefined) continue;
    children[i] = other;
    children[j] = one;
  }
  for (const child of children) if (child.type === 'describeBlock') shuffle(child, random);
}

// Records, for `npm test -- --changed`, which files of the program contain functions that a test file executes.

const ROOT = join(import.meta.dirname, '../../..');

let profiler: Promise<Session> | undefined;

/**
 * Starts to record the executions of a test file. The returned function writes the names of the executed files as JSON, as paths
 * from the root.
 */
export async function recordExecution(testFile: string, folder: string): Promise<() => Promise<void>> {
  profiler ??= startProfiler();
  const session = await profiler;
  // Resets the counts, so that earlier executions are left out.
  await session.post('Profiler.takePreciseCoverage');
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const own = result.filter(({ url }) => url.startsWith('file:') && !url.includes('/node_modules/'));
    const executed = own.filter(({ functions }) =>
      // The first function is the module itself, which runs when it is loaded.
      functions.slice(1).some(({ ranges: [range] }) => (range?.count ?? 0) > 0),
    );
    const names = executed.map(({ url }) => relative(ROOT, fileURLToPath(url)));
    const file = join(folder, `${relative(ROOT, testFile)}.json`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(names.filter((name) => !name.startsWith('test/')).sort()));
  };
}

async function startProfiler(): Promise<Session> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return session;
}
