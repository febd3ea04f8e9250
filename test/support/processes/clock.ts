import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getFaketimeLibrary } from './debian.ts';

/** A clock that a test sets for the processes that it starts. Their timers run at the usual speed. */
type Clock = {
  /** The environment variables of a process that uses this clock instead of the machine's. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the clock this many seconds ahead of the machine's (behind if negative), also for running processes. */
  setAhead(seconds: number): Promise<void>;
  remove(): Promise<void>;
};

export async function createClock(): Promise<Clock> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-clock-'));
  // PostgreSQL, which does not run as root, must also be able to read the file.
  await chmod(folder, 0o755);
  const file = join(folder, 'time');
  const setAhead = async (seconds: number) => {
    await writeFile(`${file}.next`, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    // Replaces the file atomically, because processes read it whenever they need the time.
    await rename(`${file}.next`, file);
  };
  await setAhead(0);
  return {
    env: {
      LD_PRELOAD: getFaketimeLibrary(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    },
    setAhead,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
