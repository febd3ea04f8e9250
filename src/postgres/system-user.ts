import { execFile } from 'node:child_process';
import { delimiter, parse } from 'node:path';
import { StartUpError } from '../domain/errors.ts';

/** The system user that runs a program; `null` for the user of this process. */
export type SystemUser = { uid: number; gid: number } | null;

/**
 * The working directory for programs. PostgreSQL's programs must be able to read it, and another user may have no access to this
 * process's working directory.
 */
const ROOT = parse(process.execPath).root;

/**
 * The PATH for programs. Root's PATH may lack the folders of id, flock, groupadd and useradd, or be unset, as in a minimal
 * service.
 */
const PATH = [process.env.PATH ?? [], '/usr/sbin', '/usr/bin', '/sbin', '/bin'].flat().join(delimiter);

export type ProgramResult = { ok: boolean; output: string };

/** Runs a program until it ends, as `user` if this process is root. Never rejects: a failure is part of the result. */
export function run(
  program: string,
  parameters: string[],
  user: SystemUser = null,
  cwd = ROOT,
): Promise<ProgramResult> {
  const options = {
    ...user,
    cwd,
    // The operator's PG* and LC_* variables are omitted, because they would affect PostgreSQL.
    env: { PATH, SystemRoot: process.env.SystemRoot, LC_ALL: 'C', TZ: 'UTC' },
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

const CREATE_USER =
  'id postgres || { groupadd --system --force postgres && ' +
  'useradd --system --gid postgres --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin postgres; }';

/**
 * Returns the system user `postgres`, which is created if it is missing, because PostgreSQL refuses to run as root. Requires
 * root.
 */
export async function getPostgresUser(): Promise<{ uid: number; gid: number }> {
  const existing = await findPostgresUser();
  if (existing !== null) return existing;
  // The lock prevents a concurrent useradd, which would replace the user by a user with another id.
  const created = await run('flock', ['/etc', 'sh', '-c', CREATE_USER]);
  const user = await findPostgresUser();
  if (user !== null) return user;
  throw new StartUpError(
    `PostgreSQL does not run as root, and the system user "postgres" could not be created: ${created.output}`,
    'Create a system user "postgres", run Charter as another user than root, or set DATABASE_URL to use your own PostgreSQL.',
  );
}

async function findPostgresUser(): Promise<{ uid: number; gid: number } | null> {
  const [uid, gid] = await Promise.all([run('id', ['-u', 'postgres']), run('id', ['-g', 'postgres'])]);
  return uid.ok && gid.ok ? { uid: Number(uid.output), gid: Number(gid.output) } : null;
}
