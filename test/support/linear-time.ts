const TIMES_THE_SIZE = 4;
/** The maximum factor by which the time may grow. Linear time grows by a factor of 4, and quadratic time by 16. */
const MOST_TIMES_THE_TIME = 9;
/** The maximum number of tries. Only a busy machine needs more than one. */
const MOST_TRIES = 30;
/** The minimum time that is compared. A shorter time would mean nothing, because the rest of the process takes about as long. */
const LEAST_MS = 2;

/**
 * Throws unless four times the input takes about four times the CPU time. Unlike elapsed time, CPU time depends little on other
 * processes. Measures both sizes in turn, and compares the fastest try of each.
 */
export async function expectLinearTime(work: (size: number) => unknown, size: number): Promise<void> {
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let i = 0; i < MOST_TRIES; i += 1) {
    small = Math.min(small, await processorMs(() => work(size)));
    large = Math.min(large, await processorMs(() => work(size * TIMES_THE_SIZE)));
    if (large <= MOST_TIMES_THE_TIME * Math.max(small, LEAST_MS)) return;
  }
  throw new Error(
    `Four times the size takes ${large.toFixed(1)} ms of processor time in place of ${small.toFixed(1)}.`,
  );
}

async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
