import { execFile } from 'node:child_process';
import { appendFile, chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { getPostgresUser, isRoot } from '../../../src/postgres/system-user.ts';
import { getPostgresPrograms } from '../processes/debian.ts';
import { freePort } from '../servers/port.ts';

type DebianPostgres = {
  /** The URL of the database "charter", which is empty at first, for a superuser. */
  readonly databaseUrl: string;
  /** The URL of this database for its owner, who is not a superuser. */
  readonly ownerUrl: string;
  /** The folder of the variable BACKUPS. */
  readonly backups: string;
  /** Runs a shell script as the user that runs PostgreSQL. The script gets PGDATA, BACKUPS, DATABASE_URL and CHARTER_USER. */
  readonly run: (script: string, env?: Record<string, string>) => Promise<void>;
};

type Options = {
  /** Additional environment variables of PostgreSQL. */
  readonly env?: Readonly<Record<string, string>>;
};

const OWNER = 'charter';

/** Calls `work` with a PostgreSQL of Debian in its own folder. Stops PostgreSQL and removes the folder at the end. */
export async function withDebianPostgres(
  work: (postgres: DebianPostgres) => Promise<void>,
  { env = {} }: Options = {},
): Promise<void> {
  const user = isRoot() ? await getPostgresUser() : null;
  const folder = await mkdtemp(join(tmpdir(), 'charter-postgres-'));
  await chmod(folder, 0o755);
  const [data, backups] = [join(folder, 'data'), join(folder, 'backups')];
  for (const own of [data, backups, join(backups, 'wal')]) {
    await mkdir(own, { mode: 0o700 });
    if (user !== null) await chown(own, user.uid, user.gid);
  }
  if (user !== null) await chown(folder, user.uid, user.gid);
  const port = await freePort('127.0.0.1');
  const urlOf = (role: string) => `postgresql://${role}@127.0.0.1:${port}/charter`;
  const databaseUrl = urlOf('postgres');
  const usual = {
    PATH: `${getPostgresPrograms()}:/usr/bin:/bin`,
    PGDATA: data,
    BACKUPS: backups,
    DATABASE_URL: databaseUrl,
    CHARTER_USER: OWNER,
  };
  const run = async (script: string, more: Record<string, string> = {}) => {
    await promisify(execFile)('sh', ['-euc', script], { ...user, cwd: folder, env: { ...usual, ...more } });
  };
  await run('initdb --auth=trust --username=postgres --encoding=UTF8 --locale=C');
  await appendFile(join(data, 'postgresql.conf'), `port = ${port}\nunix_socket_directories = '${folder}'\n`);
  try {
    await run('pg_ctl start --wait --silent --log="$BACKUPS/log"', env);
    await run('psql --quiet --command="CREATE ROLE $CHARTER_USER LOGIN" "$(dirname "$DATABASE_URL")/postgres"');
    await run('createdb --maintenance-db="$(dirname "$DATABASE_URL")/postgres" --owner="$CHARTER_USER" charter');
    await work({ databaseUrl, ownerUrl: urlOf(OWNER), backups, run });
  } finally {
    await run('pg_ctl stop --mode=immediate --silent').catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }
}
