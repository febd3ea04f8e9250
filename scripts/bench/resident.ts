import { readFile } from 'node:fs/promises';
import type { RunningServer } from './servers.ts';

/** The physical memory of the process; NaN if the system does not report it. */
export async function residentBytes({ pid }: RunningServer): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
