/** Maximum number of rows per statement, so that none holds many locks or runs long. */
export const BATCH_ROWS = 1000;

/** Repeats `deleteBatch`, which deletes at most BATCH_ROWS rows, until none is left. Returns the number of deleted rows. */
export async function deleteInBatches(deleteBatch: () => Promise<number>): Promise<number> {
  let deleted = 0;
  for (;;) {
    const count = await deleteBatch();
    deleted += count;
    if (count < BATCH_ROWS) return deleted;
  }
}
