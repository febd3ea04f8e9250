import { chmod, mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeCluster } from '../src/postgres/embedded-cluster.ts';
import { joinEmbeddedPostgres } from '../src/postgres/embedded-postgres.ts';

export type TemporaryPostgres = { readonly url: string; end(): Promise<void> };

const IN_MEMORY = '/dev/shm';
/** The minimum free space of the folder in memory, in bytes: several times the size of the databases of a run. */
const ROOM_BYTES = 4 * 1024 ** 3;
/** Settings that make PostgreSQL fast. The data need not survive a crash, because it is deleted at the end. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: '300' };

/** Starts a PostgreSQL for tests. `end` stops it and deletes its data. */
export async function startTemporaryPostgres(): Promise<TemporaryPostgres> {
  const dataDir = await makeDataFolder();
  try {
    const postgres = await joinEmbeddedPostgres({ dataDir, postgresSettings: SETTINGS });
    return {
      url: postgres.url,
      async end() {
        await postgres.leave();
        await removeCluster(dataDir);
      },
    };
  } catch (error) {
    await removeCluster(dataDir);
    throw error;
  }
}

/**
 * Creates the data folder, in memory if there is enough space, because creating a database is several times as fast in memory.
 */
async function makeDataFolder(): Promise<string> {
  const free = await statfs(IN_MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  const folder = await mkdtemp(join(free >= ROOM_BYTES ? IN_MEMORY : tmpdir(), 'charter-data-'));
  // If this process runs as root, PostgreSQL runs as another user. That user must be able to enter the folder.
  await chmod(folder, 0o755);
  return folder;
}
