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
  /** Closes the connections; the embedded PostgreSQL stops with the last process that leaves. */
  leave(): Promise<void>;
};

/** The configured database, embedded or given, with every migration applied. */
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
