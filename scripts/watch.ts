import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const EVERY_MS = 150;

/** Calls `act` after each change below the folder, never twice at a time; resolves to how to end that. */
export async function onChange(folder: string, act: () => Promise<void>): Promise<() => void> {
  // By looking, not by fs.watch: that loses a file which an editor replaces, and knows no network folder.
  let isEnded = false;
  let seen = await fingerprintOf(folder);
  const look = async (): Promise<void> => {
    const now = await fingerprintOf(folder);
    if (now === seen) return;
    seen = now;
    await act();
  };
  const again = (): void => {
    // What cannot be looked at now can be the next time: an editor is at work.
    if (!isEnded) setTimeout(() => look().then(again, again), EVERY_MS).unref();
  };
  again();
  return () => {
    isEnded = true;
  };
}

async function fingerprintOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const seen = await Promise.all(files.map(async (file) => ({ file, ...(await timeAndSize(file)) })));
  return JSON.stringify(seen.sort((a, b) => (a.file < b.file ? -1 : 1)));
}

async function timeAndSize(file: string): Promise<{ mtimeMs: number; size: number }> {
  const { mtimeMs, size } = await stat(file);
  return { mtimeMs, size };
}
