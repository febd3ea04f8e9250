/** Rows that one statement of housekeeping deletes at most, so that none holds many locks or runs long. */
export const FORGET_AT_ONCE = 1000;

/** Repeats a deletion of at most FORGET_AT_ONCE rows until nothing is left; tells how many there were. */
export async function forgetInBatches(deleteSome: () => Promise<number>): Promise<number> {
  let forgotten = 0;
  for (;;) {
    const count = await deleteSome();
    forgotten += count;
    if (count < FORGET_AT_ONCE) return forgotten;
  }
}
