import { StartUpError } from '../domain/errors.ts';
import type { KeptEmail } from '../store/people/stored-emails.ts';
import { type Database, openDatabase, type Pooler } from '../store/sql/database.ts';
import { MIGRATION_SETTINGS, withSettings } from '../store/sql/session-settings.ts';
import { completeMigrations } from './complete-migrations.ts';
import { connectOrExplain, requireDirectConnection, type UrlVariable } from './connection-problem.ts';
import { joinEmbeddedPostgres } from './embedded-postgres.ts';
import { type AppliedMigration, listPending, migrate } from './migrate.ts';
import { type KeyringChoice, openKeyring } from './open-keyring.ts';
import { findPooler } from './pooler.ts';

export type DatabaseChoice = KeyringChoice & {
  /** The URL of the database; `undefined` to use the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** The URL of PostgreSQL itself; `undefined` unless `databaseUrl` is the URL of a connection pooler. */
  readonly databaseDirectUrl: string | undefined;
  readonly databasePoolSize: number;
  /** Whether the server accepts a database that a newer version has migrated. */
  readonly acceptsNewerDatabase: boolean;
};

export type Connected = {
  db: Database;
  /** The connection pooler; `null` if the server connects to PostgreSQL itself. */
  pooler: Pooler | null;
  /** Problems that an operator has to solve, one sentence each. */
  problems: readonly string[];
  /** The migrations that were applied. `isNew` means that the database was empty. */
  migrated: { readonly applied: readonly AppliedMigration[]; readonly isNew: boolean };
  /** Closes the connections. The last process that leaves stops the embedded PostgreSQL. */
  leave(): Promise<void>;
};

/**
 * Connects to the configured database, embedded or external, and applies all migrations. Throws a StartUpError if that is not
 * possible, if a key that encrypts secrets in the database is missing, or if a connection pooler has unsuitable settings.
 */
export async function connect(
  { databaseUrl, databaseDirectUrl, databasePoolSize, acceptsNewerDatabase, ...keyringChoice }: DatabaseChoice,
  onIdleError: (error: Error) => void,
): Promise<Connected> {
  const embedded =
    databaseUrl === undefined ? await joinEmbeddedPostgres({ dataDir: keyringChoice.dataDir }) : undefined;
  const url = embedded?.url ?? databaseUrl ?? '';
  const given = directUrlOf({ databaseUrl, databaseDirectUrl });
  const { variable } = given;
  const directUrl = withSettings(given.url ?? url, MIGRATION_SETTINGS);
  try {
    let migrated: Connected['migrated'] = { applied: [], isNew: false };
    const onApplied = (applied: readonly AppliedMigration[], isNew: boolean) => {
      migrated = { applied, isNew };
    };
    await migrate(directUrl, undefined, { acceptsNewer: acceptsNewerDatabase, variable, onApplied });
    const keyring = await openKeyring(directUrl, keyringChoice, variable);
    const keptEmails = await completeMigrations(directUrl, keyring, variable);
    const pooler = databaseDirectUrl === undefined ? null : await findPooler({ url, directUrl });
    const db = openDatabase({ url, pooler, poolSize: databasePoolSize, keyring, onIdleError });
    return {
      db,
      pooler,
      problems: keptEmails.map(problemOf),
      migrated,
      async leave() {
        await db.close();
        await embedded?.leave();
      },
    };
  } catch (error) {
    await embedded?.leave();
    throw error;
  }
}

/** Returns the configured URL of PostgreSQL itself, and the variable of that URL. `url` is `undefined` if none is configured. */
export function directUrlOf({
  databaseUrl,
  databaseDirectUrl,
}: Pick<DatabaseChoice, 'databaseUrl' | 'databaseDirectUrl'>): {
  readonly url: string | undefined;
  readonly variable: UrlVariable;
} {
  return databaseDirectUrl === undefined
    ? { url: databaseUrl, variable: 'DATABASE_URL' }
    : { url: databaseDirectUrl, variable: 'DATABASE_DIRECT_URL' };
}

/** Returns the names of the migrations that `connect` would apply to the database. Changes nothing. */
export async function listPendingMigrations({
  databaseUrl,
  databaseDirectUrl,
  dataDir,
}: Pick<DatabaseChoice, 'databaseUrl' | 'databaseDirectUrl' | 'dataDir'>): Promise<string[]> {
  const embedded = databaseUrl === undefined ? await joinEmbeddedPostgres({ dataDir }) : undefined;
  try {
    const { url, variable } = directUrlOf({ databaseUrl, databaseDirectUrl });
    return await listPending(url ?? embedded?.url ?? '', variable);
  } finally {
    await embedded?.leave();
  }
}

/**
 * Connects to the database of another installation, at MOVE_TO_DATABASE_URL. Throws a StartUpError if that is not possible, or if
 * a key that encrypts secrets in the database is missing. Applies no migrations, because the servers of the other installation
 * may have another version.
 */
export async function connectToOther(url: string, choice: KeyringChoice): Promise<Database> {
  const variable = 'MOVE_TO_DATABASE_URL';
  const directUrl = withSettings(url, MIGRATION_SETTINGS);
  const client = await connectOrExplain(directUrl, 'charter', variable);
  try {
    await requireDirectConnection(client, variable);
    const { rows } = await client.query<{ table: string | null }>(`select to_regclass('encryption_keys') as table`);
    if (rows[0]?.table === null)
      throw new StartUpError(
        `The database of ${variable} has no tables of Charter.`,
        'Start a server of the new installation first, or correct the URL.',
      );
  } finally {
    client.end().catch(() => undefined);
  }
  const keyring = await openKeyring(directUrl, choice, variable);
  return openDatabase({ url, poolSize: 2, keyring, onIdleError: () => {} });
}

/** Describes the problem without the e-mail, because logs must not contain e-mails. */
function problemOf({ userId, takenBy }: KeptEmail): string {
  const [why, which] =
    takenBy === null
      ? ['is not valid', 'it']
      : [`is another spelling of the e-mail of the user ${takenBy}`, 'that of one of them'];
  return `The e-mail of the user ${userId} ${why}, so this user cannot sign in. Change ${which} (admin change-email), or remove a user (admin remove-user).`;
}
