import { type Database, openDatabase } from '../store/database.ts';
import { joinEmbeddedPostgres } from './embedded-postgres.ts';
import { migrate } from './migrate.ts';

export type DatabaseChoice = {
  /** Undefined: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly databasePoolSize: number;
  readonly dataDir: string;
};

export type Connected = {
  db: Database;
  /** Closes the connections. The last process to leave stops the embedded PostgreSQL. */
  leave(): Promise<void>;
};

/** Connects to the configured database, embedded or external, and applies every migration. */
export async function connect(
  { databaseUrl, databasePoolSize, dataDir }: DatabaseChoice,
  onIdleError: (error: Error) => void,
): Promise<Connected> {
  const embedded = databaseUrl === undefined ? await joinEmbeddedPostgres({ dataDir }) : undefined;
  const url = embedded?.url ?? databaseUrl ?? '';
  try {
    await migrate(url);
    const db = openDatabase({ url, poolSize: databasePoolSize, onIdleError });
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
