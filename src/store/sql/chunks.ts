/** The maximum number of rows that one SQL statement deletes, so that no statement holds many locks or runs for long. */
export const CHUNK_ROWS = 1000;

export type Deletion = {
  /** Rows that have expired at this instant are deleted. */
  readonly now: Date;
  /** As soon as this signal is aborted, no further chunk is deleted. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Repeats `deleteChunk`, which deletes at most CHUNK_ROWS rows, until no more rows are left or the signal is aborted. Returns the
 * number of deleted rows.
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
