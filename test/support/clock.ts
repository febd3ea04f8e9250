import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFaketimeLibrary } from './debian.ts';

/** A clock that a test sets, for processes that it starts. Their timers run as always. */
export type Clock = {
  /** The environment of a process that has this clock instead of that of the machine. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets it to so many seconds after the time of the machine; less than 0: before it. Running processes jump, too. */
  setAhead(seconds: number): Promise<void>;
  remove(): Promise<void>;
};

export async function createClock(): Promise<Clock> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-clock-'));
  // Other users have this clock, too: PostgreSQL does not run as root.
  await chmod(folder, 0o755);
  const file = join(folder, 'time');
  const setAhead = async (seconds: number) => {
    await writeFile(`${file}.next`, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    // Replaced as a whole, because each look at the time reads it.
    await rename(`${file}.next`, file);
  };
  await setAhead(0);
  return {
    env: {
      LD_PRELOAD: findFaketimeLibrary(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    },
    setAhead,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
