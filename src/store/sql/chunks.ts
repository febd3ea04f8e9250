/** Maximum number of rows per statement, so that none holds many locks or runs long. */
export const CHUNK_ROWS = 1000;

export type Deletion = {
  /** Rows that are expired at this instant are deleted. */
  readonly now: Date;
  /** Once it is aborted, no further chunk begins. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Repeats `deleteChunk`, which deletes at most CHUNK_ROWS rows, until none is left or the signal is aborted. Returns the number
 * of deleted rows.
 */
export async function deleteInChunks(
  { signal }: Pick<Deletion, 'signal'>,
  deleteChunk: () => Promise<number>,
): Promise<number> {
  let deleted = 0;
  while (signal?.aborted !== true) {
    const count = await deleteChunk();
    deleted += count;
    if (count < CHUNK_ROWS) break;
  }
  return deleted;
}
