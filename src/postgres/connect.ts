import type { KeptEmail } from '../store/people/stored-emails.ts';
import { type Database, openDatabase, type Pooler } from '../store/sql/database.ts';
import { MIGRATION_SETTINGS, withSettings } from '../store/sql/session-settings.ts';
import { completeMigrations } from './complete-migrations.ts';
import { joinEmbeddedPostgres } from './embedded-postgres.ts';
import { migrate } from './migrate.ts';
import { type KeyringChoice, openKeyring } from './open-keyring.ts';
import { findPooler } from './pooler.ts';

export type DatabaseChoice = KeyringChoice & {
  /** The embedded PostgreSQL in `dataDir` is used if it is omitted. */
  readonly databaseUrl: string | undefined;
  /** PostgreSQL itself, if `databaseUrl` is a connection pooler. */
  readonly databaseDirectUrl: string | undefined;
  readonly databasePoolSize: number;
  /** Whether the database may have been migrated by a newer version. */
  readonly acceptsNewerDatabase: boolean;
};

export type Connected = {
  db: Database;
  /** `null` if the database is PostgreSQL itself. */
  pooler: Pooler | null;
  /** What an operator has to decide, a sentence each. */
  problems: readonly string[];
  /** Closes the connections. The last process to leave stops the embedded PostgreSQL. */
  leave(): Promise<void>;
};

/**
 * Connects to the configured database, embedded or external, and applies every migration. Throws a StartUpError if that is not
 * possible, if a key that encrypts its secrets is missing, or if a connection pooler is not set up for the server.
 */
export async function connect(
  { databaseUrl, databaseDirectUrl, databasePoolSize, acceptsNewerDatabase, ...keyringChoice }: DatabaseChoice,
  onIdleError: (error: Error) => void,
): Promise<Connected> {
  const embedded =
    databaseUrl === undefined ? await joinEmbeddedPostgres({ dataDir: keyringChoice.dataDir }) : undefined;
  const url = embedded?.url ?? databaseUrl ?? '';
  const directUrl = withSettings(databaseDirectUrl ?? url, MIGRATION_SETTINGS);
  const variable = databaseDirectUrl === undefined ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
  try {
    await migrate(directUrl, undefined, { acceptsNewer: acceptsNewerDatabase, variable });
    const keyring = await openKeyring(directUrl, keyringChoice, variable);
    const keptEmails = await completeMigrations(directUrl, keyring, variable);
    const pooler = databaseDirectUrl === undefined ? null : await findPooler({ url, directUrl });
    const db = openDatabase({ url, pooler, poolSize: databasePoolSize, keyring, onIdleError });
    return {
      db,
      pooler,
      problems: keptEmails.map(problemOf),
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

/** A sentence without the e-mail, because logs hold none. */
function problemOf({ userId, takenBy }: KeptEmail): string {
  const [why, which] =
    takenBy === null
      ? ['is not valid', 'it']
      : [`is another spelling of the e-mail of the user ${takenBy}`, 'that of one of them'];
  return `The e-mail of the user ${userId} ${why}, so this user cannot sign in. Change ${which} (admin change-email), or remove a user (admin remove-user).`;
}
