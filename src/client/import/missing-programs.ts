// Deletes the parent programs that the file does not contain (`--delete-missing`).
import type { CharterClient } from '../charter-client.ts';
import { ImportError, MAX_DELETED_PERCENT, PATH } from './options.ts';

export type Missing = {
  readonly programs: readonly { readonly externalId: string; readonly name: string }[];
  /** The number of all parent programs with an `external_id`. */
  readonly total: number;
};

/** Lists the parent programs that have an `external_id` and are not in the file. */
export async function listMissing(
  charter: CharterClient,
  isInFile: (externalId: string) => boolean,
  signal: AbortSignal,
): Promise<Missing> {
  const programs: { externalId: string; name: string }[] = [];
  let total = 0;
  for await (const { external_id: externalId, name } of charter.items(PATH, {
    params: { query: { limit: 100 } },
    signal,
  })) {
    if (externalId === null) continue;
    total += 1;
    if (!isInFile(externalId)) programs.push({ externalId, name });
  }
  return { programs, total };
}

/** Throws an ImportError if there are more missing parent programs than may be deleted. */
export function requireFewMissing({ programs, total }: Missing, deleteAtMost: number | undefined): void {
  const most = deleteAtMost ?? Math.floor((total * MAX_DELETED_PERCENT) / 100);
  const count = programs.length;
  if (count <= most) return;
  const bound = deleteAtMost === undefined ? `${MAX_DELETED_PERCENT}% (${thousands(most)})` : thousands(most);
  throw new ImportError(
    `Nothing was deleted. The file does not contain ${thousands(count)} of the ${programsIn(total)} with an external_id, and at most ${bound} may be deleted. Check that the file is complete. If it is: --delete-at-most ${count}`,
  );
}

/** Deletes the parent programs in batches. Calls `count` with the number of deletions that each batch has made. */
export async function deleteMissing(
  charter: CharterClient,
  { programs }: Missing,
  { signal, count }: { signal: AbortSignal; count: (deleted: number) => void },
): Promise<void> {
  const changes = programs.map(({ externalId }) => ({ action: 'delete', external_id: externalId }) as const);
  // The outcome of a parent program that somebody else has deleted meanwhile is a 404.
  for await (const { outcomes } of charter.batch(PATH, changes, { signal }))
    count(outcomes.filter(({ exception }) => exception === null).length);
}

export function programsIn(count: number): string {
  return `${thousands(count)} parent ${count === 1 ? 'program' : 'programs'}`;
}

export function thousands(count: number): string {
  return count.toLocaleString('en');
}
