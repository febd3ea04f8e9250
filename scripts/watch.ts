import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const EVERY_MS = 100;

/**
 * Calls `react` after each change below the folder, one call at a time. With `atOnce`, also calls `react` at the start, and
 * notices a change during that call. Returns a function that stops watching.
 */
export async function onChange(
  folder: string,
  react: () => Promise<void>,
  { atOnce = false }: { atOnce?: boolean } = {},
): Promise<() => void> {
  // Polls, because fs.watch loses files that an editor replaces, and does not work on network folders.
  let isEnded = false;
  let seen = await fingerprintOf(folder);
  if (atOnce) await react();
  const look = async (): Promise<void> => {
    const now = await fingerprintOf(folder);
    if (now === seen) return;
    seen = now;
    await react();
  };
  const again = (): void => {
    // Ignores errors and polls again, because an editor may be replacing a file.
    if (!isEnded) setTimeout(() => look().then(again, again), EVERY_MS).unref();
  };
  again();
  return () => {
    isEnded = true;
  };
}

/**
 * Returns a function that calls `work` if a watched file below the folder has changed since the last success. Otherwise the
 * function returns the last result. `isWatched` decides which files are watched.
 */
export function repeatWhenChanged<T>(
  folder: string,
  isWatched: (file: string) => boolean,
  work: () => Promise<T>,
): () => Promise<T> {
  let last: { readonly fingerprint: string; readonly result: T } | undefined;
  return async () => {
    const fingerprint = await fingerprintOf(folder, isWatched);
    if (last?.fingerprint !== fingerprint) last = { fingerprint, result: await work() };
    return last.result;
  };
}

/** Returns a text that changes whenever a watched file below the folder changes. */
async function fingerprintOf(folder: string, isWatched: (file: string) => boolean = () => true): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(isWatched);
  const seen = await Promise.all(files.map(async (file) => ({ file, ...(await timeAndSize(file)) })));
  return JSON.stringify(seen.sort((a, b) => (a.file < b.file ? -1 : 1)));
}

async function timeAndSize(file: string): Promise<{ mtimeMs: number; size: number }> {
  const { mtimeMs, size } = await stat(file);
  return { mtimeMs, size };
}
