import { chmod, mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeCluster } from '../src/postgres/embedded-cluster.ts';
import { joinEmbeddedPostgres } from '../src/postgres/embedded-postgres.ts';

export type TemporaryPostgres = { readonly url: string; end(): Promise<void> };

const IN_MEMORY = '/dev/shm';
/** The free space that the folder in memory must have: several times the size of the databases of a run. */
const ROOM_BYTES = 4 * 1024 ** 3;
/** Settings that make PostgreSQL fast. The data is deleted at the end, so it need not survive a crash. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: '300' };

/** Starts a PostgreSQL for tests. `end` stops PostgreSQL and deletes its data. */
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
  // If this process runs as root, PostgreSQL runs as another user, who must be able to enter the folder.
  await chmod(folder, 0o755);
  return folder;
}
