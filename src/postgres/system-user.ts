import { execFile } from 'node:child_process';
import { delimiter, parse } from 'node:path';
import { StartUpError } from '../domain/start-up-error.ts';

/** Whom a program runs as; null: as ourselves. */
export type SystemUser = { uid: number; gid: number } | null;

/** Our own folder may be closed to another user, and PostgreSQL's programs insist on reading the current one. */
const ROOT = parse(process.execPath).root;

/** Root's own path may lack the folders of groupadd and useradd. */
const PROGRAMS = [process.env.PATH, '/usr/sbin', '/sbin'].join(delimiter);

export type Outcome = { ok: boolean; output: string };

/** Runs a program to its end, as another user where root asks for one. A failure is an outcome, not an exception. */
export function run(program: string, parameters: string[], user: SystemUser = null, cwd = ROOT): Promise<Outcome> {
  const options = {
    ...user,
    cwd,
    // Nothing of the operator's PG* and LC_* variables reaches PostgreSQL.
    env: { PATH: PROGRAMS, SystemRoot: process.env.SystemRoot, LC_ALL: 'C', TZ: 'UTC' },
  };
  return new Promise((resolve) => {
    execFile(program, parameters, options, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.trim();
      resolve({ ok: error === null, output: output === '' && error !== null ? error.message : output });
    });
  });
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

const MAKE_USER =
  'id postgres || { groupadd --system --force postgres && ' +
  'useradd --system --gid postgres --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin postgres; }';

/** The system user `postgres`, made when it is missing: PostgreSQL refuses to run as root. Only for root. */
export async function getPostgresUser(): Promise<{ uid: number; gid: number }> {
  const existing = await findPostgresUser();
  if (existing !== null) return existing;
  // Of two useradd at once, the second replaces the first one's user by one of another number; so one after the other.
  const made = await run('flock', ['/etc', 'sh', '-c', MAKE_USER]);
  const user = await findPostgresUser();
  if (user !== null) return user;
  throw new StartUpError(
    `PostgreSQL does not run as root, and the system user "postgres" could not be made: ${made.output}`,
    'Make a system user "postgres", or run Charter as an ordinary user, or set DATABASE_URL to a PostgreSQL of yours.',
  );
}

async function findPostgresUser(): Promise<{ uid: number; gid: number } | null> {
  const [uid, gid] = await Promise.all([run('id', ['-u', 'postgres']), run('id', ['-g', 'postgres'])]);
  return uid.ok && gid.ok ? { uid: Number(uid.output), gid: Number(gid.output) } : null;
}
