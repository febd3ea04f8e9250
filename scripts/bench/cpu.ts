import { readdir, readFile } from 'node:fs/promises';
import type { RunningServer } from './servers.ts';

export type Cpu = { readonly server: number; readonly postgres: number };

const TICKS_PER_SECOND = 100;

/** The processor seconds of a server and of all processes of PostgreSQL so far, from Linux's /proc; NaN on other systems. */
export async function cpuSecondsOf({ pid, postgresPid }: Pick<RunningServer, 'pid' | 'postgresPid'>): Promise<Cpu> {
  const stats = await Promise.all((await processIds()).map(statOf));
  const family = stats.filter((stat) => stat !== null).filter((stat) => [stat.pid, stat.parent].includes(postgresPid));
  const own = stats.find((stat) => stat?.pid === pid);
  return {
    server: own?.own ?? Number.NaN,
    // The times of ended children are those of their parent.
    postgres:
      family.reduce((sum, stat) => sum + stat.own + (stat.pid === postgresPid ? stat.ended : 0), 0) || Number.NaN,
  };
}

async function processIds(): Promise<string[]> {
  return (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
}

/** Null if the process has ended. */
async function statOf(pid: string) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // After the name, which can contain any character: the state, the parent, and from the twelfth on the times (proc(5)).
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map((i) => fields[i]);
  if (text === '') return null;
  return {
    pid: Number(pid),
    parent,
    own: (user + system) / TICKS_PER_SECOND,
    ended: (endedUser + endedSystem) / TICKS_PER_SECOND,
  };
}
