const TIMES_THE_SIZE = 4;
/** The limit lies between 4, for time in proportion to the size, and 16, for time in proportion to its square. */
const MOST_TIMES_THE_TIME = 9;
/** Only a busy machine needs more than one try. */
const MOST_TRIES = 30;
/** Shorter times say nothing: the rest of the process takes as long. */
const LEAST_MS = 2;

/**
 * Throws unless four times the input takes about four times the processor time of this process, which the other processes of a
 * busy machine do not change much. Both sizes are measured in turn, and the fastest try of each counts.
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
