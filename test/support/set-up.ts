import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { joinEmbeddedPostgres } from '../../src/store/embedded-postgres.ts';
import { migrate } from '../../src/store/migrate.ts';
import { serverUrl, TEMPLATE, withClient } from './postgres.ts';

/** One PostgreSQL for the run, in a folder of its own; nothing in it outlives the run, so it need not reach the disk. */
export default async function setUp(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-test-'));
  // As root, PostgreSQL runs as another user, who must be able to reach the folder.
  await chmod(folder, 0o755);
  const postgres = await joinEmbeddedPostgres({
    dataDir: folder,
    postgresSettings: { fsync: 'off', full_page_writes: 'off', max_connections: '300' },
  });
  process.env['CHARTER_TEST_FOLDER'] = folder;
  process.env['CHARTER_TEST_POSTGRES'] = postgres.url;
  process.env['NODE_ENV'] = 'test';
  Object.assign(globalThis, { charterTestPostgres: postgres });
  await withClient(serverUrl(), (client) => client.query(`create database ${TEMPLATE}`));
  await migrate(serverUrl(TEMPLATE));
}
