import { chmod, mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeCluster } from '../src/postgres/embedded-cluster.ts';
import { joinEmbeddedPostgres } from '../src/postgres/embedded-postgres.ts';

export type TemporaryPostgres = { readonly url: string; end(): Promise<void> };

const IN_MEMORY = '/dev/shm';
/** The space is several times what the databases of a run take. */
const ROOM_BYTES = 4 * 1024 ** 3;
/** The data is deleted at the end, so it need not survive a crash. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: '300' };

/** A PostgreSQL for tests, whose data is deleted when it ends. */
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

/** The folder is in memory if there is space, because a database is created several times as fast there. */
async function makeDataFolder(): Promise<string> {
  const free = await statfs(IN_MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  const folder = await mkdtemp(join(free >= ROOM_BYTES ? IN_MEMORY : tmpdir(), 'charter-data-'));
  // As root, PostgreSQL runs as another user, who must be able to reach the folder.
  await chmod(folder, 0o755);
  return folder;
}
