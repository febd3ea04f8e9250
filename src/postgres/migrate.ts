import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { StartUpError } from '../domain/errors.ts';
import { readReleases } from '../domain/release.ts';
import { connectOrExplain, requireDirectConnection, type UrlVariable } from './connection-problem.ts';
import { asMigrationList, hasChecksum, type Migration, readMigrations } from './migrations.ts';

/**
 * The advisory lock that only one process can hold, so that processes migrate one after the other. While this lock is held,
 * Prisma's engine acquires a lock of its own, which has another number.
 */
const MIGRATION_LOCK = 7_240_113;
const LOCK_SECONDS = 600;
export const OLDEST_POSTGRESQL = 14;
/** The extensions that the migrations create. All are part of PostgreSQL's "contrib" modules. */
export const EXTENSIONS = ['pg_trgm', 'btree_gin'];

/** A release, and the release directly before it; `null` if there is none. */
type Release = { readonly version: string; readonly previous: string | null };

export type AppliedMigration = { readonly name: string; readonly milliseconds: number };

type MigrateOptions = {
  readonly acceptsNewer?: boolean;
  readonly variable?: UrlVariable;
  /** The release whose migrations these are. Default: this release. */
  readonly release?: Release;
  /** Called with the applied migrations, unless there are none. `isNew` means that the database was empty. */
  readonly onApplied?: (applied: readonly AppliedMigration[], isNew: boolean) => void;
};

/**
 * Applies all migrations to the database at `url`. Safe in any number of concurrent processes. Throws a StartUpError if the
 * database cannot be used, is behind a connection pooler, is newer than this version, was left half-migrated, or has a migration
 * whose file was edited later. With `acceptsNewer`, a database that has all migrations of this version may also have the
 * migrations of the next release. `variable` is the environment variable that contains `url`.
 */
export async function migrate(
  url: string,
  migrations?: Migration[],
  { acceptsNewer = false, variable = 'DATABASE_URL', release = readRelease(), onApplied }: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  const ours = migrations ?? (await readMigrations());
  const client = await connectOrExplain(url, 'charter-migrate', variable);
  try {
    await requireDirectConnection(client, variable);
    await requireVersion(client, variable);
    // Checked first without the lock, because usually there is nothing to do. Prisma's engine is then not started either.
    const isDone = async () => {
      const history = await readHistory(client);
      await requireKnown(client, { ours, history, acceptsNewer, release });
      return isComplete(ours, history);
    };
    if (await isDone()) return { applied: [] };
    await lock(client);
    if (await isDone()) return { applied: [] };
    await dropUnfinishedIndexes(client, ours);
    const before = await readHistory(client);
    requireFinished(before);
    await prepare(client);
    const isNew = before.length === 0;
    // The release is recorded before its first migration can be interrupted. An empty database does not have the table yet.
    if (!isNew) await recordRelease(client, release);
    const applied = await apply(url, ours, client);
    if (isNew) await recordRelease(client, release);
    onApplied?.(await readTimes(client, applied), isNew);
    return { applied };
  } finally {
    client.end().catch(() => undefined);
  }
}

type Applied = { name: string; checksum: string; isFinished: boolean; logs: string | null };

/** Returns the migrations that Prisma's engine has recorded, except those that were rolled back. */
async function readHistory(client: pg.Client): Promise<Applied[]> {
  const tables = await client.query<{ owner: string; isReadable: boolean }>(
    `SELECT pg_get_userbyid(relowner) AS owner, has_table_privilege(oid, 'SELECT') AS "isReadable"
       FROM pg_class WHERE oid = to_regclass('_prisma_migrations')`,
  );
  const [table] = tables.rows;
  if (table === undefined) return [];
  if (!table.isReadable) {
    throw new StartUpError(
      `The user "${client.user}" may not read the tables of this database. They belong to "${table.owner}".`,
      'Connect as their owner. If they were restored from a dump, restore it again with pg_restore ' +
        `--role="${client.user}": see the guide "Backups".`,
    );
  }
  const found = await client.query<Applied>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS "isFinished", logs
       FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  return found.rows;
}

function readRelease(): Release {
  const [version = '', previous = null] = readReleases();
  return { version, previous };
}

/** Returns the release to which the version belongs, such as 1.1.0 for 1.1.0-dev.0a1b2c3, a state before that release. */
function releaseOf(version: string): string {
  return version.replace(/-.*$/, '');
}

/** Records which release migrates the database: as the comment of the table, so that the releases before it can read it. */
async function recordRelease(client: pg.Client, { version, previous }: Release): Promise<void> {
  const recorded: Release = { version: releaseOf(version), previous };
  await client.query(`COMMENT ON TABLE _prisma_migrations IS ${client.escapeLiteral(JSON.stringify(recorded))}`);
}

/** Returns the release that last migrated the database; `null` if it is unknown. */
async function findRecordedRelease(client: pg.Client): Promise<Release | null> {
  const found = await client.query<{ comment: string | null }>(
    `SELECT obj_description(to_regclass('_prisma_migrations'), 'pg_class') AS comment`,
  );
  try {
    const { version, previous } = Object(JSON.parse(found.rows[0]?.comment ?? 'null'));
    return typeof version === 'string' ? { version, previous: typeof previous === 'string' ? previous : null } : null;
  } catch {
    // Somebody else has written the comment.
    return null;
  }
}

type Known = {
  readonly ours: readonly Migration[];
  readonly history: readonly Applied[];
  readonly acceptsNewer: boolean;
  readonly release: Release;
};

/**
 * Throws if the database has migrations that this version does not know. With `acceptsNewer`, migrations of the next release are
 * accepted. Migrations of the same release are accepted, too, because this may be an earlier state of that release.
 */
async function requireKnown(client: pg.Client, { ours, history, acceptsNewer, release }: Known): Promise<void> {
  const known = new Set(ours.map(({ name }) => name));
  const unknown = history.filter(({ name }) => !known.has(name));
  if (unknown.length === 0) return;
  const problem = `The database has migrations that this version does not know: ${namesOf(unknown)}.`;
  const restore = 'or restore a backup from before it was started.';
  if (!acceptsNewer)
    throw new StartUpError(
      problem,
      `Start the newer version, ${restore} To go back to the version directly before it, set NEWER_DATABASE=accept.`,
    );
  const recorded = await findRecordedRelease(client);
  const own = releaseOf(release.version);
  if (
    unfinishedOf(ours, history).length === 0 &&
    recorded !== null &&
    [recorded.version, recorded.previous].includes(own)
  )
    return;
  const by = recorded === null ? 'an unknown release' : `release ${recorded.version}`;
  const allowed =
    recorded === null ? 'the newer version' : [recorded.version, recorded.previous ?? []].flat().join(' or ');
  throw new StartUpError(
    `${problem} They are from ${by}, and NEWER_DATABASE=accept goes back by one release only. This is ${release.version}.`,
    `Start ${allowed}, ${restore}`,
  );
}

/** Returns the names of those migrations of this version that have not been applied completely. */
function unfinishedOf(ours: readonly Migration[], history: readonly Applied[]): string[] {
  const finished = new Set(history.filter(({ isFinished }) => isFinished).map(({ name }) => name));
  return ours.map(({ name }) => name).filter((name) => !finished.has(name));
}

/**
 * Returns whether all of this version's migrations are applied. Throws for problems that neither waiting nor migrating can solve.
 */
function isComplete(ours: readonly Migration[], history: readonly Applied[]): boolean {
  const known = new Map(ours.map((migration) => [migration.name, migration]));
  // The file of a failed migration may be corrected, but the file of an applied migration must not change.
  const edited = history.filter(({ name, checksum, isFinished }) => {
    const migration = known.get(name);
    return isFinished && migration !== undefined && !hasChecksum(migration, checksum);
  });
  if (edited.length > 0) {
    throw new StartUpError(
      `These migrations were changed after they had been applied to this database: ${namesOf(edited)}.`,
      'Restore the files of prisma/migrations as this version has them, and write a new migration for the change.',
    );
  }
  return (
    unfinishedOf(ours, history).length === 0 && history.every(({ name, isFinished }) => isFinished || !known.has(name))
  );
}

function namesOf(migrations: { name: string }[]): string {
  return [...new Set(migrations.map(({ name }) => name))].join(', ');
}

const BUILD_OF_INDEX = /^(?:\s|--[^\n]*\n)*CREATE (?:UNIQUE )?INDEX CONCURRENTLY "([^"]+)"/i;

/**
 * Lets an interrupted migration start again if the migration builds an index without blocking writes. Such a build is not a
 * transaction: if it is interrupted, it leaves an invalid index, which blocks the name of the index. The build is the migration's
 * only statement, so the migration leaves nothing else. The caller must hold the migration lock.
 */
async function dropUnfinishedIndexes(client: pg.Client, ours: readonly Migration[]): Promise<void> {
  const unfinished = (await readHistory(client)).filter(({ isFinished }) => !isFinished);
  for (const { name } of unfinished) {
    const index = BUILD_OF_INDEX.exec(ours.find((migration) => migration.name === name)?.sql ?? '')?.[1];
    if (index === undefined) continue;
    await untilNotBuilding(client, index);
    await client.query(`DROP INDEX CONCURRENTLY IF EXISTS "${index}"`);
    await client.query(
      `UPDATE _prisma_migrations SET rolled_back_at = now()
         WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`,
      [name],
    );
  }
}

/**
 * Waits until PostgreSQL is no longer building the index, because a build continues for a while after the process that started it
 * was killed. Polls, because otherwise the build and the statement that drops the index would wait for each other.
 */
async function untilNotBuilding(client: pg.Client, index: string): Promise<void> {
  const building = 'SELECT FROM pg_stat_progress_create_index WHERE index_relid = to_regclass($1)';
  const name = `"${index}"`;
  for (const giveUpAt = Date.now() + LOCK_SECONDS * 1000; Date.now() < giveUpAt; await delay(100))
    if ((await client.query(building, [name])).rowCount === 0) return;
  throw new StartUpError(
    `PostgreSQL has been building the index ${name} of an interrupted migration for ${LOCK_SECONDS / 60} minutes.`,
    'Wait until it has finished, or end it (pg_stat_progress_create_index has its pid), then start again.',
  );
}

/**
 * Throws if a migration is unfinished. The caller must hold the migration lock, because another process may otherwise be applying
 * the migration.
 */
function requireFinished(history: Applied[]): void {
  const unfinished = history.find(({ isFinished }) => !isFinished);
  if (unfinished === undefined) return;
  const { name } = unfinished;
  const reason = unfinished.logs ? `: ${reasonOf(unfinished.logs)}` : ', because it was interrupted.';
  throw new StartUpError(
    `The database is half-migrated: ${name} was started and not finished${reason}`,
    `A migration is one transaction, so usually none of it was applied. Fix the cause, then allow another attempt: ` +
      `in psql, UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = '${name}' AND finished_at IS NULL;`,
  );
}

/** Returns the engine's log without its first line and its stack trace, which do not help the reader. */
function reasonOf(logs: string): string {
  const [beforeStack = logs] = logs.split(/\n +0: /);
  return beforeStack.replace(/^external connector error\n/, '').trim();
}

/**
 * Acquires the migration lock. Polls, because a statement that waits for the lock would block a migration's CREATE INDEX
 * CONCURRENTLY forever.
 */
async function lock(client: pg.Client): Promise<void> {
  for (const giveUpAt = Date.now() + LOCK_SECONDS * 1000; Date.now() < giveUpAt; await delay(100)) {
    const tried = await client.query<{ got: boolean }>('SELECT pg_try_advisory_lock($1) AS got', [MIGRATION_LOCK]);
    if (tried.rows[0]?.got === true) return;
  }
  throw new StartUpError(
    `Another process has been migrating this database for ${LOCK_SECONDS / 60} minutes.`,
    'Wait until it has finished, or stop it (application_name "charter-migrate" in pg_stat_activity), then start again.',
  );
}

async function requireVersion(client: pg.Client, variable: UrlVariable): Promise<void> {
  const found = await client.query<{ server_version: string }>('SHOW server_version');
  const version = found.rows[0]?.server_version ?? '';
  if (Number.parseInt(version, 10) >= OLDEST_POSTGRESQL) return;
  throw new StartUpError(
    `This PostgreSQL is ${version}; Charter needs ${OLDEST_POSTGRESQL} or newer.`,
    `Upgrade PostgreSQL, or set ${variable} to the URL of a newer one.`,
  );
}

/**
 * Checks privileges and creates the extensions before the first migration, so that a missing privilege does not leave a
 * half-applied migration.
 */
async function prepare(client: pg.Client): Promise<void> {
  const right = await client.query<{ granted: boolean }>(`SELECT has_schema_privilege('public', 'CREATE') AS granted`);
  if (right.rows[0]?.granted !== true) {
    throw new StartUpError(
      `The user "${client.user}" may not create tables in the schema "public" of this database.`,
      `As its owner: GRANT CREATE ON SCHEMA public TO "${client.user}";`,
    );
  }
  for (const extension of EXTENSIONS) {
    await client.query(`CREATE EXTENSION IF NOT EXISTS ${extension}`).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const remedy =
        `As a superuser, in this database: CREATE EXTENSION ${extension}; ` +
        `(where it is not available, install PostgreSQL's "contrib" package first.)`;
      throw new StartUpError(`The extension ${extension} could not be created: ${reason}.`, remedy, { cause });
    });
  }
}

async function readTimes(client: pg.Client, names: readonly string[]): Promise<AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(
    `SELECT migration_name AS name, round(1000 * extract(epoch FROM finished_at - started_at))::int AS milliseconds
       FROM _prisma_migrations WHERE migration_name = any($1) AND finished_at IS NOT NULL ORDER BY started_at`,
    [names],
  );
  return rows;
}

/** Returns the names of the migrations that a start of this version would apply. Changes nothing. */
export async function listPending(url: string, variable: UrlVariable): Promise<string[]> {
  const client = await connectOrExplain(url, 'charter-migrate', variable);
  try {
    return unfinishedOf(await readMigrations(), await readHistory(client));
  } finally {
    client.end().catch(() => undefined);
  }
}

async function apply(url: string, ours: Migration[], client: pg.Client): Promise<string[]> {
  // This module is imported only here, because loading it takes longer than a whole start without migrations.
  const { withSchemaEngine } = await import('./schema-engine.ts');
  const input = { migrationsList: asMigrationList(ours), filters: { externalTables: [], externalEnums: [] } };
  try {
    const { appliedMigrationNames } = await withSchemaEngine({ url }, (engine) => engine.applyMigrations(input));
    return appliedMigrationNames;
  } catch (error) {
    requireFinished(await readHistory(client));
    throw error;
  }
}
