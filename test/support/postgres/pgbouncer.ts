import { execFileSync, spawn } from 'node:child_process';
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getPostgresUser, isRoot } from '../../../src/postgres/system-user.ts';
import { getProgram, replaceEach } from '../processes/debian.ts';
import { kill, LIMITED, type Running, runningOf, untilReady } from '../processes/process.ts';
import { freePort } from '../servers/port.ts';
import { withClient } from './postgres.ts';

/** The PgBouncer configuration that each release artifact contains. */
const CONFIGURATION = await readFile(join(import.meta.dirname, '../../../scripts/dist/deploy/pgbouncer.ini'), 'utf8');

/** The first version of PgBouncer that supports prepared statements. */
const FIRST_WITH_STATEMENTS = [1, 21] as const;

export type Pgbouncer = {
  /** The database URL that leads through PgBouncer. */
  readonly url: string;
  /** Whether this version of PgBouncer supports prepared statements. */
  readonly keepsStatements: boolean;
  /** Kills PgBouncer with all its connections. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Kills PgBouncer and deletes its files. */
  remove(): Promise<void>;
};

/**
 * Starts PgBouncer in front of a database. `poolSize` is the number of connections to the database. The URL must have a password.
 */
export async function startPgbouncer(databaseUrl: string, poolSize: number): Promise<Pgbouncer> {
  const program = getProgram('pgbouncer', 'pgbouncer');
  const [, major = '', minor = ''] = /^PgBouncer (\d+)\.(\d+)/.exec(execFileSync(program, ['--version'], UTF8)) ?? [];
  const keepsStatements = Number(major) > FIRST_WITH_STATEMENTS[0] || Number(minor) >= FIRST_WITH_STATEMENTS[1];
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const database = pathname.slice(1);
  const folder = await mkdtemp(join(tmpdir(), 'charter-pgbouncer-'));
  const [file, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'userlist.txt')];
  const ownPort = await freePort('127.0.0.1');
  const replacements = {
    'charter = host=127.0.0.1 port=5432 dbname=charter': `${database} = host=${hostname} port=${port} dbname=${database}`,
    'listen_port = 6432': `listen_port = ${ownPort}`,
    'auth_file = /etc/pgbouncer/userlist.txt': `auth_file = ${users}`,
    'default_pool_size = 20': `default_pool_size = ${poolSize}`,
    ...(keepsStatements && { '; max_prepared_statements': 'max_prepared_statements' }),
  };
  await writeFile(file, replaceEach(CONFIGURATION, replacements));
  await writeFile(users, `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`);
  // PgBouncer refuses to run as root.
  const user = isRoot() ? await getPostgresUser() : null;
  if (user !== null) for (const path of [folder, file, users]) await chown(path, user.uid, user.gid);
  await chmod(users, 0o600);

  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${ownPort}`;
  const isReady = () =>
    withClient(url.href, (client) => client.query('select 1')).then(
      () => true,
      () => false,
    );
  let running: Running | undefined;
  const pgbouncer: Pgbouncer = {
    url: url.href,
    keepsStatements,
    async kill() {
      if (running !== undefined) await kill(running);
    },
    async start() {
      running = runningOf(spawn(program, [file], { ...user, cwd: folder, ...LIMITED }));
      await untilReady(running, { name: 'PgBouncer', isReady });
    },
    async remove() {
      await pgbouncer.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await pgbouncer.start();
    return pgbouncer;
  } catch (error) {
    await pgbouncer.remove();
    throw error;
  }
}

const UTF8 = { encoding: 'utf8' } as const;
