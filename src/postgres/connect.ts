import { type Database, openDatabase } from '../store/database.ts';
import { completeMigrations } from './complete-migrations.ts';
import { joinEmbeddedPostgres } from './embedded-postgres.ts';
import { migrate } from './migrate.ts';
import { type KeyringChoice, openKeyring } from './open-keyring.ts';

export type DatabaseChoice = KeyringChoice & {
  /** Undefined: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly databasePoolSize: number;
  /** Whether the database may have been migrated by a newer version. */
  readonly acceptsNewerDatabase: boolean;
};

export type Connected = {
  db: Database;
  /** Closes the connections. The last process to leave stops the embedded PostgreSQL. */
  leave(): Promise<void>;
};

/**
 * Connects to the configured database, embedded or external, and applies every migration. Throws a StartUpError if that is not
 * possible, or if a key that encrypts its secrets is missing.
 */
export async function connect(
  { databaseUrl, databasePoolSize, acceptsNewerDatabase, dataDir, keyring: given }: DatabaseChoice,
  onIdleError: (error: Error) => void,
): Promise<Connected> {
  const embedded = databaseUrl === undefined ? await joinEmbeddedPostgres({ dataDir }) : undefined;
  const url = embedded?.url ?? databaseUrl ?? '';
  try {
    await migrate(url, undefined, { acceptsNewer: acceptsNewerDatabase });
    const keyring = await openKeyring(url, { keyring: given, dataDir });
    await completeMigrations(url, keyring);
    const db = openDatabase({ url, poolSize: databasePoolSize, keyring, onIdleError });
    return {
      db,
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
