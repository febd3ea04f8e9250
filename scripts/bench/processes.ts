// What processes have used, from Linux's /proc; NaN on other systems.
import { readdir, readFile } from 'node:fs/promises';
import type { RunningServer } from './servers.ts';

const TICKS_PER_SECOND = 100;

/** The processor seconds of a server and of all processes of PostgreSQL so far. */
export async function cpuSecondsOf({ pid, postgresPid }: Pick<RunningServer, 'pid' | 'postgresPid'>) {
  const ids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const stats = (await Promise.all(ids.map(statOf))).filter((stat) => stat !== null);
  const family = stats.filter((stat) => [stat.pid, stat.parent].includes(postgresPid));
  // The kernel adds the CPU time of ended child processes to that of their parent.
  const postgres = family.reduce((sum, stat) => sum + stat.own + (stat.pid === postgresPid ? stat.ended : 0), 0);
  return { server: stats.find((stat) => stat.pid === pid)?.own ?? Number.NaN, postgres: postgres || Number.NaN };
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
  const [own, ended] = [(user + system) / TICKS_PER_SECOND, (endedUser + endedSystem) / TICKS_PER_SECOND];
  return text === '' ? null : { pid: Number(pid), parent, own, ended };
}

/** The physical memory of a process. */
export async function residentBytes({ pid }: Pick<RunningServer, 'pid'>): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** The memory that a process shares with no other. */
export async function privateBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  const kibibytes = [...text.matchAll(/^Private_\w+: +(\d+) kB$/gm)].map(([, number]) => Number(number));
  return kibibytes.length === 0 ? Number.NaN : kibibytes.reduce((sum, each) => sum + each, 0) * 1024;
}
