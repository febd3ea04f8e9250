import { randomBytes, randomUUID } from 'node:crypto';
import {
  chown,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import { StartUpError } from '../domain/errors.ts';
import { type Binaries, getBinaries, getSystemDir, SYSTEM_DIR } from './embedded-binaries.ts';
import { getPostgresUser, isRoot, run, type SystemUser } from './system-user.ts';

/** The folder of a database cluster, the password of its database user `postgres`, and the system user that runs its programs. */
export type Cluster = { dir: string; password: string; user: SystemUser };

const STAGING_PREFIX = 'postgres-init-';
/** If a staging folder is older than this, a killed process left it behind, because initdb takes far less time. */
const STAGING_LIFE_MS = 3_600_000;
const ELSEWHERE = 'set DATA_DIR to another folder, or set DATABASE_URL to use your own PostgreSQL.';

/**
 * Returns the cluster of `dataDir`, which is created if it is missing. Concurrent processes need no lock: each prepares a cluster
 * in its own folder. One atomic rename or symlink decides which cluster is used, and the other clusters are deleted.
 */
export async function getCluster(dataDir: string, sync: boolean): Promise<Cluster> {
  const known = await findCluster(dataDir);
  if (known !== null) return known;
  const user = isRoot() ? await getPostgresUser() : null;
  const binaries = await getBinaries(user);
  try {
    await initialize({ dataDir, user, binaries, password: await getPassword(dataDir), sync });
  } catch (cause) {
    if (cause instanceof StartUpError || !(cause instanceof Error)) throw cause;
    throw new StartUpError(
      `The data folder ${dataDir} cannot be used: ${cause.message}.`,
      `Use a folder that this user can write to: ${ELSEWHERE}`,
      { cause },
    );
  }
  return getCluster(dataDir, sync);
}

/** Returns the cluster of `dataDir`; `null` before the first start. */
export async function findCluster(dataDir: string): Promise<Cluster | null> {
  const entry = join(dataDir, 'postgres');
  if ((await lstat(entry).catch(() => null)) === null) return null;
  const dir = await realpath(entry).catch((cause: unknown) => {
    const remedy = `Restore that folder, or delete ${entry} to start with an empty database.`;
    throw new StartUpError(`${entry} points to a folder that does not exist.`, remedy, { cause });
  });
  const user = await getOwner(dir);
  const password = await readFile(passwordFile(dataDir), 'utf8').catch((cause: unknown) => {
    const remedy = `Restore the file, or delete ${entry} to start with an empty database.`;
    throw new StartUpError(`${passwordFile(dataDir)} cannot be read.`, remedy, { cause });
  });
  return { dir, password, user };
}

/** Deletes `dataDir` and its cluster, which must be stopped. For tests and other temporary databases. */
export async function removeCluster(dataDir: string): Promise<void> {
  const dir = await realpath(join(dataDir, 'postgres')).catch(() => null);
  if (dir?.startsWith(`${SYSTEM_DIR}/cluster-`)) await rm(dir, { recursive: true, force: true });
  await rm(dataDir, { recursive: true, force: true });
}

/**
 * Returns the user who must run PostgreSQL; `null` for the current user. Root runs PostgreSQL as the owner of the cluster, so
 * that the files of a user's checkout keep their owner.
 */
async function getOwner(dir: string): Promise<SystemUser> {
  const { uid, gid } = await lstat(dir);
  if (process.getuid === undefined || uid === process.getuid()) {
    if (!isRoot()) return null;
    const remedy = `Change its owner to the user that runs PostgreSQL: chown -R postgres ${dir}`;
    throw new StartUpError(`The database in ${dir} belongs to root, and PostgreSQL does not run as root.`, remedy);
  }
  if (isRoot()) return { uid, gid };
  const remedy = `Run Charter as that user, or as root, or ${ELSEWHERE}`;
  throw new StartUpError(`The database in ${dir} belongs to another user (uid ${uid}).`, remedy);
}

/**
 * Returns the programs for a cluster. Throws if the cluster's files belong to another major version, because the programs cannot
 * read such files.
 */
export async function getBinariesFor({ dir, user }: Cluster): Promise<Binaries> {
  const binaries = await getBinaries(user);
  const found = (await readFile(join(dir, 'PG_VERSION'), 'utf8').catch(() => 'none')).trim();
  if (found === binaries.majorVersion) return binaries;
  throw new StartUpError(
    `${dir} contains data of PostgreSQL ${found}, and the embedded PostgreSQL is version ${binaries.majorVersion}.`,
    `Move the data with pg_dump and the version of Charter that wrote it, or ${ELSEWHERE}`,
  );
}

function passwordFile(dataDir: string): string {
  return join(dataDir, 'postgres-password');
}

/**
 * Returns the password, which is created if it is missing. The race: several processes create a password. `link` succeeds for
 * only one of them, and the file is complete as soon as it exists.
 */
async function getPassword(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true });
  const draft = `${passwordFile(dataDir)}.${randomUUID()}`;
  await writeFile(draft, randomBytes(32).toString('base64url'), { mode: 0o600, flush: true });
  await link(draft, passwordFile(dataDir)).catch(() => undefined);
  await rm(draft);
  return readFile(passwordFile(dataDir), 'utf8');
}

type NewCluster = { dataDir: string; user: SystemUser; binaries: Binaries; password: string; sync: boolean };

async function initialize({ dataDir, user, binaries, password, sync }: NewCluster): Promise<void> {
  const home = user === null || (await canEnter(dataDir, user)) ? dataDir : await getSystemDir();
  await deleteAbandoned(home);
  const staging = await mkdtemp(join(home, STAGING_PREFIX));
  try {
    const passwordCopy = join(staging, 'password');
    await writeFile(passwordCopy, password, { mode: 0o600 });
    if (user !== null) for (const path of [passwordCopy, staging]) await chown(path, user.uid, user.gid);
    await initdb(binaries, join(staging, 'data'), [`--pwfile=${passwordCopy}`, ...(sync ? [] : ['--no-sync'])], user);
    await install(join(staging, 'data'), dataDir, home);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * Returns whether the user can enter the folder. The test runs as this user, because parent folders, access lists and mounts
 * matter.
 */
async function canEnter(dir: string, user: SystemUser): Promise<boolean> {
  return (await run('test', ['-x', dir], user)).ok;
}

/** Makes the new cluster the cluster of `dataDir`, unless another process was faster. */
async function install(newCluster: string, dataDir: string, home: string): Promise<void> {
  const entry = join(dataDir, 'postgres');
  const target =
    home === dataDir ? entry : join(home, basename(join(newCluster, '..')).replace(STAGING_PREFIX, 'cluster-'));
  try {
    await rename(newCluster, target);
    if (target !== entry) await symlink(target, entry);
  } catch (cause) {
    if (target !== entry) await rm(target, { recursive: true, force: true });
    if ((await lstat(entry).catch(() => null)) === null) throw cause;
  }
}

async function initdb(binaries: Binaries, dir: string, more: string[], user: SystemUser): Promise<void> {
  let output = '';
  // lower() uses the builtin locale, but pg_trgm asks the C library which characters are letters. With LC_CTYPE "C", pg_trgm
  // would index only ASCII letters, so the first of these locales that the machine has is used.
  for (const characters of ['C.UTF-8', 'en_US.UTF-8', 'C']) {
    const locale = ['--no-locale', `--lc-ctype=${characters}`, '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const access = ['--auth=scram-sha-256', '--username=postgres'];
    const done = await run(
      binaries.initdb,
      [`--pgdata=${dir}`, '--encoding=UTF8', ...locale, ...access, ...more],
      user,
    );
    if (done.ok) return;
    output = done.output;
    if (!/invalid locale/.test(output)) break;
  }
  throw new StartUpError(
    `The database could not be created in ${dir}:\n${output}`,
    `Fix the reported problem, or ${ELSEWHERE}`,
  );
}

async function deleteAbandoned(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    if (!name.startsWith(STAGING_PREFIX)) continue;
    const path = join(home, name);
    const found = await lstat(path).catch(() => null);
    const isOld = found !== null && Date.now() - found.mtimeMs > STAGING_LIFE_MS;
    if (isOld) await rm(path, { recursive: true, force: true });
  }
}
